"""The HTTP application: GraphQL, liveness and readiness."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from anyio import to_thread
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request as HttpRequest
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute, request_response
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket
from strawberry.asgi import GraphQL
from strawberry.exceptions import ConnectionRejectionError
from strawberry.subscriptions import GRAPHQL_SSE_PROTOCOL, GRAPHQL_TRANSPORT_WS_PROTOCOL
from strawberry.types.unset import UnsetType

from api.bodies import BodyLimit
from api.credentials import Keyring
from api.exposure import Exposure
from api.guard import Guard, ServiceWide, grant_of, refuse
from api.headers import AWAIT_HEADER, NAMESPACE_HEADER
from api.metering import STATE, Metered
from api.metrics import Followers
from api.refusals import refusal
from api.request_ids import RequestIds, trace_of
from api.requests import Request
from api.schema.build import Schema, build_schema
from api.service import Service
from api.watches import Watches
from ontology.errors import Forbidden, InvalidInput, Overloaded, Unauthenticated
from ontology.names import DEFAULT_NAMESPACE

logger = logging.getLogger(__name__)


class Opening:
    """The service while it opens and after: opened in a thread, so that `/livez` answers meanwhile.

    `failed` is called with the reason where it cannot be opened: the process is of no use then; `opened` with the service else.
    """

    def __init__(
        self, open: Callable[[], Service], failed: Callable[[Exception], None], opened: Callable[[Service], None] = lambda _: None
    ) -> None:
        self._open = open
        self._failed = failed
        self._opened = opened
        self.service: Service | None = None

    async def run(self) -> None:
        """Open and start the service."""
        try:
            service = await to_thread.run_sync(self._open)
            service.start()
            self._opened(service)
        except Exception as failure:
            # A mistake in the settings is one sentence, which needs no trace.
            trace = not isinstance(failure, InvalidInput)
            logger.error("the service cannot open its data: %s", failure, exc_info=trace)
            self._failed(failure)
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
    """`/graphql`; 503 until the service has opened, 403 for a namespace that the key does not reach.

    With a keyring there is no editor in the browser: its page takes scripts from elsewhere, which a key must not be typed beside.
    """

    def __init__(self, schema: Schema, opening: Opening, keyring: Keyring | None = None, watches: Watches | None = None) -> None:
        protocols = (GRAPHQL_TRANSPORT_WS_PROTOCOL, GRAPHQL_SSE_PROTOCOL)
        super().__init__(schema, graphql_ide=None if keyring else "graphiql", subscription_protocols=protocols)
        self._watches = watches or Watches()
        self._opening = opening
        self._keyring = keyring

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        try:
            await super().__call__(scope, receive, send)
        except (Overloaded, Unauthenticated, Forbidden) as failure:
            await refuse(failure, scope, receive, send)

    async def get_context(self, request: HttpRequest | WebSocket, response: Response | WebSocket) -> Request:
        """What the request says in its headers.

        Raises, before anything is answered, Overloaded while the service opens and Forbidden for another's namespace.
        """
        service = self._opening.ready()
        made = Request(
            graph=service.graph,
            ingestion=service.ingestion,
            namespace=request.headers.get(NAMESPACE_HEADER, DEFAULT_NAMESPACE),
            awaiting=request.headers.get(AWAIT_HEADER),
            id=request.scope.get("state", {}).get("request_id", "-"),
            embedding=service.embedding,
            grant=grant_of(request.scope),
            trace=trace_of(request.scope),
            watches=self._watches,
        )
        request.scope.setdefault("state", {})[STATE] = made
        # A web socket may name its namespace in connection_init only; it is checked there.
        if request.scope["type"] == "http":
            made.granted().check_namespace(made.namespace)
        return made

    async def on_ws_connect(self, context: Request) -> UnsetType:
        """Let in who says in `connection_init` who it is; the connection of any other is closed (4403)."""
        try:
            context.admit(self._keyring)
        except (Unauthenticated, Forbidden) as failure:
            raise ConnectionRejectionError({"code": failure.code, "message": failure.message}) from failure
        return UnsetType()


def create_app(
    open: Callable[[], Service],
    *,
    schema: Schema | None = None,
    failed: Callable[[Exception], None] = lambda _: None,
    exposure: Exposure | None = None,
) -> Starlette:
    """The application. `open` makes the service in a thread after the start; what it made is closed at the end.

    `exposure` says who may ask: by default anybody, under the names of loopback only.
    """
    exposure = exposure or Exposure()
    watches = Watches(patience=exposure.patience)
    opening = Opening(open, failed, lambda service: service.metrics.watch(Followers(lambda: watches.figures)))

    async def alive(request: HttpRequest) -> Response:
        return PlainTextResponse("ok\n")

    async def ready(request: HttpRequest) -> Response:
        return PlainTextResponse("ready\n") if opening.service else PlainTextResponse("starting\n", status_code=503)

    async def metrics(request: HttpRequest) -> Response:
        try:
            service = opening.ready()
        except Overloaded as failure:
            return refusal(failure)
        return Response(await to_thread.run_sync(service.metrics.text), media_type=CONTENT_TYPE_PLAIN_0_0_4)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        task = asyncio.create_task(opening.run())
        yield
        # A thread cannot be cancelled: let it finish opening, so that the files are closed and not torn.
        await task
        await opening.close()

    endpoint = GraphQLEndpoint(schema or build_schema(), opening, exposure.keyring, watches)
    app = Starlette(
        routes=[
            Route("/graphql", endpoint),
            WebSocketRoute("/graphql", endpoint),
            Route("/metrics", ServiceWide(request_response(metrics))),
            Route("/livez", alive),
            Route("/readyz", ready),
        ],
        middleware=[
            Middleware(RequestIds),
            Middleware(Metered, lambda: opening.service.metrics if opening.service else None),
            Middleware(TrustedHostMiddleware, allowed_hosts=list(exposure.hosts), www_redirect=False),
            Middleware(Guard, exposure.keyring),
            Middleware(BodyLimit, exposure.max_body),
        ],
        lifespan=lifespan,
    )
    app.state.watches = watches
    return app
