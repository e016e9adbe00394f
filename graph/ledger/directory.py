"""Who is meant: names and keys of things on a basis."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, bindparam, case, exists, func, literal, null, or_, select

from graph.ledger.chunks import among, rows_among
from graph.ledger.identity import SOURCE, Identity
from graph.ledger.schema import claims, labels, things
from graph.ledger.standing import standing
from graph.ledger.told_identity import OF_IDENTITY
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


_SPLIT = or_(claims.c.scope_group.is_not(None), claims.c.scope_source.is_not(None))


def _naming(side: str) -> tuple[ColumnElement[bool], ...]:
    """The visible claims said by an instant that name what stands on one side of them."""
    return (
        standing(claims),
        claims.c.namespace == bindparam("namespace"),
        claims.c.said <= bindparam("said_until"),
        claims.c.confidence >= CANDIDATE_BELOW,
        claims.c.modality != str(Modality.HYPOTHETICAL),
        # As `labels.naming_sides`: what is stated by key names nothing, but a split the entity that it makes.
        or_(claims.c.source != SOURCE, and_(_SPLIT, claims.c.turned.is_(side == "subject"))),
    )


def _told(side: str, *, anywhere: bool) -> Select[Any]:
    """What visible claims said by an instant call the things on one side of them, and how often: as `labels` counts them.

    `anywhere`: a name means the same in all groups and sources.
    """
    key, name, type = (claims.c[part] for part in (side, f"{side}_text", f"{side}_type"))
    datatype = claims.c.datatype if side == "object" else null()
    told_in = (null().label("grp"), literal("").label("source")) if anywhere else (claims.c.grp, claims.c.source)
    return (
        select(
            key.label("key"),
            name.label("name"),
            type.label("type"),
            datatype.label("datatype"),
            *told_in,
            _SPLIT.label("split"),
            func.count().label("times"),
        )
        .where(among(key), *_naming(side))
        .group_by(key, name, type, datatype, *(() if anywhere else told_in), "split")
    )


_TOLD, _TOLD_ANYWHERE = (tuple(_told(side, anywhere=anywhere) for side in ("subject", "object")) for anywhere in (False, True))


def _given(side: str) -> ColumnElement[bool]:
    """Whether a visible claim said by an instant gives a thing on that side the name or type that a row of `labels` has."""
    form = case((labels.c.kind == "name", claims.c[f"{side}_text"]), else_=claims.c[f"{side}_type"])
    return exists().where(claims.c[side] == labels.c.thing, *_naming(side), form == labels.c.value)


_GIVEN = select(
    labels.c.thing,
    labels.c.kind,
    labels.c.value,
    select(things.c.datatype).where(things.c.key == labels.c.thing).limit(1).scalar_subquery().label("datatype"),
).where(among(labels.c.thing), labels.c.kind != "alias", standing(labels), or_(_given("subject"), _given("object")))
_IN_IDENTITY = tuple(select(key.label("key")).distinct().where(among(key), OF_IDENTITY) for key in (claims.c.subject, claims.c.object))


class Naming(NamedTuple):
    """What claims call a thing, and how often. `alias`: one group alone means it by another's name."""

    own: str
    name: str
    type: str | None
    datatype: str | None
    times: int
    alias: bool


def namings(
    connection: Connection, identity: Identity, namespace: str, transaction: int, said_until: Instant, roots: Collection[str]
) -> Iterator[Naming]:
    """What visible claims said by an instant call some entities, by the key of theirs that a mention counts for. `load` them before."""
    basis = {"namespace": namespace, "transaction": transaction, "said_until": said_until}
    raws = {raw for root in roots for raw in identity.raws(root)}
    for query in _TOLD_ANYWHERE if identity.nothing_joined else _TOLD:
        for row in rows_among(connection, query, raws, **basis):
            own = row.key
            if row.datatype is None and not row.split:
                own = identity.state.mentioned(row.key, row.grp, row.source)
            if identity.root(own) in roots:
                alias = own != row.key and own != identity.state.after_split(row.key, row.grp, row.source)
                yield Naming(own, row.name, row.type, row.datatype, row.times, alias)


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
        counted = wanted - self._known_by_one_form(wanted, said_until)
        told = Told()
        for naming in namings(self._connection, self.identity, self._namespace, self._transaction, said_until, counted):
            told.add(self.identity.root(naming.own), naming)
            if not naming.alias:
                self._own[naming.own] = min(naming.name, self._own.get(naming.own, naming.name))
        self._known |= told.views(self._apart(counted))

    def _known_by_one_form(self, wanted: set[str], said_until: Instant) -> set[str]:
        """Note what has one name and at most one type under the limit, where no identity claim speaks of it: nothing need be counted.

        Of what very many claims name that is found by the first of them.
        """
        plain = wanted
        if not self.identity.nothing_joined:
            plain = wanted - {row.key for query in _IN_IDENTITY for row in rows_among(self._connection, query, wanted)}
        basis = {"namespace": self._namespace, "transaction": self._transaction, "said_until": said_until}
        forms: dict[str, list[Any]] = defaultdict(list)
        for row in rows_among(self._connection, _GIVEN, plain, **basis):
            forms[row.thing].append(row)
        for key, given in forms.items():
            names, types = ([row.value for row in given if row.kind == kind] for kind in ("name", "type"))
            if len(names) == 1 and len(types) <= 1:
                datatype = given[0].datatype
                self._own[key] = names[0]
                self._known[key] = LiteralView(key, names[0], datatype) if datatype else EntityView(key, names[0], *types)
        # What no form is given to has none.
        return {key for key in plain if key in self._known or key not in forms}

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


class Told:
    """What claims call things, counted."""

    def __init__(self) -> None:
        self._names: dict[str, Counter[str]] = defaultdict(Counter)
        self._types: dict[str, Counter[str]] = defaultdict(Counter)
        self._aliases: dict[str, set[str]] = defaultdict(set)
        self._datatypes: dict[str, str | None] = {}

    def add(self, key: str, naming: Naming) -> None:
        """Count what claims call a thing; an alias that one group gives it never becomes its name."""
        self._datatypes[key] = naming.datatype
        if naming.alias:
            self._aliases[key].add(naming.name)
        else:
            self._names[key][naming.name] += naming.times
        if naming.type is not None:
            self._types[key][naming.type] += naming.times

    def best(self, key: str) -> tuple[str, str | None, str | None] | None:
        """Name, type and datatype of a thing; None where it has no name."""
        if key not in self._names:
            return None
        kind = best(self._types[key]) if key in self._types else None
        return best(self._names[key]), kind, self._datatypes[key]

    def views(self, apart: Mapping[str, str]) -> dict[str, EntityView | LiteralView]:
        """The things that have a name."""
        found: dict[str, EntityView | LiteralView] = {}
        for key, told in self._names.items():
            named = self.best(key)
            assert named is not None
            name, kind, datatype = named
            if datatype is not None:
                found[key] = LiteralView(key, name, datatype)
            else:
                found[key] = EntityView(key, name, kind, tuple(sorted((told.keys() | self._aliases[key]) - {name})), apart.get(key))
        return found
