"""Counting requests: a pure-ASGI middleware, and the extension of the schema that says what an operation was."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import perf_counter
from typing import TYPE_CHECKING

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from strawberry.extensions import SchemaExtension

from api.context import Context

if TYPE_CHECKING:
    from api.metrics import Metrics

COUNTED = "/graphql"
STATE = "graphql"
"""Where a request to GraphQL is found in the state of its scope."""


class Kinds(SchemaExtension):
    """Notes in the context of which type an operation is."""

    def on_operation(self) -> Iterator[None]:
        """Known once the document is parsed."""
        yield
        execution = self.execution_context
        if execution.graphql_document is not None and isinstance(execution.context, Context):
            try:
                execution.context.operation = execution.operation_type.value
            except RuntimeError:
                # The document has no such operation.
                execution.context.operation = None


class Metered:
    """Counts requests to GraphQL by operation, status, code and time. `metrics` gives None while the service opens."""

    def __init__(self, app: ASGIApp, metrics: Callable[[], Metrics | None]) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or scope["path"] != COUNTED:
            await self._app(scope, receive, send)
            return
        start, status = perf_counter(), 500

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noted)
        finally:
            metrics = self._metrics()
            if metrics is not None:
                request = scope.get("state", {}).get(STATE)
                operation = getattr(request, "operation", None) or "none"
                code = getattr(request, "code", None) or ("OK" if status < 400 else "REFUSED")
                metrics.requested(operation, status, code, perf_counter() - start)
