"""Mutation: the write API. Each result is a union of its payload and errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import time_ns
from typing import Annotated

import strawberry
from strawberry.types import Info

from api.context import Context, Scope
from api.identity import Kind, decode_id
from api.schema.episode import Episode
from api.schema.episode import episode as episode_of
from api.schema.failures import IdempotencyConflictError, InvalidInputError, NotFoundError, OverloadedError
from api.schema.inputs import given
from api.schema.service import Health, health
from api.schema.statement import Statement, statement
from api.schema.support import described
from api.schema.writing import AssertStatementsInput, EpisodeInput, EpisodeRef, episode_draft, stated_claims, stated_episode
from api.selection import wanted
from graph.views import Receipt, Want
from ontology.errors import InvalidInput, NotFound


def _opened(scope: Scope, info: Info[Context, None], transaction: int) -> list[Statement]:
    want = wanted(info)
    views = scope.context.graph.opened_by(scope.context.namespace, transaction, want=want) if transaction else []
    return [statement(scope, view, want) for view in views]


def _closed(scope: Scope, info: Info[Context, None], transaction: int) -> list[Statement]:
    want = wanted(info) | {Want.INVALIDATION}
    views = scope.context.graph.closed_by(scope.context.namespace, transaction, want=want) if transaction else []
    return [statement(scope, view, want) for view in views]


@strawberry.type
class IngestEpisodePayload:
    """What recording an episode did; the statements are fetched only where they are selected."""

    scope: strawberry.Private[Scope]
    episode: Episode
    deduplicated: bool = strawberry.field(description="Known before.")
    transaction: int | None = strawberry.field(description="Null while pending.")

    @described("Statements that begin to be believed with it.")
    def asserted(self, info: Info[Context, None]) -> list[Statement]:
        """Opened by the transaction."""
        return _opened(self.scope, info, self.transaction or 0)

    @described("Statements that it ended.")
    def invalidated(self, info: Info[Context, None]) -> list[Statement]:
        """Closed by the transaction."""
        return _closed(self.scope, info, self.transaction or 0)


@strawberry.type
class AssertStatementsPayload:
    """What stating statements did."""

    scope: strawberry.Private[Scope]
    episode: Episode
    deduplicated: bool
    transaction: int
    warnings: list[str] = strawberry.field(description="Dates dropped under DROP_DATE, as `path: reason`.")

    @described("Statements that begin to be believed with it.")
    def asserted(self, info: Info[Context, None]) -> list[Statement]:
        """Opened by the transaction."""
        return _opened(self.scope, info, self.transaction)

    @described("Statements that it ended.")
    def invalidated(self, info: Info[Context, None]) -> list[Statement]:
        """Closed by the transaction."""
        return _closed(self.scope, info, self.transaction)


@strawberry.type
class RetractEpisodePayload:
    """What a withdrawal did."""

    scope: strawberry.Private[Scope]
    episode: Episode | None = strawberry.field(
        description="Null where a `ref` names an episode that has not arrived: the withdrawal waits for it."
    )
    transaction: int

    @described("Statements that live again.")
    def restored(self, info: Info[Context, None]) -> list[Statement]:
        """Opened by the transaction."""
        return _opened(self.scope, info, self.transaction)


IngestEpisodeResult = Annotated[
    IngestEpisodePayload | InvalidInputError | IdempotencyConflictError | OverloadedError, strawberry.union("IngestEpisodeResult")
]
AssertStatementsResult = Annotated[
    AssertStatementsPayload | InvalidInputError | NotFoundError | IdempotencyConflictError | OverloadedError,
    strawberry.union("AssertStatementsResult"),
]
RetractEpisodeResult = Annotated[RetractEpisodePayload | NotFoundError | InvalidInputError, strawberry.union("RetractEpisodeResult")]


@contextmanager
def _under(name: str) -> Iterator[None]:
    """Paths of input errors seen from the mutation's arguments."""
    try:
        yield
    except InvalidInput as failure:
        raise failure.under(name) from failure


def _after(context: Context) -> Scope:
    """The present as the mutation left it."""
    context.committed(time_ns() // 1000)
    return Scope(context, context.snapshot())


def _recorded(scope: Scope, receipt: Receipt) -> Episode:
    view = scope.snapshot.episode(receipt.episode_key)
    if view is None:
        raise NotFound("the episode is not there any more", id=receipt.episode_key)
    return episode_of(scope, view)


@strawberry.type(description="The write API. Each result is a union of its payload and errors: select `... on Error { code message }`.")
class Mutation:
    """All that can be changed."""

    @described("Records one episode and extracts it; returns when its statements are in the graph, or at once with `wait: false`.")
    def ingest_episode(self, info: Info[Context, None], input: EpisodeInput, wait: bool | None = True) -> IngestEpisodeResult:
        """Scrubbed, scanned, extracted, recorded."""
        context = info.context
        with _under("input"):
            record = context.ingestion.accept if wait is False else context.ingestion.ingest
            receipt = record(context.namespace, episode_draft(input), actor=context.actor, idempotency_key=given(input.idempotency_key))
        scope = _after(context)
        return IngestEpisodePayload(
            scope=scope,
            episode=_recorded(scope, receipt),
            deduplicated=receipt.deduplicated,
            transaction=receipt.transaction or None,
        )

    @described("Records an episode whose statements the client states itself: one transaction, no extraction, the same rules.")
    def assert_statements(self, info: Info[Context, None], input: AssertStatementsInput) -> AssertStatementsResult:
        """Recorded as stated."""
        context = info.context
        with _under("input"):
            receipt = context.ingestion.state(
                context.namespace,
                stated_episode(input),
                stated_claims(input),
                drop_bad_dates=input.on_bad_date is not None and input.on_bad_date.value == "DROP_DATE",
                actor=context.actor,
                idempotency_key=given(input.idempotency_key),
            )
        scope = _after(context)
        return AssertStatementsPayload(
            scope=scope,
            episode=_recorded(scope, receipt),
            deduplicated=receipt.deduplicated,
            transaction=receipt.transaction,
            warnings=list(receipt.warnings),
        )

    @described(
        "Withdraws an episode: its claims stop being evidence from now on; what it had ended lives again. "
        "Earlier transaction times keep it."
    )
    def retract_episode(
        self,
        info: Info[Context, None],
        id: strawberry.ID | None = strawberry.UNSET,
        ref: EpisodeRef | None = strawberry.UNSET,
        reason: str | None = strawberry.UNSET,
    ) -> RetractEpisodeResult:
        """By ID, or by the names that the source knows."""
        context, named, by_ref = info.context, given(id), given(ref)
        if (named is None) == (by_ref is None):
            raise InvalidInput("retractEpisode takes exactly one of id and ref", path=("id",), reason="ONE_OF")
        key = None
        if named is not None:
            found = decode_id(named)
            if found is not None and found.kind is not Kind.EPISODE:
                raise NotFound("this ID names no episode", id=named)
            key = found.key if found else str(named)
        receipt = context.graph.retract(
            context.namespace,
            key=key,
            source=by_ref.source if by_ref else None,
            external_id=by_ref.external_id if by_ref else None,
            reason=given(reason),
            actor=context.actor,
        )
        scope = _after(context)
        view = scope.snapshot.episode(receipt.episode_key)
        return RetractEpisodePayload(
            scope=scope, episode=None if view is None else episode_of(scope, view), transaction=receipt.transaction
        )

    @described("Builds the graph projection anew from the ledger, and returns when it answers; the ledger answers meanwhile.")
    def rebuild_graph(self, info: Info[Context, None]) -> Health:
        """The state of the service after it."""
        info.context.graph.rebuild()
        return health(info.context.graph.health())
