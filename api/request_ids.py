"""Pure-ASGI middleware: every request has an ID, in its scope and in the response's `X-Request-ID`, and a trace.

The trace goes along with what a request hands in, up to its commit: that of the caller's `traceparent` (W3C Trace Context,
https://www.w3.org/TR/trace-context/), else the ID.
"""

from __future__ import annotations

import re
from uuid import uuid4

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADER = "X-Request-ID"
TRACE_HEADER = "traceparent"
_ACCEPTED = re.compile(r"[A-Za-z0-9._-]{1,64}")
# Later versions may go on after the flags; all zeros are no trace, and version ff is none.
_TRACEPARENT = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?")


def trace_of(scope: Scope) -> str | None:
    """The trace of a request; None outside the middleware."""
    found = scope.get("state", {}).get("trace")
    return found if isinstance(found, str) else None


class RequestIds:
    """Keeps a caller's ID where it is a plain word, else makes one."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        stated = headers.get(HEADER, "")
        id = stated if _ACCEPTED.fullmatch(stated) else uuid4().hex
        traced = _TRACEPARENT.fullmatch(headers.get(TRACE_HEADER, ""))
        scope.setdefault("state", {}).update(request_id=id, trace=traced[1] if traced else id)

        async def send_with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)[HEADER] = id
            await send(message)

        await self._app(scope, receive, send_with_id)
