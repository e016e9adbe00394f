"""Jobs: what a call with many episodes becomes, and how far it has come."""

from __future__ import annotations

from enum import Enum

import strawberry
from strawberry.types import Info

from api.context import Context, Scope
from api.cursors import checked_first, decode_cursor
from api.identity import Kind, ObjectId, decode_id, encode_id
from api.scalars import DateTime
from api.schema.basics import Node
from api.schema.episode import Episode, episode
from api.schema.inputs import given
from api.schema.pages import Edge, PageInfo, frame
from api.schema.support import described
from graph import work
from graph.views import Page


@strawberry.enum(description="How far a job has come.")
class JobState(Enum):
    """As `graph.work.JobState`."""

    QUEUED = "QUEUED"
    RUNNING = "RUNNING"
    SUCCEEDED = "SUCCEEDED"
    PARTIAL = strawberry.enum_value("PARTIAL", description="Ended with failures.")
    CANCELLED = "CANCELLED"


@strawberry.type(description="Counts of episodes: accepted = committed + deduplicated + quarantined + failed + pending.")
class JobProgress:
    """As `graph.work.Progress`."""

    accepted: int
    committed: int
    empty: int = strawberry.field(description="Of the committed: nothing worth keeping.")
    deduplicated: int
    quarantined: int
    failed: int = strawberry.field(description="Cancelled ones too.")
    pending: int


@strawberry.type
class JobFailure:
    """As `graph.work.JobFailureView`."""

    episode: Episode
    message: str
    attempts: int


@strawberry.type
class JobFailureEdge(Edge):
    """A failure and its cursor."""

    node: JobFailure


@strawberry.type
class JobFailureConnection:
    """A page of failures."""

    edges: list[JobFailureEdge]
    page_info: PageInfo


@strawberry.type(description="A bulk ingestion and its progress.")
class IngestJob(Node):
    """As `graph.work.JobView`."""

    key: strawberry.ID = strawberry.field(description="What its ID names.")
    state: JobState
    progress: JobProgress
    created_at: DateTime
    finished_at: DateTime | None
    kind: str = strawberry.field(description="`accept` where its episodes are extracted, `assert` where they came with statements.")
    trace: str | None = strawberry.field(description="Names the request that made it in the log.")

    @described("Opaque and globally unique; `ingestJob`, `cancelIngestJob` and `retryIngestJob` take it.")
    def id(self) -> strawberry.ID:
        """The opaque ID. A job has no basis: it stands as it stands now."""
        return strawberry.ID(encode_id(ObjectId(Kind.JOB, self.key)))

    @described("Episodes that failed for good (dead letters).")
    def failures(self, info: Info[Context, None], first: int | None = 20, after: str | None = strawberry.UNSET) -> JobFailureConnection:
        """A page of them, in the order of the call."""
        context, after = info.context, given(after)
        cursor = None if after is None else decode_cursor(after, "failures", pinned=False)
        position = cursor.position if cursor else None
        page = context.graph.jobs.failures(context.namespace, self.key, first=checked_first(first, 20), after=position)
        items, page_info = frame(page, "failures", None, after)
        scope = Scope(context, context.snapshot())
        return JobFailureConnection(
            edges=[JobFailureEdge(place=place, node=_failure(scope, view)) for place, view in items], page_info=page_info
        )


@strawberry.type
class IngestJobEdge(Edge):
    """A job and its cursor."""

    node: IngestJob


@strawberry.type
class IngestJobConnection:
    """A page of jobs."""

    edges: list[IngestJobEdge]
    page_info: PageInfo


def _failure(scope: Scope, view: work.JobFailureView) -> JobFailure:
    return JobFailure(episode=episode(scope, view.episode), message=view.message, attempts=view.attempts)


def job(view: work.JobView) -> IngestJob:
    """A job as it stands."""
    counts = view.progress
    return IngestJob(
        key=strawberry.ID(view.id),
        state=JobState[view.state.name],
        progress=JobProgress(
            accepted=counts.accepted,
            committed=counts.committed,
            empty=counts.empty,
            deduplicated=counts.deduplicated,
            quarantined=counts.quarantined,
            failed=counts.failed,
            pending=counts.pending,
        ),
        created_at=DateTime(view.created_at),
        finished_at=None if view.finished_at is None else DateTime(view.finished_at),
        kind=view.kind,
        trace=view.trace,
    )


def job_key(text: str) -> str | None:
    """The key that a key or ID of a job gives; None for an ID of something else."""
    id = decode_id(text)
    if id is None:
        return text
    return id.key if id.kind is Kind.JOB else None


def job_named(context: Context, text: str) -> IngestJob | None:
    """The job of an ID or key; None where there is none in the namespace."""
    key = job_key(text)
    found = None if key is None else context.graph.jobs.job(context.namespace, key)
    return None if found is None else job(found)


def job_page(page: Page[work.JobView], after: str | None) -> IngestJobConnection:
    """A page of jobs."""
    items, page_info = frame(page, "jobs", None, after)
    edges = [IngestJobEdge(place=place, node=job(view)) for place, view in items]
    return IngestJobConnection(edges=edges, page_info=page_info)
