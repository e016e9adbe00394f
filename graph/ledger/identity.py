"""Identity on a basis: which entity a claim's names denote, and which keys the evidence of an entity may stand under."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import product
from threading import RLock
from typing import Any, NamedTuple, cast

from sqlalchemy import Connection, Row, Select, bindparam, select

from graph.belief.identity import IDENTITY, Identities
from graph.ledger.chunks import among, rows_among
from graph.ledger.schema import claims, statements
from ontology.instant import Instant
from ontology.names import Keys
from ontology.vocabulary import Vocabulary

ClaimRow = Row[Any]

SOURCE = "erstwhile:identity"
"""The source of the episodes that hold what people state about who is who, by key: their claims mention no names."""

# What stands in for a row of `claims` whose names denote something else than themselves; read by its columns like one.
_Settled = NamedTuple("_Settled", [(column.name, Any) for column in claims.c])  # type: ignore[misc]
_PLACES = ("subject", "object", "slot", "inverse_slot", "proposition", "replaces_subject", "replaces_object", "replaces_proposition")


MOST_PAIRS = 1000
"""Names of a subject times names of an object whose propositions are hashed one by one."""


def _pairs(table: Any, one: Any, other: Any, by: Any) -> Select[Any]:
    """Subjects and objects that stand together in propositions of a predicate, looked up by some keys."""
    named = (table.c.predicate == bindparam("predicate"), table.c.qualifier == bindparam("qualifier"))
    return select(one.label("one"), other.label("other")).distinct().where(among(by), *named)


_STORED_PAIRS = _pairs(statements, statements.c.subject, statements.c.object, statements.c.subject)
_TOLD_PAIRS = _pairs(claims, claims.c.subject, claims.c.object, claims.c.subject)
# A correction shares an end with what it replaces.
_REPLACED_PAIRS = tuple(
    _pairs(claims, claims.c.replaces_subject, claims.c.replaces_object, by).where(claims.c.replaces_proposition.is_not(None))
    for by in (claims.c.subject, claims.c.object)
)


@dataclass(frozen=True, slots=True)
class Visibility:
    """Which claims count: those in the set at a transaction (`ever`: or before), said by an instant."""

    transaction: int
    said_until: Instant
    ever: bool = False

    @property
    def values(self) -> dict[str, int]:
        """Parameters of queries for visible claims."""
        since = 0 if self.ever else self.transaction
        return {"transaction": self.transaction, "since": since, "said_until": self.said_until}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a proposition stands: its key and slots, and what these are hashes of."""

    proposition: str
    slot: str
    inverse_slot: str | None
    predicate: str
    subject: str
    qualifier: str
    object: str


def place_of(row: Any) -> Place:
    """The place of the proposition that a claim speaks of."""
    return Place(row.proposition, row.slot, row.inverse_slot, row.predicate, row.subject, row.qualifier, row.object)


@dataclass(slots=True)
class KnownIdentity:
    """What has been looked up: the keys, and what bears on them. Extended under its lock only.

    `empty`: nothing bears on any key. `kept`: between reads, so that after some look-ups all is read at once (`whole`). `since` is the
    transaction that last changed who is who, where that is known.
    """

    since: int = 0
    empty: bool = False
    whole: bool = False
    kept: bool = False
    asked: int = 0
    keys: set[str] = field(default_factory=set)
    state: Identities = field(default_factory=Identities)
    members: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    sources: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    joined_here: set[str] = field(default_factory=set)
    lock: RLock = field(default_factory=RLock)


class Identity(ABC):
    """What names denote on one basis, looked up as needed. Without joins and splits everything denotes itself."""

    def __init__(
        self, connection: Connection, keys: Keys, namespace: str, vocabulary: Vocabulary, known: KnownIdentity | None = None
    ) -> None:
        self._connection = connection
        self.keys = keys
        self.namespace = namespace
        self._vocabulary = vocabulary
        self._shared = known or KnownIdentity()
        self._known = self._shared.keys
        self.state = self._shared.state
        self._members = self._shared.members
        self._sources = self._shared.sources
        self._joined_here = self._shared.joined_here

    # ------------------------------------------------------------ finding

    def load(self, keys: Collection[str]) -> None:
        """Look up what bears on some keys, as far as that goes."""
        if self._shared.empty or self._shared.whole or self._known.issuperset(keys):
            return
        with self._shared.lock:
            looked_up: set[str] = set()
            wanted = set(keys) - self._known
            while wanted:
                looked_up |= wanted
                wanted = self._find(wanted) - self._known - looked_up
            # Only now: who finds its keys known finds what bears on them too.
            self._known |= looked_up

    @abstractmethod
    def _find(self, keys: set[str]) -> set[str]:
        """Note what bears on keys; answers with further keys that are named."""

    @property
    def since(self) -> int:
        """The transaction that last changed who is who in the namespace, of what is kept between reads; else 0."""
        return self._shared.since

    @property
    def nothing_joined(self) -> bool:
        """Whether nothing in the namespace has been joined or split by then."""
        return self._shared.empty

    @property
    def trivial(self) -> bool:
        """Whether everything that was looked up denotes itself."""
        return not (self.state.roots or self._sources)

    def _note(self, state: Identities) -> None:
        """Take over what was found."""
        for key, root in state.roots.items():
            self.state.roots[key] = root
            self._members[root].add(key)
        for key, splits in state.splits.items():
            self.state.splits[key] = splits
            for split in splits:
                self._sources[split.target].add(key)
        for (group, key), target in state.joins.items():
            self.state.joins[group, key] = target
            self._sources[target].add(key)
            self._joined_here.add(key)

    # ------------------------------------------------------------ reading

    def root(self, key: str) -> str:
        """The key of the entity that a key belongs to."""
        return self.state.root(key)

    def members(self, key: str) -> set[str]:
        """All keys of the entity of a key."""
        root = self.state.root(key)
        return self._members.get(root) or {root}

    def raws(self, key: str) -> set[str]:
        """All keys whose mentions may denote the entity of a key."""
        members = self.members(key)
        return {*members, *(source for member in members for source in self.sources(member))}

    def sources(self, key: str) -> set[str]:
        """Other keys whose mentions may denote a key, before components."""
        found: set[str] = set()
        fresh = {key}
        while fresh and self._sources:
            fresh = {source for target in fresh for source in self._sources.get(target, ())} - found - {key}
            found |= fresh
        return found

    def told(self, key: str) -> set[str]:
        """All keys whose mentions in identity claims may be read as a key: those that splits turn into it, and itself."""
        return {key} | {source for source in self._sources.get(key, ()) if source in self.state.splits}

    def elsewhere(self, key: str) -> list[str]:
        """What a key denotes in episodes of some scope, if not itself."""
        targets = {split.target for split in self.state.splits.get(key, ())}
        if key in self._joined_here:
            # Another reader may be adding what it has looked up.
            with self._shared.lock:
                targets |= {target for (_, source), target in self.state.joins.items() if source == key}
        return sorted(self.root(target) for target in targets)

    def made_by_splits(self) -> dict[str, str]:
        """The key that each split which was looked up has made, by the split's claim."""
        with self._shared.lock:
            return {split.claim: split.target for splits in self.state.splits.values() for split in splits}

    def concerned(self) -> set[str]:
        """All keys that were looked up of which `concerns` is true."""
        with self._shared.lock:
            return {*self.state.roots, *self._sources, *self.state.splits, *self._joined_here}

    def concerns(self, key: str) -> bool:
        """Whether a key is joined with another, or its mentions are, or others', by a split or a group's join."""
        return key in self.state.roots or key in self._sources or key in self.state.splits or key in self._joined_here

    def denoted(self, raw: str, group: str | None, source: str) -> str:
        """The entity that a mention denotes."""
        return self.state.denoted(raw, group, source)

    # ------------------------------------------------------------ places

    def place(self, predicate: str, qualifier: str, subject: str, object: str, *, paired: bool) -> Place:
        """Where a proposition between two entities stands; `paired`: it is kept in an inverse or symmetric slot too."""
        known = self._vocabulary.predicate(predicate)
        inverse_slot = None
        if paired:
            inverse_slot = self.slot(object, predicate if known.symmetric else known.inverse or "", qualifier)
        proposition = self._proposition(predicate, qualifier, subject, object, paired=paired)
        return Place(proposition, self.slot(subject, predicate, qualifier), inverse_slot, predicate, subject, qualifier, object)

    def _proposition(self, predicate: str, qualifier: str, subject: str, object: str, *, paired: bool) -> str:
        symmetric = paired and self._vocabulary.predicate(predicate).symmetric
        return self.keys.proposition(self.namespace, subject, predicate, qualifier, object, symmetric=symmetric)

    def slot(self, subject: str, predicate: str, qualifier: str) -> str:
        """The key of a slot."""
        return self.keys.slot(self.namespace, subject, predicate, qualifier)

    def settled(self, row: ClaimRow) -> ClaimRow:
        """A claim with the keys of what its names denote. `load` its subject and object before."""
        if self.trivial:
            return row
        where = (row.grp, row.source)
        split = row.scope_group is not None or row.scope_source is not None
        read = (lambda raw: raw) if split else self._reader(row.predicate, where)
        subject, object = read(row.subject), read(row.object)
        replaced = None if row.replaces_subject is None else (read(row.replaces_subject), read(row.replaces_object))
        if (subject, object) == (row.subject, row.object) and replaced in (None, (row.replaces_subject, row.replaces_object)):
            return row
        place = self.place(row.predicate, row.qualifier, subject, object, paired=row.inverse_slot is not None)
        changed: dict[str, Any] = {name: getattr(place, name) for name in ("subject", "object", "slot", "inverse_slot", "proposition")}
        if replaced is not None:
            wrong = self.place(row.predicate, row.qualifier, *replaced, paired=row.inverse_slot is not None)
            changed |= {
                "replaces_subject": wrong.subject,
                "replaces_object": wrong.object,
                "replaces_proposition": wrong.proposition,
            }
        # A row from the database cannot be changed; one that was read in bulk can.
        changeable: Any = _Settled._make(row) if isinstance(row, Row) else row
        return cast(ClaimRow, changeable._replace(**changed))

    def meant(
        self, predicate: str, qualifier: str, subject: str, object: str, group: str | None, source: str, *, paired: bool, split: bool
    ) -> Place:
        """Where what a claim says of two keys stands; `split`: it is itself what tells two of one name apart."""
        if not split:
            read = self._reader(predicate, (group, source))
            subject, object = read(subject), read(object)
        return self.place(predicate, qualifier, subject, object, paired=paired)

    def mentioned(self, row: ClaimRow) -> Place:
        """Where a claim's proposition stands by the keys that its names count for, before components."""
        if row.scope_group is not None or row.scope_source is not None or row.predicate == IDENTITY:
            return place_of(self.settled(row))
        one, other = (self.state.mentioned(raw, row.grp, row.source) for raw in (row.subject, row.object))
        if (one, other) == (row.subject, row.object):
            return place_of(row)
        return self.place(row.predicate, row.qualifier, one, other, paired=row.inverse_slot is not None)

    def _reader(self, predicate: str, where: tuple[str | None, str]) -> Any:
        if predicate == IDENTITY:
            return lambda raw: self.state.after_split(raw, *where)
        return lambda raw: self.state.denoted(raw, *where)

    def here(self, place: Place) -> Place:
        """The place on this basis of one that stands under any keys of its entities."""
        if self.trivial or place.predicate == IDENTITY:
            return place
        subject, object = self.root(place.subject), self.root(place.object)
        if (subject, object) == (place.subject, place.object):
            return place
        return self.place(place.predicate, place.qualifier, subject, object, paired=place.inverse_slot is not None)

    def kept_under(self, place: Place) -> list[str]:
        """The keys of a proposition under all keys of its entities: statements may be stored under any of them."""
        if not self._spread(place) or place.predicate == IDENTITY:
            return [place.proposition]
        return self.stored_between(place, self.members(place.subject), self.members(place.object))

    def stored_between(self, place: Place, subjects: Collection[str], objects: Collection[str]) -> list[str]:
        """The keys of a proposition under keys of subjects and objects, but such as no statement was ever stored under."""
        return self._under(place, subjects, objects, (_STORED_PAIRS,))

    def told_under(self, place: Place) -> list[str]:
        """The keys of a proposition under all keys whose mentions may denote its entities: claims speak of it under these."""
        if not self._spread(place):
            return [place.proposition]
        read = self.told if place.predicate == IDENTITY else self.raws
        return self._under(place, read(place.subject), read(place.object), (_TOLD_PAIRS, *_REPLACED_PAIRS))

    def slots_kept_under(self, subject: str, predicate: str, qualifier: str) -> list[str]:
        """The keys of a slot under all keys of its subject: statements may stand in any of them."""
        return [self.slot(key, predicate, qualifier) for key in self.members(subject)]

    def slots_told_under(self, subject: str, predicate: str, qualifier: str) -> list[str]:
        """The keys of a slot under all keys whose mentions may denote its subject."""
        keys = self.told(subject) if predicate == IDENTITY else self.raws(subject)
        return [self.slot(key, predicate, qualifier) for key in keys]

    def _spread(self, place: Place) -> bool:
        return not self.trivial and (self.concerns(place.subject) or self.concerns(place.object))

    def _under(self, place: Place, subjects: Collection[str], objects: Collection[str], known: Sequence[Select[Any]]) -> list[str]:
        paired = place.inverse_slot is not None
        pairs: Iterable[tuple[str, str]] = product(subjects, objects)
        if len(subjects) * len(objects) > MOST_PAIRS:
            # Where both sides have very many names the tables tell which of them ever met.
            pairs = self._met(place, set(subjects), set(objects), known)
        found = {self._proposition(place.predicate, place.qualifier, one, other, paired=paired) for one, other in pairs}
        return sorted(found | {place.proposition})

    def _met(self, place: Place, subjects: set[str], objects: set[str], known: Sequence[Select[Any]]) -> set[tuple[str, str]]:
        found: set[tuple[str, str]] = set()
        slot = {"predicate": place.predicate, "qualifier": place.qualifier}
        symmetric = place.inverse_slot is not None and self._vocabulary.predicate(place.predicate).symmetric
        for query in known:
            for row in rows_among(self._connection, query, subjects | objects, **slot):
                straight = row.one in subjects and row.other in objects
                if straight or (symmetric and row.one in objects and row.other in subjects):
                    found.add((row.one, row.other))
        return found
