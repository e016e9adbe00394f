"""Signs that one name denotes two: values that cannot both be, attested for one instant by groups that have nothing in common."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from heapq import heappop, heappush

from sqlalchemy import func, select

from graph.belief.identity import Group, group_of
from graph.belief.items import Atom
from graph.belief.traits import traits_of
from graph.ledger.chunks import among, rows_among
from graph.ledger.details import Describer
from graph.ledger.evidence import Evidence, SlotRef, Units
from graph.ledger.identity import ClaimRow, place_of
from graph.ledger.schema import claims, components
from graph.ledger.standing import believed_at
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
        """Signs that an entity is two, by predicate and qualifier, the earliest instant of each pair of values."""
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
                    found += self._in_slot(describer, entity, row, evidence, atoms)
        return tuple(found)

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
        self, describer: Describer, entity: EntityView, row: ClaimRow, evidence: Evidence, atoms: Sequence[Atom]
    ) -> Iterator[SuspectedSplit]:
        attesting: dict[str, list[Atom]] = defaultdict(list)
        for atom in atoms:
            if atom.positive and not atom.additive and atom.attested is not None:
                attesting[atom.value].append(atom)
        for one, other in _meeting(attesting):
            at = _earliest(attesting[one], attesting[other])
            if at is None:
                continue
            told = {value: [evidence.rows[a.made_by.id] for a in attesting[value] if _attests(a, at)] for value in (one, other)}
            groups = {value: {group_of(claim.grp, claim.source) for claim in rows} for value, rows in told.items()}
            if groups[one] & groups[other]:
                continue
            better, weaker = sorted((one, other), key=lambda value: (-len(told[value]), _words(describer, told[value][0], entity)))
            yield self._split(describer, entity, row, at, told[better][0], told[weaker][0], groups[weaker])

    def _split(
        self, describer: Describer, entity: EntityView, row: ClaimRow, at: Instant, better: ClaimRow, weaker: ClaimRow, groups: set[Group]
    ) -> SuspectedSplit:
        named = tuple(sorted(group.name for group in groups if group.name is not None))
        # One scope holds either: groups where there are any, for sources would take those of other groups along.
        sources = () if named else tuple(sorted(group.source for group in groups if group.source is not None))
        values = (_words(describer, better, entity), _words(describer, weaker, entity))
        discriminator = normalise((named or sources)[0])[:128]
        return SuspectedSplit(entity, row.predicate, row.qualifier, at, values, named, sources, discriminator)

    def suspects(self, describer: Describer) -> list[EntityView]:
        """Entities with suspected splits, by name."""
        found = {view.key: view for key in self._candidates(describer) if (view := describer.directory.entity(key)) is not None}
        suspected = [view for view in found.values() if self.of(describer, view.key)]
        return sorted(suspected, key=lambda view: (normalise(view.name), view.key))

    def _candidates(self, describer: Describer) -> Collection[str]:
        """Entities of which several values of one slot are told by several groups, and all that are joined or have splits."""
        one_valued = [name for name, predicate in self._vocabulary.predicates.items() if traits_of(predicate).one_valued]
        turned = {self._vocabulary.predicate(name).inverse for name in one_valued} - {None}
        keys: set[str] = set()
        for side, names in ((claims.c.subject, one_valued), (claims.c.object, [*one_valued, *sorted(turned, key=str)])):
            several = (
                select(side)
                .where(*self._visible, claims.c.predicate.in_(names), *(() if side is claims.c.subject else (claims.c.datatype.is_(None),)))
                .group_by(side, claims.c.predicate, claims.c.qualifier)
                .having(func.count(func.distinct(claims.c.proposition)) > 1)
                .having(func.count(func.distinct(func.coalesce(claims.c.grp, claims.c.source))) > 1)
            )
            keys |= set(describer.connection.scalars(several))
        roots = select(components.c.root).where(
            components.c.namespace == self._basis.namespace, believed_at(components, self._basis.transaction)
        )
        keys |= set(describer.connection.scalars(roots.distinct()))
        describer.identity.load(keys)
        return {root for key in keys for root in (describer.identity.root(key), *describer.identity.elsewhere(key))}


def _attests(atom: Atom, at: Instant) -> bool:
    return atom.attested is not None and atom.attested[0] <= at <= atom.attested[1]


def _meeting(attesting: Mapping[str, Sequence[Atom]]) -> list[tuple[str, str]]:
    """The pairs of values that some instant attests both of, in order: of very many values few do."""
    spans = sorted((*atom.attested, value) for value, atoms in attesting.items() for atom in atoms if atom.attested is not None)
    found: set[tuple[str, str]] = set()
    going_on: list[tuple[Instant, str]] = []
    for first, last, value in spans:
        while going_on and going_on[0][0] < first:
            heappop(going_on)
        found |= {(min(value, other), max(value, other)) for _, other in going_on if other != value}
        heappush(going_on, (last, value))
    return sorted(found)


def _earliest(one: Sequence[Atom], other: Sequence[Atom]) -> Instant | None:
    """The first instant that both attest."""
    starts = sorted({atom.attested[0] for atom in (*one, *other) if atom.attested is not None})
    return next((at for at in starts if any(_attests(a, at) for a in one) and any(_attests(b, at) for b in other)), None)


def _words(describer: Describer, claim: ClaimRow, entity: EntityView) -> str:
    """What a claim says of an entity: the name of the other side."""
    other = claim.object if claim.subject == entity.key else claim.subject
    found = describer.directory.required(other)
    return found.value if isinstance(found, LiteralView) else found.name
