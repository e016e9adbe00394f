"""Pure-ASGI middleware: every request has an ID, in its scope and in the response's `X-Request-ID`."""

from __future__ import annotations

import re
from uuid import uuid4

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADER = "X-Request-ID"
_ACCEPTED = re.compile(r"[A-Za-z0-9._-]{1,64}")


class RequestIds:
    """Keeps a caller's ID where it is a plain word, else makes one."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        stated = Headers(scope=scope).get(HEADER, "")
        id = stated if _ACCEPTED.fullmatch(stated) else uuid4().hex
        scope.setdefault("state", {})["request_id"] = id

        async def send_with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)[HEADER] = id
            await send(message)

        await self._app(scope, receive, send_with_id)
