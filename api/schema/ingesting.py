"""Mutations that hand in many episodes at once, and what is done about those that failed or are held back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, TypeVar

import strawberry
from strawberry.types import Info

from api.context import Context, Scope
from api.identity import Kind, key_of
from api.schema.effects import after, opened, under
from api.schema.episode import Episode
from api.schema.episode import episode as episode_of
from api.schema.failures import IdempotencyConflictError, InvalidInputError, NotFoundError, OverloadedError
from api.schema.inputs import given
from api.schema.job import IngestJob, job
from api.schema.statement import Statement
from api.schema.support import described
from api.schema.writing import (
    AssertStatementsInput,
    EpisodeInput,
    drops_bad_dates,
    episode_draft,
    stated_claims,
    stated_episode,
)
from graph.work import OfferedStatements
from ontology.episode import EpisodeDraft
from ontology.errors import InvalidInput

MAX_EPISODES = 1000
_Input = TypeVar("_Input")
_Read = TypeVar("_Read")


@strawberry.type
class IngestEpisodesPayload:
    """The job that a call became."""

    job: IngestJob


@strawberry.type
class CancelIngestJobPayload:
    """The job as it stands now."""

    job: IngestJob


@strawberry.type
class RetractEpisodePayload:
    """What a withdrawal or a release did."""

    scope: strawberry.Private[Scope]
    episode: Episode | None = strawberry.field(
        description="Null where a `ref` names an episode that has not arrived: the withdrawal waits for it."
    )
    transaction: int

    @described("Statements that live again.")
    def restored(self, info: Info[Context, None]) -> list[Statement]:
        """Opened by the transaction."""
        return opened(self.scope, info, self.transaction)


IngestEpisodesResult = Annotated[
    IngestEpisodesPayload | InvalidInputError | IdempotencyConflictError | OverloadedError, strawberry.union("IngestEpisodesResult")
]
CancelIngestJobResult = Annotated[CancelIngestJobPayload | NotFoundError, strawberry.union("CancelIngestJobResult")]
RetractEpisodeResult = Annotated[RetractEpisodePayload | NotFoundError | InvalidInputError, strawberry.union("RetractEpisodeResult")]


def retracted(context: Context, key: str, transaction: int) -> RetractEpisodePayload:
    """What a withdrawal or a release of an episode did."""
    scope = after(context)
    view = scope.snapshot.episode(key)
    return RetractEpisodePayload(scope=scope, episode=None if view is None else episode_of(scope, view), transaction=transaction)


def _each(inputs: Sequence[_Input], read: Callable[[_Input], _Read]) -> list[_Read]:
    """All of a call, read one by one. Raises InvalidInput, its path beginning with the index, where one is malformed."""
    if not 1 <= len(inputs) <= MAX_EPISODES:
        raise InvalidInput(f"input takes 1 to {MAX_EPISODES:,} episodes, not {len(inputs):,}", reason="OUT_OF_RANGE")
    found = []
    for place, each in enumerate(inputs):
        with under(str(place)):
            found.append(read(each))
    return found


def _episode(input: EpisodeInput) -> tuple[EpisodeDraft, str | None]:
    return episode_draft(input), given(input.idempotency_key)


def _stated(input: AssertStatementsInput) -> OfferedStatements:
    return OfferedStatements(stated_episode(input), stated_claims(input), drops_bad_dates(input), given(input.idempotency_key))


@strawberry.type
class Ingesting:
    """Part of `Mutation`. It is no type of the schema itself."""

    @described("Accepts 1 to 1,000 episodes as a job, durably, and returns at once.")
    def ingest_episodes(self, info: Info[Context, None], input: list[EpisodeInput]) -> IngestEpisodesResult:
        """Scrubbed, scanned, on disk; extracted in the background."""
        context = info.context
        with under("input"):
            made = context.ingestion.accept_many(context.namespace, _each(input, _episode), actor=context.actor, trace=context.trace)
        after(context)
        return IngestEpisodesPayload(job=job(made))

    @described(
        "Accepts 1 to 1,000 episodes with stated statements, committed directly, as a job. "
        "One malformed episode refuses the call by its index; nothing is stored then."
    )
    def assert_statements_batch(self, info: Info[Context, None], input: list[AssertStatementsInput]) -> IngestEpisodesResult:
        """Recorded as stated, in one transaction."""
        context = info.context
        with under("input"):
            made = context.ingestion.state_many(context.namespace, _each(input, _stated), actor=context.actor, trace=context.trace)
        after(context)
        return IngestEpisodesPayload(job=job(made))

    @described("Stops a job; what is committed stays.")
    def cancel_ingest_job(self, info: Info[Context, None], id: strawberry.ID) -> CancelIngestJobResult:
        """What still waited is given up."""
        context = info.context
        made = context.ingestion.cancel(context.namespace, key_of(id, Kind.JOB), actor=context.actor)
        after(context)
        return CancelIngestJobPayload(job=job(made))

    @described("Sends the failed episodes of a job again.")
    def retry_ingest_job(self, info: Info[Context, None], id: strawberry.ID) -> CancelIngestJobResult:
        """They wait again."""
        context = info.context
        made = context.ingestion.retry(context.namespace, key_of(id, Kind.JOB), actor=context.actor, trace=context.trace)
        after(context)
        return CancelIngestJobPayload(job=job(made))

    @described("Lets a quarantined episode through.")
    def release_episode(self, info: Info[Context, None], id: strawberry.ID, reason: str) -> RetractEpisodeResult:
        """A person has looked at it."""
        context = info.context
        if not reason.strip():
            raise InvalidInput("say why the episode may pass", path=("reason",), reason="EMPTY")
        key = key_of(id, Kind.EPISODE)
        receipt = context.ingestion.release(context.namespace, key, reason=reason.strip(), actor=context.actor, trace=context.trace)
        return retracted(context, receipt.episode_key, receipt.transaction)
