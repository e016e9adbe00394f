"""All that the ledger keeps beside episodes and claims, made anew from the claims in the set, to hold against what it keeps."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection
from typing import Any

from sqlalchemy import Connection, Row, select

from graph.ledger.directory import best
from graph.ledger.evidence import Evidence, Units
from graph.ledger.identity import SOURCE, Identity, Visibility, place_of
from graph.ledger.rectangles import COLUMNS, load, read_as, rectangle
from graph.ledger.schema import OPEN, claims, components, denotations, labels, statements, things
from graph.ledger.told_identity import ToldIdentity
from graph.service import LedgerGraph
from ontology.claim import CANDIDATE_BELOW, Modality
from ontology.instant import UNBOUNDED_FUTURE
from ontology.names import normalise

Kept = dict[str, Any]
"""By table what stands in it now, but for row numbers and transactions."""


def kept(graph: LedgerGraph, namespace: str) -> Kept:
    """What the tables hold; statements in terms of the entities that there are."""
    with graph._engine.connect() as connection:
        told = _in_set(connection, namespace)
        identity = _told_identity(graph, connection, namespace, told)
        rows = list(connection.execute(select(statements).where(statements.c.namespace == namespace, statements.c.tx_to == OPEN)))
        identity.load({key for row in rows for key in (row.subject, row.object)})
        held: Counter[Any] = Counter()
        for row in rows:
            read = read_as(identity, rectangle([row._mapping[column.name] for column in COLUMNS]))
            held[read.base, read.slot, read.inverse_slot, row.polarity, row.v_from, row.v_to, bool(row.object_is_literal)] += 1
        mine = labels.c.thing.in_(_ever_named(connection, namespace))
        return {
            "components": {row.member: row.root for row in _open(connection, components, components.c.namespace == namespace)},
            "denotations": Counter(
                tuple(row._mapping[name] for name in _RULE) for row in _open(connection, denotations, denotations.c.namespace == namespace)
            ),
            "labels": {(row.thing, row.kind, row.value): row.count for row in _open(connection, labels, mine)},
            "things": Counter(
                (row.key, row.datatype, row.name, row.folded, row.type, row.own)
                for row in _open(connection, things, things.c.namespace == namespace)
            ),
            "statements": held,
        }


def recomputed(graph: LedgerGraph, namespace: str) -> Kept:
    """What they should hold, from the claims alone."""
    with graph._engine.connect() as connection:
        told = _in_set(connection, namespace)
        identity = _told_identity(graph, connection, namespace, told)
        counted = _labels(identity, told)
        return {
            "components": dict(identity.state.roots),
            "denotations": Counter(
                [
                    (key, split.target, "split", split.scope_group, split.scope_source, split.rank, split.said, split.claim)
                    for key, splits in identity.state.splits.items()
                    for split in splits
                ]
                + [(key, target, "join", group.name, group.source, 0, 0, "") for (group, key), target in identity.state.joins.items()]
            ),
            "labels": dict(counted),
            "things": Counter(_things(identity, told, counted)),
            "statements": _statements(graph, connection, identity, told),
        }


_RULE = ("key", "target", "kind", "scope_group", "scope_source", "rank", "said", "claim")


def _open(connection: Connection, table: Any, mine: Any) -> list[Row[Any]]:
    return list(connection.execute(select(table).where(mine, table.c.tx_to == OPEN)))


def _in_set(connection: Connection, namespace: str) -> list[Row[Any]]:
    return _open(connection, claims, claims.c.namespace == namespace)


def _ever_named(connection: Connection, namespace: str) -> list[str]:
    """The keys that any claim of the namespace ever named."""
    ever = select(claims.c.subject, claims.c.object).where(claims.c.namespace == namespace)
    return sorted({key for row in connection.execute(ever) for key in row})


def _told_identity(graph: LedgerGraph, connection: Connection, namespace: str, told: Collection[Row[Any]]) -> Identity:
    identity = ToldIdentity(connection, graph.keys, namespace, graph.vocabulary(), Visibility(OPEN - 1, UNBOUNDED_FUTURE))
    identity.load({key for claim in told for key in (claim.subject, claim.object)})
    return identity


def _labels(identity: Identity, told: Collection[Row[Any]]) -> Counter[tuple[str, str, str]]:
    found: Counter[tuple[str, str, str]] = Counter()
    for claim in told:
        if claim.confidence < CANDIDATE_BELOW or claim.modality == Modality.HYPOTHETICAL:
            continue
        split = claim.scope_group is not None or claim.scope_source is not None
        for side in ("subject", "object"):
            raw, text, type = (claim._mapping[f"{side}{part}"] for part in ("", "_text", "_type"))
            key, kind = raw, "name"
            if split:
                # It names the entity that it makes, no other.
                if side != ("subject" if claim.turned else "object"):
                    continue
            elif claim.source == SOURCE:
                continue
            elif side == "subject" or claim.datatype is None:
                key = identity.state.mentioned(raw, claim.grp, claim.source)
                kind = "name" if key == identity.state.after_split(raw, claim.grp, claim.source) else "alias"
            found[key, kind, text] += 1
            if type is not None:
                found[key, "type", type] += 1
    return found


def _things(identity: Identity, told: Collection[Row[Any]], counted: Counter[tuple[str, str, str]]) -> list[Any]:
    literals = {claim.object: claim.datatype for claim in told if claim.datatype is not None}
    forms: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    own: dict[str, Counter[str]] = defaultdict(Counter)
    for (thing, kind, value), count in counted.items():
        if kind != "alias":
            forms[identity.root(thing), kind][value] += count
        if kind == "name":
            own[thing][value] += count
    found = []
    for thing in {member for named in own for member in identity.members(named)}:
        root, names = identity.root(thing), own.get(thing)
        name, types = best(forms[root, "name"]), forms.get((root, "type"))
        type, folded = best(types) if types else None, normalise(best(names)) if names else ""
        found.append((thing, literals.get(thing), name, normalise(name), type, folded))
    return found


def _statements(graph: LedgerGraph, connection: Connection, identity: Identity, told: Collection[Row[Any]]) -> Counter[Any]:
    places, literal = {}, {}
    for claim in told:
        if claim.believed:
            place = place_of(identity.settled(claim))
            places[place.proposition] = place
            literal[place.object] = claim.datatype is not None
    evidence = Evidence(connection, graph.vocabulary(), Visibility(OPEN - 1, UNBOUNDED_FUTURE), identity)
    load(evidence, list(places.values()))
    units = Units(evidence)
    found: Counter[Any] = Counter()
    for place in places.values():
        for polarity, spans in units.spans(place):
            for span in spans:
                found[place.proposition, place.slot, place.inverse_slot, polarity, *span, literal[place.object]] += 1
    return found
