"""Snapshot: one consistent view."""

from __future__ import annotations

from typing import Annotated

import strawberry
from strawberry.types import Info

from api.context import Context
from api.cursors import checked_first
from api.identity import key_in
from api.schema.basics import Basis, UndeclaredPredicate, undeclared
from api.schema.basics import basis as basis_of
from api.schema.boundary import Explaining
from api.schema.claim import claim_page
from api.schema.entity import Entity, entity_page
from api.schema.entity import entity as entity_of
from api.schema.enums import EpisodeStatus
from api.schema.episode import episode_page
from api.schema.inputs import EntityRef, ObjectInput, StatementFilter, entity_ref, filter_of, given, object_ref
from api.schema.match import Hops
from api.schema.measures import Measures
from api.schema.pages import ClaimConnection, EntityConnection, EpisodeConnection, StatementConnection, resume
from api.schema.recall import PromptContext, RecallConnection, RecallOptions, context_block, recall_page
from api.schema.slot import Answer, SlotTimeline, answer, slot_timeline
from api.schema.statement import statement_page
from api.schema.support import described
from api.selection import IN_PAGE, wanted
from graph import views
from ontology import episode
from ontology.errors import InvalidInput
from ontology.names import checked_name


@strawberry.type(description="One consistent view.")
class Snapshot(Explaining, Measures, Hops):
    """As `graph.facade.Snapshot`."""

    @described("What it stands on.")
    def basis(self) -> Basis:
        """The basis as resolved."""
        return basis_of(self.scope.snapshot)

    @described("An entity by key, ID, name or alias.")
    def entity(self, id: strawberry.ID | None = strawberry.UNSET, name: str | None = strawberry.UNSET) -> Entity | None:
        """The entity; None where nothing is known of it on this basis."""
        key, called = given(id), given(name)
        if (key is None) == (called is None):
            raise InvalidInput("entity takes exactly one of id and name", path=("entity",), reason="ONE_OF")
        ref = views.EntityRef(key=key_in(key)) if key is not None else views.EntityRef(name=checked_name(str(called)))
        view = self.scope.snapshot.entity(ref)
        return None if view is None else entity_of(self.scope, view)

    @described("Entities by name or type.")
    def entities(
        self,
        name: str | None = strawberry.UNSET,
        type: str | None = strawberry.UNSET,
        first: int | None = 20,
        after: str | None = strawberry.UNSET,
    ) -> EntityConnection:
        """A page of entities."""
        after = given(after)
        scope, cursor = resume(self.scope, "entities", after)
        page = scope.snapshot.entities(
            name=given(name), type=given(type), first=checked_first(first, 20), after=cursor.position if cursor else None
        )
        return entity_page(scope, page, "entities", after)

    @described("Statements that hold in this view. With `filter.includeInvalidated` also those that no longer do.")
    def statements(
        self,
        info: Info[Context, None],
        filter: StatementFilter | None = strawberry.UNSET,
        first: int | None = 20,
        after: str | None = strawberry.UNSET,
    ) -> StatementConnection:
        """A page of statements."""
        after = given(after)
        scope, cursor = resume(self.scope, "statements", after)
        want = wanted(info, *IN_PAGE)
        page = scope.snapshot.statements(
            filter_of(filter), first=checked_first(first, 20), after=cursor.position if cursor else None, want=want
        )
        return statement_page(scope, page, "statements", after, want)

    @described("Episodes recorded and said by this basis, newest first.")
    def episodes(
        self,
        group: str | None = strawberry.UNSET,
        source: str | None = strawberry.UNSET,
        status: list[EpisodeStatus] | None = strawberry.UNSET,
        first: int | None = 20,
        after: str | None = strawberry.UNSET,
    ) -> EpisodeConnection:
        """A page of episodes."""
        after, stages = given(after), given(status)
        scope, cursor = resume(self.scope, "episodes", after)
        page = scope.snapshot.episodes(
            group=given(group),
            source=given(source),
            status=None if stages is None else [episode.EpisodeStatus[stage.name] for stage in stages],
            first=checked_first(first, 20),
            after=cursor.position if cursor else None,
        )
        return episode_page(scope, page, "episodes", after)

    @described("One slot over all valid time, as known on this basis: maximal intervals in order; gaps are simply absent.")
    def timeline(self, info: Info[Context, None], subject: EntityRef, predicate: str, qualifier: str | None = "") -> SlotTimeline:
        """All of one slot."""
        return slot_timeline(self.scope, info, entity_ref(subject, "subject"), predicate, qualifier)

    @described("Three-valued: is (subject, predicate, object) the case in this view?")
    def ask(self, info: Info[Context, None], subject: EntityRef, predicate: str, object: ObjectInput, qualifier: str | None = "") -> Answer:
        """Yes, no or unknown, and what says so."""
        return answer(self.scope, info, entity_ref(subject, "subject"), predicate, object_ref(object, "object"), qualifier)

    @described("Hybrid recall over the statements of this view: vector, BM25 and personalised PageRank.")
    def recall(
        self,
        info: Info[Context, None],
        query: str,
        options: RecallOptions | None = strawberry.UNSET,
        filter: StatementFilter | None = strawberry.UNSET,
        first: int | None = 10,
        after: str | None = strawberry.UNSET,
    ) -> RecallConnection:
        """A page of hits, best first."""
        return recall_page(self.scope, info, query, given(options), filter, first, given(after))

    @described("A block of text for a prompt, within a budget; the same bytes for the same basis and query.")
    def context(
        self,
        info: Info[Context, None],
        query: str,
        token_budget: int | None = 1500,
        options: RecallOptions | None = strawberry.UNSET,
        filter: StatementFilter | None = strawberry.UNSET,
    ) -> PromptContext:
        """Statements with dates, status and citations."""
        return context_block(self.scope, info, query, 1500 if token_budget is None else token_budget, given(options), filter)

    @described(
        "What the evidence says, newest said first: claims recorded and said by this basis, "
        "those that make no belief and rejected ones too.\n"
        "`validDuring` and `includeInvalidated` of the filter are about statements and refused here."
    )
    def claims(
        self,
        candidate: Annotated[
            bool | None, strawberry.argument(description="Only those that make no belief, or only the others.")
        ] = strawberry.UNSET,
        rejected: Annotated[bool | None, strawberry.argument(description="Only rejected ones, or only the others.")] = strawberry.UNSET,
        filter: Annotated[StatementFilter | None, strawberry.argument(description="Which; as for statements.")] = strawberry.UNSET,
        first: Annotated[int | None, strawberry.argument(description="1 to 100.")] = 20,
        after: Annotated[str | None, strawberry.argument(description="A cursor of this connection.")] = strawberry.UNSET,
    ) -> ClaimConnection:
        """A page of claims."""
        after = given(after)
        scope, cursor = resume(self.scope, "claims", after)
        page = scope.snapshot.claims(
            filter_of(filter),
            candidate=given(candidate),
            rejected=given(rejected),
            first=checked_first(first, 20),
            after=cursor.position if cursor else None,
        )
        return claim_page(scope, page, "claims", after)

    @described("Entities that may be two of one name, by name; each has `suspectedSplits`.")
    def suspects(
        self,
        first: Annotated[int | None, strawberry.argument(description="1 to 100.")] = 20,
        after: Annotated[str | None, strawberry.argument(description="A cursor of this connection.")] = strawberry.UNSET,
    ) -> EntityConnection:
        """A page of entities."""
        self.scope.context.spend("suspects")
        after = given(after)
        scope, cursor = resume(self.scope, "suspects", after)
        page = scope.snapshot.suspects(first=checked_first(first, 20), after=cursor.position if cursor else None)
        return entity_page(scope, page, "suspects", after)

    @described("Predicates that the vocabulary does not declare and that at least so many claims use, most used first.")
    def undeclared_predicates(
        self, least: Annotated[int | None, strawberry.argument(description="The fewest claims.")] = 5
    ) -> list[UndeclaredPredicate]:
        """What to declare next."""
        context = self.scope.context
        context.spend("undeclaredPredicates")
        fewest = 5 if least is None else least
        if fewest < 1:
            raise InvalidInput(f"least is 1 or more, not {fewest}", path=("least",), reason="OUT_OF_RANGE")
        return [undeclared(context, view) for view in self.scope.snapshot.undeclared(least=fewest)]
