"""Mutation: the write API. Each result is a union of its payload and errors."""

from __future__ import annotations

from typing import Annotated

import strawberry
from strawberry.types import Info

from api.context import Context, Scope
from api.credentials import Access
from api.identity import Kind, key_of
from api.schema.effects import after, closed, opened, under
from api.schema.episode import Episode
from api.schema.episode import episode as episode_of
from api.schema.failures import IdempotencyConflictError, InvalidInputError, NotFoundError, OverloadedError
from api.schema.identifying import Identifying
from api.schema.ingesting import Ingesting, RetractEpisodeResult, retracted
from api.schema.inputs import given
from api.schema.service import Health, health
from api.schema.statement import Statement
from api.schema.support import described
from api.schema.writing import (
    AssertStatementsInput,
    EpisodeInput,
    EpisodeRef,
    drops_bad_dates,
    episode_draft,
    stated_claims,
    stated_episode,
)
from graph.views import Receipt
from ontology.errors import InvalidInput, NotFound


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
        return opened(self.scope, info, self.transaction or 0)

    @described("Statements that it ended.")
    def invalidated(self, info: Info[Context, None]) -> list[Statement]:
        """Closed by the transaction."""
        return closed(self.scope, info, self.transaction or 0)


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
        return opened(self.scope, info, self.transaction)

    @described("Statements that it ended.")
    def invalidated(self, info: Info[Context, None]) -> list[Statement]:
        """Closed by the transaction."""
        return closed(self.scope, info, self.transaction)


IngestEpisodeResult = Annotated[
    IngestEpisodePayload | InvalidInputError | IdempotencyConflictError | OverloadedError, strawberry.union("IngestEpisodeResult")
]
AssertStatementsResult = Annotated[
    AssertStatementsPayload | InvalidInputError | NotFoundError | IdempotencyConflictError | OverloadedError,
    strawberry.union("AssertStatementsResult"),
]


def _recorded(scope: Scope, receipt: Receipt) -> Episode:
    view = scope.snapshot.episode(receipt.episode_key)
    if view is None:
        raise NotFound("the episode is not there any more", id=receipt.episode_key)
    return episode_of(scope, view)


@strawberry.type(description="The write API. Each result is a union of its payload and errors: select `... on Error { code message }`.")
class Mutation(Ingesting, Identifying):
    """All that can be changed."""

    @described("Records one episode and extracts it; returns when its statements are in the graph, or at once with `wait: false`.")
    def ingest_episode(self, info: Info[Context, None], input: EpisodeInput, wait: bool | None = True) -> IngestEpisodeResult:
        """Scrubbed, scanned, extracted, recorded."""
        context = info.context
        with under("input"):
            record = context.ingestion.accept if wait is False else context.ingestion.ingest
            key = context.scrubbed(given(input.idempotency_key))
            receipt = record(context.namespace, episode_draft(input), actor=context.actor, idempotency_key=key, trace=context.trace)
        scope = after(context)
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
        with under("input"):
            receipt = context.ingestion.state(
                context.namespace,
                stated_episode(input),
                stated_claims(input),
                drop_bad_dates=drops_bad_dates(input),
                actor=context.actor,
                idempotency_key=context.scrubbed(given(input.idempotency_key)),
                trace=context.trace,
            )
        scope = after(context)
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
        key = None if named is None else key_of(named, Kind.EPISODE)
        receipt = context.graph.retract(
            context.namespace,
            key=key,
            source=by_ref.source if by_ref else None,
            external_id=by_ref.external_id if by_ref else None,
            reason=context.scrubbed(given(reason)),
            actor=context.actor,
        )
        return retracted(context, receipt.episode_key, receipt.transaction)

    @described("Builds the graph projection anew from the ledger, and returns when it answers; the ledger answers meanwhile.")
    def rebuild_graph(self, info: Info[Context, None]) -> Health:
        """The state of the service after it."""
        info.context.require(Access.ADMIN)
        info.context.graph.rebuild()
        return health(info.context.health())

    @described(
        "Builds the recall index anew from the ledger, and returns when it answers. Vectors that were made before are not made again; "
        "others follow in the background."
    )
    def rebuild_index(self, info: Info[Context, None]) -> Health:
        """The state of the service after it."""
        context = info.context
        context.require(Access.ADMIN)
        context.graph.rebuild_index()
        if context.embedding is not None:
            context.embedding.notify()
        return health(context.health())
