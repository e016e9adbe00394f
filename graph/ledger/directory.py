"""Who is meant: names and keys of things on a basis."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Protocol

from sqlalchemy import Connection, Row, Select, and_, bindparam, func, null, or_, select

from graph.ledger.chunks import among, rows_among
from graph.ledger.identity import SOURCE, Identity
from graph.ledger.schema import claims, labels, things
from graph.ledger.standing import standing
from graph.views import EntityView, LiteralView
from ontology.claim import CANDIDATE_BELOW, Modality
from ontology.instant import Instant

_COLUMNS = (things.c.key, things.c.namespace, things.c.datatype, things.c.name, things.c.type)
_THINGS = select(*_COLUMNS).where(among(things.c.key), standing(things))
_NAMES = select(labels.c.thing, labels.c.kind, labels.c.value).where(
    among(labels.c.thing), labels.c.kind.in_(["name", "alias"]), standing(labels)
)
_DISCRIMINATORS = select(claims.c.id, claims.c.qualifier).where(among(claims.c.id))
_EVER = tuple(
    select(name.label("name"), datatype.label("datatype"), func.count().label("times"))
    .where(key == bindparam("key"), claims.c.tx_from <= bindparam("transaction"))
    .group_by(name, datatype)
    for key, name, datatype in (
        (claims.c.subject, claims.c.subject_text, null()),
        (claims.c.object, claims.c.object_text, claims.c.datatype),
    )
)


def _told(side: str) -> Select[Any]:
    """What visible claims said by an instant call the things on one side of them, and how often: as `labels` counts them."""
    key, name, type = (claims.c[part] for part in (side, f"{side}_text", f"{side}_type"))
    datatype = claims.c.datatype if side == "object" else null()
    split = or_(claims.c.scope_group.is_not(None), claims.c.scope_source.is_not(None))
    return (
        select(
            key.label("key"),
            name.label("name"),
            type.label("type"),
            datatype.label("datatype"),
            claims.c.grp,
            claims.c.source,
            split.label("split"),
            func.count().label("times"),
        )
        .where(
            among(key),
            standing(claims),
            claims.c.namespace == bindparam("namespace"),
            claims.c.said <= bindparam("said_until"),
            claims.c.confidence >= CANDIDATE_BELOW,
            claims.c.modality != str(Modality.HYPOTHETICAL),
            # As `labels.naming_sides`: what is stated by key names nothing, but a split the entity that it makes.
            or_(claims.c.source != SOURCE, and_(split, claims.c.turned.is_(side == "subject"))),
        )
        .group_by(key, name, type, datatype, claims.c.grp, claims.c.source, "split")
    )


_TOLD = (_told("subject"), _told("object"))


def best(counted: Mapping[str, int]) -> str:
    """The form that is attested most, of equal ones the smallest: a function of the claims, not of their order."""
    return min(counted, key=lambda form: (-counted[form], form))


class Names(Protocol):
    """What things are called at a transaction, as the tables have it."""

    def things(self, keys: Collection[str], transaction: int) -> Iterable[Row[Any]]:
        """Rows of `things` of some keys: key, namespace, datatype, name, type."""
        ...

    def labels(self, keys: Collection[str], transaction: int) -> Iterable[Row[Any]]:
        """Names and aliases of some entities: thing, kind, value."""
        ...


class StoredNames:
    """Names that are looked up when they are asked for."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def things(self, keys: Collection[str], transaction: int) -> Iterable[Row[Any]]:
        """Rows of `things`."""
        return rows_among(self._connection, _THINGS, keys, transaction=transaction)

    def labels(self, keys: Collection[str], transaction: int) -> Iterable[Row[Any]]:
        """Names and aliases."""
        return rows_among(self._connection, _NAMES, keys, transaction=transaction)


class Directory:
    """Views of things on one basis, each looked up once. `said_until`: by what the evidence said by then calls them.

    Any key of an entity finds it. `names` are read where they are looked up for many bases together.
    """

    def __init__(
        self,
        connection: Connection,
        namespace: str,
        transaction: int,
        said_until: Instant | None,
        identity: Identity,
        names: Names | None = None,
    ) -> None:
        self._connection = connection
        self._names: Names = names or StoredNames(connection)
        self._namespace = namespace
        self._transaction = transaction
        self._said_until = said_until
        self.identity = identity
        self._known: dict[str, EntityView | LiteralView] = {}
        self._own: dict[str, str] = {}
        self._looked_up: set[str] = set()

    def load(self, keys: Collection[str]) -> None:
        """Look things up together."""
        self.identity.load(keys)
        wanted = {self.identity.root(key) for key in keys} - self._looked_up
        if not wanted:
            return
        self._looked_up |= wanted
        if self._said_until is not None:
            self._load_told(wanted, self._said_until)
            return
        members = {member: root for root in wanted for member in self.identity.members(root)}
        # A key of another namespace is a stranger here. All members bear the name of the whole.
        known = self._names.things(members, self._transaction)
        found = {members[row.key]: row for row in known if row.namespace == self._namespace}
        others: dict[str, set[str]] = defaultdict(set)
        entities = {member for member, root in members.items() if root in found and found[root].datatype is None}
        for row in self._names.labels(entities, self._transaction):
            others[members[row.thing]].add(row.value)
            if row.kind == "name":
                self._own[row.thing] = min(row.value, self._own.get(row.thing, row.value))
        apart = self._apart(wanted)
        for root, row in found.items():
            if row.datatype is not None:
                self._known[root] = LiteralView(root, row.name, row.datatype)
            else:
                self._known[root] = EntityView(root, row.name, row.type, tuple(sorted(others[root] - {row.name})), apart.get(root))

    def _apart(self, wanted: Collection[str]) -> dict[str, str]:
        """The discriminators of entities that splits have made; of one with several the smallest."""
        made = self.identity.made_by_splits()
        asked = {claim: target for claim, target in made.items() if self.identity.root(target) in wanted}
        found: dict[str, str] = {}
        for row in rows_among(self._connection, _DISCRIMINATORS, asked):
            root = self.identity.root(asked[row.id])
            if not any(source in self.identity.members(root) for source in self.identity.sources(asked[row.id])):
                found[root] = min(row.qualifier, found.get(root, row.qualifier))
        return found

    def _load_told(self, wanted: set[str], said_until: Instant) -> None:
        basis = {"namespace": self._namespace, "transaction": self._transaction, "said_until": said_until}
        told = _Told()
        raws = {raw for root in wanted for raw in self.identity.raws(root)}
        for query in _TOLD:
            for row in rows_among(self._connection, query, raws, **basis):
                own = row.key
                if row.datatype is None and not row.split:
                    own = self.identity.state.mentioned(row.key, row.grp, row.source)
                root = self.identity.root(own)
                if root in wanted:
                    alias = own != row.key and own != self.identity.state.after_split(row.key, row.grp, row.source)
                    told.add(root, row, alias=alias)
                    if not alias:
                        self._own[own] = min(row.name, self._own.get(own, row.name))
        self._known |= told.views(self._apart(wanted))

    def thing(self, key: str) -> EntityView | LiteralView | None:
        """The thing of a key; None where nothing is known of it on the basis."""
        # Only the key of an entity, or of a literal, is known: nothing has to be looked up for one that is.
        known = self._known.get(self.identity.root(key))
        if known is not None:
            return known
        self.load([key])
        return self._known.get(self.identity.root(key))

    def entity(self, key: str) -> EntityView | None:
        """The entity of a key; None for a literal or where nothing is known of it on the basis."""
        found = self.thing(key)
        return found if isinstance(found, EntityView) else None

    def followed(self, key: str) -> str:
        """The key of the entity that a name's key denotes: of several entities that its mentions denote, its own if it is one."""
        self.load([key])
        elsewhere = self.identity.elsewhere(key)
        if elsewhere and self.identity.root(key) not in self._known:
            return elsewhere[0]
        return self.identity.root(key)

    def other_name(self, one: str, other: str) -> LiteralView:
        """Of two keys of one entity the name that is not the entity's, as a literal."""
        whole = self.required(one)
        names = [self._own.get(key, key) for key in (other, one)]
        name = next((name for name in names if not isinstance(whole, EntityView) or name != whole.name), names[0])
        return LiteralView(other, name, "xsd:string")

    def required(self, key: str) -> EntityView | LiteralView:
        """The thing of a key that a statement speaks of; one that is named no more bears the name that claims ever gave it most."""
        known = self.thing(key)
        if known is None:
            values = {"key": key, "transaction": self._transaction}
            rows = [row for query in _EVER for row in self._connection.execute(query, values)]
            counted: Counter[str] = Counter()
            for row in rows:
                counted[row.name] += row.times
            datatype = next((row.datatype for row in rows), None)
            name = best(counted) if counted else key
            return EntityView(self.identity.root(key), name) if datatype is None else LiteralView(key, name, datatype)
        return known


class _Told:
    """What claims call things, counted."""

    def __init__(self) -> None:
        self._names: dict[str, Counter[str]] = defaultdict(Counter)
        self._types: dict[str, Counter[str]] = defaultdict(Counter)
        self._aliases: dict[str, set[str]] = defaultdict(set)
        self._datatypes: dict[str, str | None] = {}

    def add(self, key: str, row: Any, *, alias: bool) -> None:
        """Count what claims call a thing; an alias that one group gives it never becomes its name."""
        self._datatypes[key] = row.datatype
        if alias:
            self._aliases[key].add(row.name)
        else:
            self._names[key][row.name] += row.times
        if row.type is not None:
            self._types[key][row.type] += row.times

    def views(self, apart: Mapping[str, str]) -> dict[str, EntityView | LiteralView]:
        """The things that have a name."""
        found: dict[str, EntityView | LiteralView] = {}
        for key, told in self._names.items():
            name, datatype = best(told), self._datatypes[key]
            if datatype is not None:
                found[key] = LiteralView(key, name, datatype)
            else:
                kind = best(self._types[key]) if key in self._types else None
                found[key] = EntityView(key, name, kind, tuple(sorted((told.keys() | self._aliases[key]) - {name})), apart.get(key))
        return found
