"""Pure-ASGI middleware: a request's body has a greatest size, counted as it comes in."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.refusals import refusal
from ontology.errors import InvalidInput

TOO_LARGE = 413


class _TooLarge(Exception):
    """More came in than is allowed."""


class BodyLimit:
    """Refuses larger bodies with 413: at once where the length is announced, else when the limit is passed."""

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self._app = app
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        announced = Headers(scope=scope).get("content-length", "")
        if announced.isascii() and announced.isdigit() and int(announced[:20]) > self._limit:
            await self._refuse(scope, receive, send)
            return
        taken = 0
        begun = False

        async def counted() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > self._limit:
                raise _TooLarge
            return message

        async def noted(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, counted, noted)
        except _TooLarge:
            if begun:
                raise
            await self._refuse(scope, receive, send)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        failure = InvalidInput(
            f"the request is larger than {self._limit:,} bytes (ERSTWHILE_MAX_BODY); send it in parts", reason="BODY_TOO_LARGE"
        )
        await refusal(failure, TOO_LARGE)(scope, receive, send)
