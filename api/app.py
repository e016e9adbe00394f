"""The HTTP application: GraphQL, liveness and readiness."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from anyio import to_thread
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket
from strawberry.asgi import GraphQL

from api.headers import AWAIT_HEADER, NAMESPACE_HEADER
from api.request_ids import RequestIds
from api.requests import Request
from api.schema.build import Schema, build_schema
from api.service import Service
from ontology.errors import Overloaded
from ontology.names import DEFAULT_NAMESPACE

logger = logging.getLogger(__name__)

LOOPBACK_NAMES = ("127.0.0.1", "localhost", "::1", "[::1]")
"""The only names under which the service is asked: a web page that points its own name at this machine gets no answer."""


class Opening:
    """The service while it opens and after: opened in a thread, so that `/livez` answers meanwhile.

    `failed` is called where it cannot be opened: the process is of no use then.
    """

    def __init__(self, open: Callable[[], Service], failed: Callable[[], None]) -> None:
        self._open = open
        self._failed = failed
        self.service: Service | None = None

    async def run(self) -> None:
        """Open and start the service."""
        try:
            service = await to_thread.run_sync(self._open)
            service.start()
        except Exception:
            logger.exception("the service cannot open its data")
            self._failed()
        else:
            self.service = service

    async def close(self) -> None:
        """Close what is open."""
        if self.service is not None:
            service, self.service = self.service, None
            await to_thread.run_sync(service.close)

    def ready(self) -> Service:
        """The open service; Overloaded before."""
        if self.service is None:
            raise Overloaded("the service is starting", retry_after=1)
        return self.service


class GraphQLEndpoint(GraphQL[Request, None]):
    """`/graphql`; 503 until the service has opened."""

    def __init__(self, schema: Schema, opening: Opening) -> None:
        super().__init__(schema, graphql_ide="graphiql")
        self._opening = opening

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        try:
            await super().__call__(scope, receive, send)
        except Overloaded as failure:
            error = {"message": failure.message, "extensions": {"code": failure.code, "retryAfter": failure.retry_after}}
            headers = {"Retry-After": str(failure.retry_after)}
            await JSONResponse({"data": None, "errors": [error]}, status_code=503, headers=headers)(scope, receive, send)

    async def get_context(self, request: HttpRequest | WebSocket, response: Response | WebSocket) -> Request:
        """What the request says in its headers. Raises Overloaded, before anything is answered, while the service opens."""
        service = self._opening.ready()
        return Request(
            graph=service.graph,
            ingestion=service.ingestion,
            namespace=request.headers.get(NAMESPACE_HEADER, DEFAULT_NAMESPACE),
            awaiting=request.headers.get(AWAIT_HEADER),
            id=request.scope.get("state", {}).get("request_id", "-"),
            embedding=service.embedding,
        )


def create_app(
    open: Callable[[], Service],
    *,
    schema: Schema | None = None,
    failed: Callable[[], None] = lambda: None,
    hosts: Sequence[str] = LOOPBACK_NAMES,
) -> Starlette:
    """The application. `open` makes the service in a thread after the start; what it made is closed at the end.

    Requests under other host names than `hosts` are refused.
    """
    opening = Opening(open, failed)

    async def alive(request: HttpRequest) -> Response:
        return PlainTextResponse("ok\n")

    async def ready(request: HttpRequest) -> Response:
        return PlainTextResponse("ready\n") if opening.service else PlainTextResponse("starting\n", status_code=503)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        task = asyncio.create_task(opening.run())
        yield
        # A thread cannot be cancelled: let it finish opening, so that the files are closed and not torn.
        await task
        await opening.close()

    return Starlette(
        routes=[
            Route("/graphql", GraphQLEndpoint(schema or build_schema(), opening)),
            Route("/livez", alive),
            Route("/readyz", ready),
        ],
        middleware=[Middleware(RequestIds), Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts), www_redirect=False)],
        lifespan=lifespan,
    )
