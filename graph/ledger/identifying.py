"""What a transaction changes about who is who: components and denotations, and the claims that mean another entity for it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, bindparam, func, insert, select, update

from graph.belief.identity import IDENTITY, Identities
from graph.ledger.chunks import among, rows_among
from graph.ledger.identity import Identity, Place, Visibility
from graph.ledger.schema import OPEN, claims, components, denotations, statements
from graph.ledger.stored_identity import StoredIdentity
from graph.ledger.told_identity import ToldIdentity
from ontology.claim import CANDIDATE_BELOW
from ontology.instant import UNBOUNDED_FUTURE
from ontology.names import Keys
from ontology.vocabulary import Vocabulary

_OPEN_COMPONENTS = select(components.c.row, components.c.member, components.c.root).where(
    among(components.c.member), components.c.tx_to == OPEN
)
_OPEN_DENOTATIONS = select(denotations).where(among(denotations.c.key), denotations.c.tx_to == OPEN)
_END = {
    table.name: update(table).where(table.c.row == bindparam("at")).values(tx_to=bindparam("end")) for table in (components, denotations)
}
_RULE = ("key", "target", "kind", "scope_group", "scope_source", "rank", "said", "claim")
_SCOPE = ("kind", "scope_group", "scope_source")
# Behind a function the end cannot be searched for: nearly all claims are open, and SQLite would walk them.
_IN_SET = and_(func.coalesce(claims.c.tx_to, 0) == OPEN, claims.c.confidence >= CANDIDATE_BELOW)
_COUNTS = tuple(
    select(column.label("key"), func.count().label("times")).where(among(column), _IN_SET).group_by(column)
    for column in (claims.c.subject, claims.c.object)
)
_SPEAKING = tuple(select(claims).where(among(column), _IN_SET) for column in (claims.c.subject, claims.c.object))
_STORED = tuple(
    select(*[statements.c[name] for name in ("base", "slot", "inverse_slot", "predicate", "subject", "qualifier", "object")]).where(
        among(column), statements.c.tx_to == OPEN
    )
    for column in (statements.c.subject, statements.c.object)
)


@dataclass(slots=True)
class Shift:
    """Identity before and after a transaction: keys whose component is another one, and denotations that came or went."""

    old: Identity
    new: Identity
    moved: set[str] = field(default_factory=set)
    rules: list[Mapping[str, Any]] = field(default_factory=list)

    @property
    def nothing(self) -> bool:
        """Whether all is as it was."""
        return not (self.moved or self.rules)

    def load(self, claimed: Iterable[Mapping[str, Any]]) -> None:
        """Look up what the names of some claims denote, before and after."""
        keys = {key for claim in claimed for key in named(claim)}
        self.new.load(keys)
        if self.old is not self.new:
            self.old.load(keys)

    def places(self, claim: Mapping[str, Any]) -> Iterator[Place]:
        """Where a claim speaks now, and where what it spoke of before may be stored or go on without it."""
        if self.nothing and self.new.trivial:
            yield Place(*(claim[name] for name in _PLACE))
            return
        paired = claim["inverse_slot"] is not None
        for subject, object in product(self._denoted(claim, "subject"), self._denoted(claim, "object")):
            yield self.new.place(claim["predicate"], claim["qualifier"], subject, object, paired=paired)

    def replaced(self, claim: Mapping[str, Any]) -> Iterator[Place]:
        """Where the proposition stands that a correction says was wrong."""
        if claim["replaces_proposition"] is None:
            return
        paired = claim["inverse_slot"] is not None
        for subject, object in product(self._denoted(claim, "replaces_subject"), self._denoted(claim, "replaces_object")):
            yield self.new.place(claim["predicate"], claim["qualifier"], subject, object, paired=paired)

    def _denoted(self, claim: Mapping[str, Any], side: str) -> set[str]:
        raw, where = claim[side], (claim["grp"], claim["source"])
        if is_split(claim):
            return {raw}
        if claim["predicate"] == IDENTITY:
            return {self.old.state.after_split(raw, *where), self.new.state.after_split(raw, *where)}
        before = self.old.denoted(raw, *where)
        return {self.new.denoted(raw, *where), *(self.new.root(key) for key in self.old.members(before))}


_PLACE = ("proposition", "slot", "inverse_slot", "predicate", "subject", "qualifier", "object")


def is_split(claim: Mapping[str, Any]) -> bool:
    """Whether a claim says of which episodes the evidence speaks of another."""
    return claim["scope_group"] is not None or claim["scope_source"] is not None


def named(claim: Mapping[str, Any]) -> Iterator[str]:
    """The keys of the entities that a claim names."""
    yield claim["subject"]
    if claim["datatype"] is None:
        yield claim["object"]
    for side in ("replaces_subject", "replaces_object"):
        if claim[side] is not None:
            yield claim[side]


def shift(
    connection: Connection, keys: Keys, namespace: str, vocabulary: Vocabulary, transaction: int, changed: Collection[Mapping[str, Any]]
) -> Shift:
    """Bring components and denotations in line with the identity claims that are visible now.

    `changed` are the believed claims that came into the set or left it.
    """
    spoken = {key for claim in changed if claim["predicate"] == IDENTITY for key in named(claim)}
    if not spoken:
        same = StoredIdentity(connection, keys, namespace, vocabulary, transaction)
        return Shift(same, same)
    told = ToldIdentity(connection, keys, namespace, vocabulary, Visibility(transaction, UNBOUNDED_FUTURE))
    told.load(spoken)
    closure = told.known
    old = StoredIdentity(connection, keys, namespace, vocabulary, transaction - 1)
    old.load(closure)
    found = Shift(old, StoredIdentity(connection, keys, namespace, vocabulary, transaction))
    _write_components(connection, namespace, transaction, closure, told.state, found)
    _write_denotations(connection, namespace, transaction, closure, told.state, found)
    found.new.load(closure)
    return found


def _write_components(
    connection: Connection, namespace: str, transaction: int, closure: Collection[str], state: Identities, found: Shift
) -> None:
    now = {row.member: row for row in rows_among(connection, _OPEN_COMPONENTS, closure)}
    gone = [row for row in now.values() if state.roots.get(row.member) != row.root]
    fresh = [key for key, root in state.roots.items() if key not in now or now[key].root != root]
    _end(connection, components.name, gone, transaction)
    if fresh:
        rows = [
            {"namespace": namespace, "member": key, "root": state.roots[key], "tx_from": transaction, "tx_to": OPEN}
            for key in sorted(fresh)
        ]
        connection.execute(insert(components), rows)
    # Of a component that loses or gains members all are concerned, also those whose root stays.
    roots = {row.root for row in gone} | {state.roots[key] for key in fresh}
    found.moved = {key for key in closure if state.root(key) in roots or found.old.root(key) in roots}


def _write_denotations(
    connection: Connection, namespace: str, transaction: int, closure: Collection[str], state: Identities, found: Shift
) -> None:
    wanted = {
        (key, split.target, "split", split.scope_group, split.scope_source, split.rank, split.said, split.claim)
        for key, splits in state.splits.items()
        for split in splits
    } | {(key, target, "join", group.name, group.source, 0, 0, "") for (group, key), target in state.joins.items()}
    now = {tuple(row._mapping[name] for name in _RULE): row for row in rows_among(connection, _OPEN_DENOTATIONS, closure)}
    _end(connection, denotations.name, [row for rule, row in now.items() if rule not in wanted], transaction)
    fresh = sorted(wanted - now.keys(), key=repr)
    if fresh:
        rows = [{"namespace": namespace, **dict(zip(_RULE, rule, strict=True)), "tx_from": transaction, "tx_to": OPEN} for rule in fresh]
        connection.execute(insert(denotations), rows)
    found.rules = [dict(zip(_RULE, rule, strict=True)) for rule in sorted(wanted ^ now.keys(), key=repr)]


def _end(connection: Connection, table: str, rows: Collection[Row[Any]], transaction: int) -> None:
    if rows:
        connection.execute(_END[table], [{"at": row.row, "end": transaction} for row in rows])


@dataclass(slots=True)
class Reread:
    """What a transaction makes read anew: claims, and places of open statements."""

    claims: dict[int, Row[Any]] = field(default_factory=dict)
    places: list[Place] = field(default_factory=list)


def reread(connection: Connection, found: Shift) -> Reread:
    """The claims that mean another entity than before or share one with others than before, and what was stored under its keys.

    Where components join or part all but the largest part are read: what the others have in common with it is found from their
    side (`Shift.places`).
    """
    again = Reread()
    rows = again.claims
    stored: dict[str, Place] = {}
    for keys in _parts(connection, found):
        rows.update((row.row, row) for query in _SPEAKING for row in rows_among(connection, query, keys))
        for query in _STORED:
            stored.update((row.base, Place(*tuple(row))) for row in rows_among(connection, query, keys))
    found.new.load({key for place in stored.values() for key in (place.subject, place.object)})
    again.places = [found.new.here(place) for place in stored.values()]
    scopes: dict[tuple[Any, ...], set[str]] = defaultdict(set)
    for rule in found.rules:
        raws = {rule["key"]} | {source for identity in (found.old, found.new) for source in identity.told(rule["key"])}
        scopes[tuple(rule[name] for name in _SCOPE)] |= raws
    for scope, raws in scopes.items():
        for query in _SPEAKING:
            within = query.where(*_in_scope(dict(zip(_SCOPE, scope, strict=True))))
            rows.update((row.row, row) for row in rows_among(connection, within, raws))
    return again


def _in_scope(rule: Mapping[str, Any]) -> list[ColumnElement[bool]]:
    group, source = rule["scope_group"], rule["scope_source"]
    conditions: list[ColumnElement[bool]] = []
    if group is not None:
        conditions.append(claims.c.grp == group)
    if source is not None:
        conditions.append(claims.c.source == source)
        if rule["kind"] == "join":
            conditions.append(claims.c.grp.is_(None))
    return conditions


def _parts(connection: Connection, found: Shift) -> Iterator[set[str]]:
    """The keys under which claims on moved parts of components may stand, but for the largest part of each."""
    clusters: dict[str, str] = {}

    def cluster(root: str) -> str:
        while clusters.setdefault(root, root) != root:
            root = clusters[root]
        return root

    for key in sorted(found.moved):
        low, high = sorted((cluster(found.old.root(key)), cluster(found.new.root(key))))
        clusters[high] = low
    parts: dict[str, dict[tuple[str, str], set[str]]] = defaultdict(lambda: defaultdict(set))
    for key in found.moved:
        part = (found.old.root(key), found.new.root(key))
        parts[cluster(part[0])][part] |= {key, *_sources(found, key)}
    counted = _counts(connection, {key for each in parts.values() for keys in each.values() for key in keys})
    for each in parts.values():
        largest = max(each, key=lambda part: (sum(counted.get(key, 0) for key in each[part]), part))
        yield from (keys for part, keys in each.items() if part != largest)


def _sources(found: Shift, key: str) -> set[str]:
    """Keys whose mentions denote a key by a split or a group's join, before or after."""
    return {source for identity in (found.old, found.new) for source in identity.sources(key)}


def _counts(connection: Connection, keys: Collection[str]) -> dict[str, int]:
    counted: dict[str, int] = defaultdict(int)
    for query in _COUNTS:
        for row in rows_among(connection, query, keys):
            counted[row.key] += row.times
    return counted
