"""Pure-ASGI middleware: who is not let in gets no further. What a request may do stands in its scope from here on."""

from __future__ import annotations

import logging

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from api.credentials import LOCAL, Grant, Keyring
from api.refusals import refusal
from ontology.errors import ErstwhileError, Unauthenticated

logger = logging.getLogger(__name__)

OPEN_PATHS = frozenset({"/livez", "/readyz"})
"""What load balancers ask, which have no key; they tell nothing but that the process lives."""

POLICY_VIOLATION = 1008


def grant_of(scope: Scope) -> Grant | None:
    """What the guard found; None on a web socket that has yet to say who it is, and outside the guard."""
    found = scope.get("state", {}).get("grant")
    return found if isinstance(found, Grant) else None


class Guard:
    """Asks every request but those of `OPEN_PATHS` for an API key; without a keyring all are let in as `LOCAL`.

    A web socket without the header is let through with no grant: its `connection_init` may carry the key.
    """

    def __init__(self, app: ASGIApp, keyring: Keyring | None) -> None:
        self._app = app
        self._keyring = keyring

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] not in ("http", "websocket") or (scope["type"] == "http" and scope["path"] in OPEN_PATHS):
            await self._app(scope, receive, send)
            return
        state = scope.setdefault("state", {})
        stated = Headers(scope=scope).getlist("authorization")
        try:
            if self._keyring is None:
                state["grant"] = LOCAL
            elif stated or scope["type"] == "http":
                state["grant"] = self._keyring.authenticate(stated)
        except Unauthenticated as failure:
            logger.info("request %s was refused: %s", state.get("request_id", "-"), failure.message)
            await refuse(failure, scope, receive, send)
        else:
            await self._app(scope, receive, send)


class ServiceWide:
    """Around what tells of all namespaces at once: keys that are limited to some are refused."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        try:
            grant = grant_of(scope)
            if grant is None:
                raise Unauthenticated("this needs an API key")
            grant.check_everywhere()
        except ErstwhileError as failure:
            await refuse(failure, scope, receive, send)
        else:
            await self._app(scope, receive, send)


async def refuse(failure: ErstwhileError, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with the refusal; a web socket is closed instead."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": POLICY_VIOLATION, "reason": failure.code})
    else:
        await refusal(failure)(scope, receive, send)
