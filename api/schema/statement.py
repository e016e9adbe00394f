"""Statement: a reified triple with its periods, and what became of it."""

from __future__ import annotations

from typing import Annotated

import strawberry

from api.context import Scope
from api.cursors import checked_first, decode_cursor
from api.identity import Kind, ObjectId, encode_id
from api.scalars import DateTime
from api.schema.basics import Literal, Node, Period, Predicate, period, predicate
from api.schema.entity import Entity, entity
from api.schema.enums import Certainty, Conflict, InvalidationReason, Support
from api.schema.episode import Evidence, episode, evidence
from api.schema.inputs import given
from api.schema.pages import ProvenanceConnection, ProvenanceEdge, StatementConnection, StatementEdge, frame
from api.schema.support import ID_DESCRIPTION, described
from graph import views
from graph.views import Page, Want
from ontology.errors import InvalidInput

StatementObject = Annotated[Entity | Literal, strawberry.union("StatementObject", description="What a statement's object can be.")]


@strawberry.type(description="One rectangle in valid and transaction time.")
class StatementVersion:
    """As `graph.views.VersionView`."""

    valid_time: Period
    transaction_time: Period


@strawberry.type(description="A reified subject-predicate-object triple with its valid and transaction periods and its provenance.")
class Statement(Node):
    """As `graph.views.StatementView`, on one snapshot. `have` says which parts the view was fetched with.

    `closed`: it is shown as that which the transaction of its basis closed.
    """

    scope: strawberry.Private[Scope]
    view: strawberry.Private[views.StatementView]
    have: strawberry.Private[frozenset[Want]]
    closed: strawberry.Private[bool]
    key: strawberry.ID = strawberry.field(
        description="The proposition: equal for the same subject, predicate, qualifier, object and polarity on every basis."
    )
    subject: Entity
    predicate: Predicate = strawberry.field(description="Its relation, as the vocabulary in force has it.")
    object: StatementObject
    qualifier: str = strawberry.field(description="Keeps slots of one predicate apart: `port`, `staging`, `colour`; mostly empty.")
    polarity: bool = strawberry.field(description="False for a denial.")
    text: str = strawberry.field(description="The most telling source sentence.")
    confidence: float = strawberry.field(description="Extractor's confidence, 0 to 1.")
    valid_time: Period = strawberry.field(description="When it holds in the world: `[t_valid, t_invalid)`.")
    support: Support = strawberry.field(description="Whether evidence covers the instant asked about or it is carried forward.")
    conflict: Conflict = strawberry.field(description="Whether other evidence disagrees at the instant asked about.")
    certainty: Certainty = strawberry.field(description="POSSIBLE inside the granule of an imprecise bound.")
    last_attested_at: DateTime = strawberry.field(
        description="When evidence last attested it, at most the last said time; that time where none attests an instant."
    )
    evidence_count: int = strawberry.field(description="How many episodes assert it.")

    def _whole(self, part: Want) -> views.StatementView:
        """The view with a part; fetched now where the parent could not know of it (the statements of a mutation's result)."""
        if part in self.have:
            return self.view
        view, snapshot = self.view, self.scope.snapshot
        key, want = view.stored_key or view.key, frozenset({part})
        return snapshot.statement(key, view.v_from, swapped=view.swapped, closed=self.closed, want=want) or view

    @described(ID_DESCRIPTION)
    def id(self) -> strawberry.ID:
        """The opaque ID."""
        view = self.view
        key = view.stored_key or view.key
        return strawberry.ID(encode_id(ObjectId(Kind.STATEMENT, key, view.v_from, view.swapped, self.scope.id_pin, closed=self.closed)))

    @described("When the service believed it: `[t_created, t_expired)`.")
    def transaction_time(self) -> Period:
        """As it is stored; under a said-time limit it is worked out when this evidence first said so."""
        view = self.view if self.scope.basis.evidence_until is None else self._whole(Want.TRANSACTION)
        return period(view.tx_from_at, view.tx_to_at)

    @described("What ended it; null while it is open.")
    def invalidation(self) -> Invalidation | None:
        """Why it stopped holding."""
        view = self._whole(Want.INVALIDATION).invalidation
        return None if view is None else invalidation(self.scope, view, self.have)

    @described("Every version of this proposition in transaction order.")
    def history(self) -> list[StatementVersion]:
        """Its rectangles."""
        return [
            StatementVersion(valid_time=period(v.v_from, v.v_to), transaction_time=period(v.tx_from_at, v.tx_to_at))
            for v in self._whole(Want.HISTORY).history
        ]

    @described("Episodes that assert it, oldest first, with the very words.")
    def provenance(self, first: int | None = 10, after: str | None = strawberry.UNSET) -> ProvenanceConnection:
        """A page of its evidence, cut from what was fetched for the whole sub-tree; the position is the claim."""
        found = self._whole(Want.PROVENANCE).provenance
        start, pin, after = 0, self.scope.pin, given(after)
        if after is not None:
            cursor = decode_cursor(after, "provenance")
            places = [place for place, view in enumerate(found, 1) if [view.claim] == list(cursor.position)]
            if cursor.pin != pin or not places:
                raise InvalidInput("the cursor is of another statement or basis", path=("after",), reason="INVALID_CURSOR")
            start = places[0]
        end = start + checked_first(first, 10)
        shown = found[start:end]
        page = Page(shown, tuple((view.claim,) for view in shown), end < len(found))
        items, info = frame(page, "provenance", pin, after)
        edges = [
            ProvenanceEdge(place=place, node=episode(self.scope, view.episode), evidence=evidence(self.scope, view))
            for place, view in items
        ]
        return ProvenanceConnection(edges=edges, page_info=info)


@strawberry.type(description="Why a statement stopped holding.")
class Invalidation:
    """As `graph.views.InvalidationView`."""

    reason: InvalidationReason = strawberry.field(description="What kind of thing ended it.")
    rule: str = strawberry.field(description="The detector or rule that fired, such as `functional-slot`, `polarity`, `explicit-end`.")
    by: Statement | None = strawberry.field(description="The statement that replaced or denied it.")
    evidence: Evidence | None = strawberry.field(description="The evidence that decided it.")
    decided_at: DateTime = strawberry.field(description="When that was decided (transaction time).")
    transaction: int = strawberry.field(
        description="Number of the transaction that decided it; without evidence the one that withdrew what the statement rested on."
    )


def invalidation(scope: Scope, view: views.InvalidationView, have: frozenset[Want]) -> Invalidation:
    """An ending on a snapshot. What replaced the statement is fetched with as many parts as the statement itself."""
    return Invalidation(
        reason=InvalidationReason[view.reason.name],
        rule=view.rule,
        by=None if view.by is None else statement(scope, view.by, _filled(view.by, have)),
        evidence=None if view.evidence is None else evidence(scope, view.evidence),
        decided_at=DateTime(view.decided_at),
        transaction=view.transaction,
    )


def _filled(view: views.StatementView, have: frozenset[Want]) -> frozenset[Want]:
    """The parts of a nested view that are there to see: an empty one may not have been fetched."""
    present = {Want.HISTORY: bool(view.history), Want.PROVENANCE: bool(view.provenance), Want.INVALIDATION: view.invalidation is not None}
    return frozenset(part for part in have if present.get(part, False))


def statement(scope: Scope, view: views.StatementView, have: frozenset[Want], *, closed: bool = False) -> Statement:
    """A statement on a snapshot; `closed`: as that which the transaction of the snapshot closed."""
    target = view.object
    return Statement(
        scope=scope,
        view=view,
        have=have,
        closed=closed,
        key=strawberry.ID(view.key),
        subject=entity(scope, view.subject),
        predicate=predicate(scope.context, view.predicate),
        object=entity(scope, target) if isinstance(target, views.EntityView) else Literal(value=target.value, datatype=target.datatype),
        qualifier=view.qualifier,
        polarity=view.polarity,
        text=view.text,
        confidence=view.confidence,
        valid_time=period(view.v_from, view.v_to, view.from_stated, view.to_stated),
        support=Support[view.support.name],
        conflict=Conflict[view.conflict.name],
        certainty=Certainty.CERTAIN if view.certain else Certainty.POSSIBLE,
        last_attested_at=DateTime(view.last_attested_at),
        evidence_count=view.evidence_count,
    )


def statement_page(
    scope: Scope, page: Page[views.StatementView], kind: str, after: str | None, have: frozenset[Want]
) -> StatementConnection:
    """A page of statements that were fetched with the parts `have`."""
    items, info = frame(page, kind, scope.pin, after)
    return StatementConnection(
        edges=[StatementEdge(place=place, node=statement(scope, view, have)) for place, view in items], page_info=info
    )
