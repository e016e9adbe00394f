"""Query: the read API."""

from __future__ import annotations

from typing import Annotated

import strawberry
from strawberry.types import Info

from api.context import Context, Scope
from api.cursors import MAX_PAGE, checked_first, decode_cursor
from api.identity import Kind, ObjectId, decode_id
from api.scalars import DateTime
from api.schema.basics import EntityType, Node, Ontology, predicate
from api.schema.change import IN_EDGE, MAX_CHANGES, ChangeConnection, change_page, position_in
from api.schema.claim import claim_named
from api.schema.difference import BasisInput, DifferenceConnection, difference_page
from api.schema.effects import under
from api.schema.entity import entity
from api.schema.episode import episode
from api.schema.inputs import StatementFilter, filter_of, given
from api.schema.job import IngestJob, IngestJobConnection, job_named, job_page
from api.schema.pages import Transaction, TransactionConnection, TransactionEdge, frame
from api.schema.preview import Preview, preview
from api.schema.service import Health, Stats, health, stats
from api.schema.snapshot import Snapshot
from api.schema.statement import statement
from api.schema.support import described
from api.schema.writing import AssertStatementsInput, EpisodeInput, drops_bad_dates, episode_draft, stated_claims, stated_episode
from api.selection import wanted
from graph.views import EntityRef
from ontology.errors import InvalidInput


def _explicit(id: ObjectId) -> frozenset[str]:
    return frozenset({"validAt", "recordedAt", "evidenceUntil"}) if id.pin else frozenset()


def _find(context: Context, info: Info[Context, None], text: str) -> Node | None:
    """The object of an ID on the basis that it names, else at the present; None where there is none."""
    id = decode_id(text)
    if id is None:
        return None
    if id.kind is Kind.JOB:
        return job_named(context, text)
    scope = Scope(context, context.pinned(id.pin) if id.pin else context.snapshot(), _explicit(id))
    if id.kind is Kind.ENTITY:
        found = scope.snapshot.entity(EntityRef(key=id.key))
        return None if found is None else entity(scope, found)
    if id.kind is Kind.EPISODE:
        heard = scope.snapshot.episode(id.key)
        return None if heard is None else episode(scope, heard)
    if id.kind is Kind.CLAIM:
        return claim_named(scope, id)
    want = wanted(info)
    held = scope.snapshot.statement(id.key, id.v_from, swapped=id.swapped, closed=id.closed, want=want)
    return None if held is None else statement(scope, held, want, closed=id.closed)


@strawberry.type(description="The read API. Whatever depends on time hangs off `asOf`.")
class Query:
    """All that can be asked."""

    @described("Any object by ID.")
    def node(self, info: Info[Context, None], id: strawberry.ID) -> Node | None:
        """The object; None for an unknown or malformed ID."""
        return _find(info.context, info, id)

    @described("Objects by ID, in order; null where there is none. Up to 100.")
    def nodes(self, info: Info[Context, None], ids: list[strawberry.ID]) -> list[Node | None]:
        """Each object."""
        if len(ids) > MAX_PAGE:
            raise InvalidInput(f"nodes takes up to {MAX_PAGE} ids, not {len(ids)}", path=("ids",), reason="OUT_OF_RANGE")
        return [_find(info.context, info, id) for id in ids]

    @described(
        "The graph on one basis; every field below, at any depth, sees that one snapshot.\n"
        "Without arguments: what is believed now about now."
    )
    def as_of(
        self,
        info: Info[Context, None],
        valid_at: DateTime | None = strawberry.UNSET,
        recorded_at: DateTime | None = strawberry.UNSET,
        evidence_until: DateTime | None = strawberry.UNSET,
    ) -> Snapshot:
        """A snapshot."""
        valid, recorded, until = given(valid_at), given(recorded_at), given(evidence_until)
        stated = {"validAt": valid, "recordedAt": recorded, "evidenceUntil": until}
        snapshot = info.context.snapshot(valid_at=valid, recorded_at=recorded, evidence_until=until)
        return Snapshot(scope=Scope(info.context, snapshot, frozenset(name for name, value in stated.items() if value is not None)))

    @described(
        "What differs between two bases, split into change of the world and change of belief.\n"
        "Affirmations are compared; denials with `filter.polarity: false`. The filter chooses differences with a statement, before or "
        "after, that matches; `validDuring` and `includeInvalidated` are refused."
    )
    def diff(
        self,
        info: Info[Context, None],
        from_: Annotated[BasisInput, strawberry.argument(name="from")],
        to: BasisInput,
        filter: StatementFilter | None = strawberry.UNSET,
        first: int | None = 20,
        after: str | None = strawberry.UNSET,
    ) -> DifferenceConnection:
        """A page of differences."""
        return difference_page(info, from_, to, filter, checked_first(first, 20), given(after))

    @described("Committed changes in commit order: the pull form of `Subscription.changes`, with the same cursors.")
    def changes(
        self,
        info: Info[Context, None],
        after: str | None = strawberry.UNSET,
        first: int | None = 100,
        filter: StatementFilter | None = strawberry.UNSET,
    ) -> ChangeConnection:
        """A page of changes."""
        context, after, want = info.context, given(after), wanted(info, "edges", *IN_EDGE)
        context.spend("changes")
        page = context.graph.changes.page(
            context.namespace,
            after=position_in(after),
            first=checked_first(first, 100, MAX_CHANGES),
            filter=filter_of(filter),
            want=want,
        )
        return change_page(context, page, after, want)

    @described("The vocabulary of extraction and contradiction detection.")
    def ontology(self, info: Info[Context, None]) -> Ontology:
        """The vocabulary in force."""
        vocabulary = info.context.graph.vocabulary()
        return Ontology(
            version=vocabulary.version,
            predicates=[predicate(info.context, name) for name in vocabulary.predicates],
            entity_types=[
                EntityType(name=known.name, description=known.description, parent=known.parent)
                for known in vocabulary.entity_types.values()
            ],
        )

    @described("A bulk job.")
    def ingest_job(self, info: Info[Context, None], id: strawberry.ID) -> IngestJob | None:
        """The job; None for an unknown ID."""
        return job_named(info.context, id)

    @described("Bulk jobs, newest first.")
    def ingest_jobs(self, info: Info[Context, None], first: int | None = 20, after: str | None = strawberry.UNSET) -> IngestJobConnection:
        """A page of jobs."""
        context, after = info.context, given(after)
        cursor = None if after is None else decode_cursor(after, "jobs", pinned=False)
        page = context.graph.jobs.jobs(context.namespace, first=checked_first(first, 20), after=cursor.position if cursor else None)
        return job_page(page, after)

    @described("What an episode would yield: extraction and its effect on the graph, nothing stored.")
    def preview(self, info: Info[Context, None], input: EpisodeInput) -> Preview:
        """Scrubbed, scanned and extracted as ingesting would."""
        context = info.context
        context.spend("preview")
        with under("input"):
            return preview(context.ingestion.rehearse(context.namespace, episode_draft(input)))

    @described("What stated statements would change, nothing stored.")
    def simulate(self, info: Info[Context, None], input: AssertStatementsInput) -> Preview:
        """As stating them would."""
        context = info.context
        context.spend("simulate")
        with under("input"):
            drop = drops_bad_dates(input)
            rehearsed = context.ingestion.rehearse_stated(
                context.namespace, stated_episode(input), stated_claims(input), drop_bad_dates=drop
            )
        return preview(rehearsed)

    @described("Who committed what, newest first.")
    def transactions(
        self, info: Info[Context, None], first: int | None = 20, after: str | None = strawberry.UNSET
    ) -> TransactionConnection:
        """A page of transactions."""
        after = given(after)
        cursor = None if after is None else decode_cursor(after, "transactions", pinned=False)
        page = info.context.graph.transactions(
            info.context.namespace, first=checked_first(first, 20), after=cursor.position if cursor else None
        )
        items, page_info = frame(page, "transactions", None, after)
        edges = [
            TransactionEdge(
                place=place,
                node=Transaction(number=view.number, at=DateTime(view.at), kind=view.kind, actor=view.actor, reason=view.reason),
            )
            for place, view in items
        ]
        return TransactionConnection(edges=edges, page_info=page_info)

    @described("Counts and sizes.")
    def stats(self, info: Info[Context, None]) -> Stats:
        """Counts of the namespace."""
        return stats(info.context.graph.stats(info.context.namespace))

    @described("Whether the parts that the service needs answer, and which of them run degraded.")
    def health(self, info: Info[Context, None]) -> Health:
        """The state of the service."""
        return health(info.context.health())
