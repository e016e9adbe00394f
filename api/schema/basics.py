"""Small types that others are made of: Node, Basis, Period, Literal and the vocabulary."""

from __future__ import annotations

import strawberry

from api.context import Context
from api.scalars import EDTF, DateTime, bound
from api.schema.enums import AfterRival, Aspect, Cardinality, Temporality
from api.schema.support import described
from graph import views
from graph.facade import Snapshot
from ontology.errors import Unavailable
from ontology.instant import Instant


@strawberry.interface(description="An object that `node` can refetch: same `id`, same object, same basis.")
class Node:
    """What has an `id`; each type computes its own, only where it is asked for."""

    @described("Opaque and globally unique. Under an explicit `asOf` it also names the basis, so that client caches never mix two times.")
    def id(self) -> strawberry.ID:
        """The opaque ID."""
        raise NotImplementedError


@strawberry.type(
    description="The point on the three clocks that a snapshot stands on; pass it back to `asOf` to see the same again, byte for byte."
)
class Basis:
    """As `graph.views.Basis`, of a snapshot."""

    snapshot: strawberry.Private[Snapshot]
    valid_at: DateTime = strawberry.field(description="World time.")
    recorded_at: DateTime = strawberry.field(description="Transaction time.")
    transaction: int = strawberry.field(description="The last transaction that counts.")
    evidence_until: DateTime | None = strawberry.field(description="Said-time limit of the evidence; null where all counts.")

    @described("Version of the recall index and embedder: with it, recall is the same again too. `none` where no index is built.")
    def index_version(self) -> str:
        """Asked of the index only where it is selected: the index follows the ledger first."""
        try:
            return self.snapshot.index_version
        except Unavailable:
            # A basis is told without an index too; why there is none stands in the log and in health.
            return "none"


@strawberry.type(description="Half-open `[from, to)`; a missing end is unbounded.")
class Period:
    """An interval; None ends are unbounded."""

    from_: DateTime | None = strawberry.field(name="from", description="First instant inside.")
    to: DateTime | None = strawberry.field(description="First instant after.")
    from_stated: EDTF | None = strawberry.field(description="The start as it was stated, with its precision.", default=None)
    to_stated: EDTF | None = strawberry.field(description="The end as it was stated, with its precision.", default=None)


def period(start: Instant, end: Instant | None, from_stated: str | None = None, to_stated: str | None = None) -> Period:
    """The period of two instants; None or an unbounded one is open."""
    return Period(
        from_=bound(start),
        to=None if end is None else bound(end),
        from_stated=EDTF(from_stated) if from_stated is not None else None,
        to_stated=EDTF(to_stated) if to_stated is not None else None,
    )


@strawberry.type(description="A literal value.")
class Literal:
    """As `graph.views.LiteralView`."""

    value: str = strawberry.field(description="Lexical form.")
    datatype: str = strawberry.field(description="Datatype, such as `xsd:string` or `xsd:date`.")


@strawberry.type(description="A relation that statements may use.")
class Predicate:
    """As `ontology.vocabulary.Predicate`."""

    name: str = strawberry.field(description="Such as `works_at`.")
    description: str | None
    cardinality: Cardinality = strawberry.field(description="ONE: at most one value at a time, so that a newer one supersedes.")
    temporal: Temporality = strawberry.field(description="STATIC never changes: a second value is a contradiction, not a change.")
    inverse: str | None
    symmetric: bool
    aspect: Aspect
    stale_after: float | None = strawberry.field(description="Seconds without attestation after which an open statement counts as stale.")
    after_rival: AfterRival = strawberry.field(description="What becomes of a value when a bounded rival has ended.")
    declared: bool = strawberry.field(description="False for a predicate that extraction coined.")


def predicate(context: Context, name: str) -> Predicate:
    """A predicate as the vocabulary in force has it, made once a request."""
    made = context.predicates.get(name)
    if isinstance(made, Predicate):
        return made
    known = context.graph.vocabulary().predicate(name)
    context.predicates[name] = found = Predicate(
        name=known.name,
        description=known.description,
        cardinality=Cardinality[known.cardinality.name],
        temporal=Temporality[known.temporal.name],
        inverse=known.inverse,
        symmetric=known.symmetric,
        aspect=Aspect[known.aspect.name],
        stale_after=known.stale_after,
        after_rival=AfterRival[known.after_rival.name],
        declared=known.declared,
    )
    return found


@strawberry.type(description="A predicate that extraction or a client coined and that is used much.")
class UndeclaredPredicate:
    """As `graph.views.UndeclaredPredicate`."""

    name: str = strawberry.field(description="Such as `volunteers_at`.")
    claims: int = strawberry.field(description="How many claims use it.")
    subjects: int = strawberry.field(description="How many subjects they are about.")
    several: int = strawberry.field(description="How many of these have more than one live value.")
    examples: list[str] = strawberry.field(description="Some of the newest quotes.")
    cardinality: Cardinality = strawberry.field(description="What holds of it while it is not declared.")
    temporal: Temporality = strawberry.field(description="What holds of it while it is not declared.")


def undeclared(context: Context, view: views.UndeclaredPredicate) -> UndeclaredPredicate:
    """An undeclared predicate with the traits that it has for now."""
    traits = predicate(context, view.name)
    return UndeclaredPredicate(
        name=view.name,
        claims=view.claims,
        subjects=view.subjects,
        several=view.several,
        examples=list(view.examples),
        cardinality=traits.cardinality,
        temporal=traits.temporal,
    )


@strawberry.type(description="An entity type.")
class EntityType:
    """As `ontology.vocabulary.EntityType`."""

    name: str
    description: str | None
    parent: str | None


@strawberry.type(description="The vocabulary in force.")
class Ontology:
    """As `ontology.vocabulary.Vocabulary`."""

    version: str = strawberry.field(description="Hash of its content.")
    predicates: list[Predicate]
    entity_types: list[EntityType]


def basis(snapshot: Snapshot) -> Basis:
    """The basis of a snapshot as answered."""
    view = snapshot.basis
    until = view.evidence_until
    return Basis(
        snapshot=snapshot,
        valid_at=DateTime(view.valid_at),
        recorded_at=DateTime(view.recorded_at),
        transaction=view.transaction,
        evidence_until=None if until is None else DateTime(until),
    )
