"""Signs that one name denotes two: values that cannot both be, attested for one instant by groups of which none attests both there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from sqlalchemy import func, literal, select, union, union_all

from graph.belief.identity import Group, group_of
from graph.belief.items import Atom
from graph.belief.traits import traits_of
from graph.ledger.chunks import among, rows_among
from graph.ledger.details import Describer
from graph.ledger.evidence import Evidence, SlotRef, Units
from graph.ledger.identity import ClaimRow, place_of
from graph.ledger.schema import claims
from graph.ledger.standing import believed_at
from graph.ledger.told_identity import OF_IDENTITY
from graph.views import Basis, EntityView, LiteralView, SuspectedSplit
from ontology.instant import Instant
from ontology.names import normalise
from ontology.vocabulary import Vocabulary


class Suspicions:
    """The suspected splits of one basis."""

    def __init__(self, basis: Basis, vocabulary: Vocabulary) -> None:
        self._basis = basis
        self._vocabulary = vocabulary
        self._visible = (
            claims.c.namespace == basis.namespace,
            claims.c.believed,
            believed_at(claims, basis.transaction),
            *(() if basis.evidence_until is None else (claims.c.said <= basis.evidence_until,)),
        )

    def of(self, describer: Describer, key: str) -> tuple[SuspectedSplit, ...]:
        """Signs that an entity is two, by predicate and qualifier, the latest instant of each pair of values."""
        identity = describer.identity
        identity.load([key])
        entity = describer.directory.entity(key)
        if entity is None:
            return ()
        evidence = Evidence(describer.connection, self._vocabulary, describer.visibility(self._basis.transaction), identity)
        evidence.load_slots(list(self._slots(describer, entity.key)), inverse=True)
        evidence.close()
        units = Units(evidence)
        found: list[SuspectedSplit] = []
        seen: set[str] = set()
        for row in sorted(evidence.rows.values(), key=lambda row: (row.predicate, row.qualifier, row.slot)):
            for side, mine in zip(units.sides(place_of(row)), (row.subject, row.object), strict=False):
                if side.slot is not None and side.slot not in seen and mine == entity.key:
                    seen.add(side.slot)
                    atoms = units.unit(side, row.proposition).atoms
                    predicate = evidence.other_side(row.predicate) if side.slot == row.inverse_slot else row.predicate
                    found += self._in_slot(describer, entity, predicate, evidence, atoms)
        return tuple(sorted(found, key=lambda sign: (sign.predicate, sign.qualifier, sign.values)))

    def _slots(self, describer: Describer, key: str) -> Iterator[SlotRef]:
        """The one-valued slots of an entity that claims speak of."""
        raws = sorted(describer.identity.raws(key))
        for side in (claims.c.subject, claims.c.object):
            asked = select(claims.c.predicate, claims.c.qualifier).distinct().where(among(side), *self._visible)
            for row in rows_among(describer.connection, asked, raws):
                known = self._vocabulary.predicate(row.predicate)
                name = known.name if side is claims.c.subject or known.symmetric else known.inverse
                if name is not None and traits_of(self._vocabulary.predicate(name)).one_valued:
                    yield SlotRef(describer.identity.slot(key, name, row.qualifier), key, name, row.qualifier)

    def _in_slot(
        self, describer: Describer, entity: EntityView, predicate: str, evidence: Evidence, atoms: Sequence[Atom]
    ) -> Iterator[SuspectedSplit]:
        for (one, other), clash in sorted(_clashes(atoms).items()):
            told = {value: [evidence.rows[id] for id in sorted(clash.told[value])] for value in (one, other)}
            if _groups(told[one]) & _groups(told[other]):
                continue
            # The one that was known first keeps the name where neither is told more often.
            better, weaker = sorted(told.values(), key=lambda rows: _place(describer, rows, entity))
            if not _parts(weaker, better) and _parts(better, weaker):
                better, weaker = weaker, better
            yield self._split(describer, entity, predicate, clash.latest(self._basis.valid_at), better, weaker)

    def _split(
        self, describer: Describer, entity: EntityView, predicate: str, at: Instant, better: Sequence[ClaimRow], weaker: Sequence[ClaimRow]
    ) -> SuspectedSplit:
        named, unnamed = _scope(weaker)
        # One scope holds either: groups where there are any, for sources would take those of other groups along.
        sources = () if named else unnamed
        values = (_words(describer, better[0], entity), _words(describer, weaker[0], entity))
        discriminator = normalise((named or sources)[0])[:128]
        return SuspectedSplit(entity, predicate, weaker[0].qualifier, at, values, named, sources, discriminator)

    def suspects(self, describer: Describer) -> list[EntityView]:
        """Entities with suspected splits, by name."""
        found = {view.key: view for key in self._candidates(describer) if (view := describer.directory.entity(key)) is not None}
        suspected = [view for view in found.values() if self.of(describer, view.key)]
        return sorted(suspected, key=lambda view: (normalise(view.name), view.key))

    def _candidates(self, describer: Describer) -> Collection[str]:
        """Entities of which several values of one slot are told by several groups, and all that identity claims name."""
        known = self._vocabulary.predicates.values()
        one_valued = [predicate.name for predicate in known if self._one_valued(predicate.name)]
        # What stands in a one-valued slot of its object too.
        from_object = [
            predicate.name
            for predicate in known
            if (predicate.symmetric and self._one_valued(predicate.name)) or (predicate.inverse and self._one_valued(predicate.inverse))
        ]
        told_in = func.coalesce(literal("group ") + claims.c.grp, literal("source ") + claims.c.source).label("told_in")
        of_slot = (claims.c.predicate, claims.c.qualifier)
        # A symmetric relation has the same entity now on the one side, now on the other.
        told = union_all(
            select(claims.c.subject.label("key"), *of_slot, claims.c.proposition, told_in).where(
                *self._visible, claims.c.predicate.in_(one_valued)
            ),
            select(claims.c.object.label("key"), *of_slot, claims.c.proposition, told_in).where(
                *self._visible, claims.c.predicate.in_(from_object), claims.c.datatype.is_(None)
            ),
        ).subquery()
        several = (
            select(told.c.key)
            .group_by(told.c.key, told.c.predicate, told.c.qualifier)
            .having(func.count(func.distinct(told.c.proposition)) > 1)
            .having(func.count(func.distinct(told.c.told_in)) > 1)
        )
        # Of names that are one, in all groups or in some, each may be told one value alone.
        related = union(*(select(side).where(*self._visible, OF_IDENTITY) for side in (claims.c.subject, claims.c.object)))
        keys = {*describer.connection.scalars(several), *describer.connection.scalars(related)}
        describer.identity.load(keys)
        return {root for key in keys for root in (describer.identity.root(key), *describer.identity.elsewhere(key))}

    def _one_valued(self, predicate: str) -> bool:
        return traits_of(self._vocabulary.predicate(predicate)).one_valued


@dataclass(slots=True)
class _Clash:
    """Two values that are attested for some instants both: the claims that do so, by value, and the last instants."""

    told: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    spans: set[tuple[Instant, Instant]] = field(default_factory=set)

    def latest(self, present: Instant) -> Instant:
        """The last instant up to the present at which both are attested, else the first one after it."""
        past = [min(last, present) for first, last in self.spans if first <= present]
        return max(past) if past else min(first for first, _ in self.spans)


def _clashes(atoms: Iterable[Atom]) -> dict[tuple[str, str], _Clash]:
    """The pairs of values of one slot that are attested for one instant."""
    found: dict[tuple[str, str], _Clash] = defaultdict(_Clash)
    placed = [(atom.attested, atom) for atom in atoms if atom.positive and not atom.additive and atom.attested is not None]
    live: list[tuple[Instant, Atom]] = []
    for (first, last), atom in sorted(placed, key=lambda each: (each[0], each[1].value)):
        # In the order of their beginnings: what has ended by now meets none of those to come.
        live = [(until, other) for until, other in live if until >= first]
        for until, other in live:
            if other.value != atom.value:
                clash = found[min(atom.value, other.value), max(atom.value, other.value)]
                clash.told[atom.value].add(atom.made_by.id)
                clash.told[other.value].add(other.made_by.id)
                clash.spans.add((first, min(last, until)))
        live.append((last, atom))
    return found


def _groups(rows: Iterable[ClaimRow]) -> set[Group]:
    return {group_of(claim.grp, claim.source) for claim in rows}


def _scope(rows: Iterable[ClaimRow]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The groups that tell something, and the sources where there is no group."""
    groups = _groups(rows)
    named = sorted(group.name for group in groups if group.name is not None)
    return tuple(named), tuple(sorted(group.source for group in groups if group.source is not None))


def _parts(rows: Iterable[ClaimRow], others: Iterable[ClaimRow]) -> bool:
    """Whether one split takes all these rows away and none of the others: a source's takes all groups of that source along."""
    named, unnamed = _scope(rows)
    return not unnamed or not (named or {claim.source for claim in others} & set(unnamed))


def _place(describer: Describer, told: Sequence[ClaimRow], entity: EntityView) -> tuple[int, Instant, str]:
    return -len(told), min(claim.said for claim in told), _words(describer, told[0], entity)


def _words(describer: Describer, claim: ClaimRow, entity: EntityView) -> str:
    """What a claim says of an entity: the name of the other side."""
    other = claim.object if claim.subject == entity.key else claim.subject
    found = describer.directory.required(other)
    return found.value if isinstance(found, LiteralView) else found.name
