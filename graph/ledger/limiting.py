"""What the tables of a namespace hold at a transaction under a said-time limit: made from the stored rows and a resolution."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, bindparam, func, literal, select

from graph.ledger.directory import Told, namings
from graph.ledger.identity import Identity
from graph.ledger.limited import COLUMNS, Limited
from graph.ledger.schema import OPEN, claims, components, denotations, episodes, metadata, statements, things
from graph.ledger.standing import standing
from graph.ledger.told import Resolution
from ontology.errors import QueryTooComplex
from ontology.instant import Instant
from ontology.names import normalise

MOST_STATEMENTS = 500_000
"""Most statements of a namespace that are held in memory under a limit; some 900 bytes each, with what was said of them."""

_TOLD_IN = and_(claims.c.episode == episodes.c.key, claims.c.revision == episodes.c.revision)
_MINE = episodes.c.namespace == bindparam("namespace")
# By the episodes: of claims alone no index leads to those of a namespace.
_SAID = (
    select(*(claims.c[name] for name in COLUMNS["claims"]))
    .join_from(episodes, claims, _TOLD_IN)
    .where(_MINE, episodes.c.said <= bindparam("said_until"), claims.c.believed, standing(claims))
)
_EPISODES = select(*(episodes.c[name] for name in COLUMNS["episodes"])).where(_MINE, episodes.c.said <= bindparam("said_until"))
# Each as often as it was said: to tell them apart costs the database more than it costs here.
_NAMED_LATER = (
    select(claims.c.subject, claims.c.object, claims.c.datatype, claims.c.grp, claims.c.source)
    .join_from(episodes, claims, _TOLD_IN)
    .where(_MINE, episodes.c.said > bindparam("said_until"), standing(claims))
)
_HOW_MANY = select(func.count()).where(statements.c.namespace == bindparam("namespace"), standing(statements))


def _stored(name: str) -> Select[Any]:
    """The rows of a table that stand at the transaction, as if they began with it."""
    table = metadata.tables[name]
    as_if: dict[str, ColumnElement[Any]] = {"tx_from": bindparam("transaction"), "tx_to": literal(OPEN)}
    columns = [as_if.get(column.name, column) for column in table.c]
    return select(*columns).where(table.c.namespace == bindparam("namespace"), standing(table)).order_by(table.c.row)


_STORED = {table.name: _stored(table.name) for table in (statements, things, components, denotations)}


@dataclass(frozen=True, slots=True)
class Limiting:
    """What a namespace is made of at `transaction` by what was said by `said_until`.

    `stored` and `told` say who is who at the transaction, by everything and under the limit; `resolution` what the limit changes.
    """

    connection: Connection
    transaction: int
    said_until: Instant
    stored: Identity
    told: Identity
    resolution: Resolution

    def tables(self) -> Limited:
        """The tables. Raises QueryTooComplex where they would hold too much."""
        count = self.connection.scalar(_HOW_MANY, self._values) or 0
        if count > MOST_STATEMENTS:
            raise QueryTooComplex(
                f"the namespace has {count:,} statements; with `evidenceUntil` all of them are listed up to {MOST_STATEMENTS:,}: "
                "ask about single entities, slots or episodes"
            )
        named = self._named_anew()
        anew = list(self._things(named))
        datatypes = {row[1]: row[2] for row in anew}
        return Limited(
            (
                ("things", self._kept("things", "key", named, anew)),
                ("statements", self._kept("statements", "base", self.resolution.gone, self._made(datatypes))),
                ("components", self._kept("components", "member", self.resolution.renamed, self._components())),
                ("denotations", self._kept("denotations", "key", self.resolution.renamed, self._denotations())),
                ("claims", self._read(_SAID)),
                ("episodes", self._read(_EPISODES)),
            )
        )

    @property
    def _values(self) -> dict[str, Any]:
        return {"namespace": self.stored.namespace, "transaction": self.transaction, "said_until": self.said_until}

    def _read(self, query: Select[Any]) -> Iterator[Sequence[Any]]:
        """Rows as the driver has them: what the database gave it takes back, and row by row nothing is done to them."""
        names = query.compile().params
        cursor: Any = self.connection.execute(query, {name: value for name, value in self._values.items() if name in names}).cursor
        return iter(cursor)

    def _kept(self, name: str, column: str, gone: Collection[str], instead: Iterable[Sequence[Any]]) -> Iterator[Sequence[Any]]:
        """The stored rows but for what is gone, and behind them what stands in their place, without row numbers."""
        key = itemgetter(COLUMNS[name].index(column))
        last = 0
        for row in self._read(_STORED[name]):
            last = row[0]
            if key(row) not in gone:
                yield row
        for row in instead:
            last += 1
            yield (last, *row)

    def _made(self, datatypes: dict[str, str | None]) -> Iterator[Sequence[Any]]:
        literals = self._literals({row.object for row in self.resolution.rectangles} - datatypes.keys())
        literals |= {key for key, datatype in datatypes.items() if datatype is not None}
        # In an order that is none of the resolution's making: the same rows have the same numbers whenever they are made.
        for row in sorted(self.resolution.rectangles, key=lambda row: (-row.v_from, row.proposition)):
            where = (row.proposition, row.base, row.slot, row.inverse_slot, row.subject, row.predicate, row.qualifier, row.object)
            what = (row.object in literals, row.polarity, row.v_from, row.v_to)
            yield (self.stored.namespace, *where, *what, self.transaction, OPEN)

    def _literals(self, keys: Collection[str]) -> set[str]:
        """Of things that are named as they are stored those that are literals."""
        stored = ((row[2], row[3]) for row in self._read(_STORED["things"])) if keys else ()
        return {key for key, datatype in stored if datatype is not None and key in keys}

    # ------------------------------------------------------------ who is who

    def _components(self) -> Iterator[Sequence[Any]]:
        roots = self.told.state.roots
        for member in sorted(self.resolution.renamed & roots.keys()):
            yield (self.stored.namespace, member, roots[member], self.transaction, OPEN)

    def _denotations(self) -> Iterator[Sequence[Any]]:
        state, renamed = self.told.state, self.resolution.renamed
        rules: list[tuple[Any, ...]] = []
        for key in renamed & state.splits.keys():
            for split in state.splits[key]:
                scope = (split.scope_group, split.scope_source)
                rules.append((key, split.target, "split", *scope, split.rank, split.said, split.claim))
        rules += [(key, target, "join", *group, 0, 0, "") for (group, key), target in state.joins.items() if key in renamed]
        for rule in sorted(rules, key=str):
            yield (self.stored.namespace, *rule, self.transaction, OPEN)

    # ------------------------------------------------------------ names

    def _named_anew(self) -> set[str]:
        """The keys of all things that may be called otherwise under the limit: with each of an entity, before or under it, all."""
        named: set[str] = set(self.resolution.renamed)
        spoken = set(map(tuple, self._read(_NAMED_LATER)))
        raws = {key for row in spoken for key in row[:2]} | named
        identities = (self.stored,) if self.stored.nothing_joined and self.told.nothing_joined else (self.stored, self.told)
        for identity in identities:
            identity.load(raws)
        for subject, object, datatype, group, source in spoken:
            named |= {subject, object}
            if not self.stored.trivial:
                named |= {self.stored.state.mentioned(key, group, source) for key in (subject, *(() if datatype else (object,)))}
        fresh = named
        while fresh and len(identities) > 1:
            for identity in identities:
                identity.load(fresh)
            fresh = {member for identity in identities for key in fresh for member in identity.members(key)} - named
            named |= fresh
        return named

    def _things(self, keys: Collection[str]) -> Iterator[Sequence[Any]]:
        self.told.load(keys)
        roots = {self.told.root(key) for key in keys}
        whole, own = Told(), Told()
        for naming in namings(self.connection, self.told, self.stored.namespace, self.transaction, self.said_until, roots):
            whole.add(self.told.root(naming.own), naming)
            own.add(naming.own, naming)
        members: dict[str, list[str]] = defaultdict(list)
        for root in roots:
            members[root] = sorted(self.told.members(root))
        for root in sorted(roots):
            named = whole.best(root)
            if named is None:
                continue
            name, kind, datatype = named
            for member in members[root]:
                called = own.best(member)
                called_itself = "" if called is None else normalise(called[0])
                what = (datatype, name, normalise(name), kind, called_itself)
                yield (self.stored.namespace, member, *what, self.transaction, OPEN)
