"""Who is meant: names and keys of things on a basis."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, Table, and_, bindparam, func, null, select

from graph.ledger.chunks import among, rows_among
from graph.ledger.schema import claims, labels, things
from graph.views import EntityView, LiteralView
from ontology.claim import CANDIDATE_BELOW, Modality
from ontology.instant import Instant


def believed_at(table: Table, transaction: int) -> ColumnElement[bool]:
    """The rows of a versioned table that stand at a transaction."""
    return and_(table.c.tx_from <= transaction, table.c.tx_to > transaction)


def standing(table: Any) -> ColumnElement[bool]:
    """The same for statements built once: the transaction is the parameter `:transaction`."""
    return and_(table.c.tx_from <= bindparam("transaction"), table.c.tx_to > bindparam("transaction"))


_COLUMNS = (things.c.key, things.c.namespace, things.c.datatype, things.c.name, things.c.type)
_THINGS = select(*_COLUMNS).where(among(things.c.key), standing(things))
_NAMES = select(labels.c.thing, labels.c.value).where(among(labels.c.thing), labels.c.kind == "name", standing(labels))
_FORMER = (
    select(*_COLUMNS)
    .where(things.c.key == bindparam("key"), things.c.tx_from <= bindparam("transaction"))
    .order_by(things.c.tx_from.desc())
    .limit(1)
)


def _told(side: str) -> Select[Any]:
    """What visible claims said by an instant call the things on one side of them, and how often: as `labels` counts them."""
    key, name, type = (claims.c[part] for part in (side, f"{side}_text", f"{side}_type"))
    datatype = claims.c.datatype if side == "object" else null()
    return (
        select(key.label("key"), name.label("name"), type.label("type"), datatype.label("datatype"), func.count().label("times"))
        .where(
            among(key),
            standing(claims),
            claims.c.namespace == bindparam("namespace"),
            claims.c.said <= bindparam("said_until"),
            claims.c.confidence >= CANDIDATE_BELOW,
            claims.c.modality != str(Modality.HYPOTHETICAL),
        )
        .group_by(key, name, type, datatype)
    )


_TOLD = (_told("subject"), _told("object"))


def best(counted: Mapping[str, int]) -> str:
    """The form that is attested most, of equal ones the smallest: a function of the claims, not of their order."""
    return min(counted, key=lambda form: (-counted[form], form))


class Directory:
    """Views of things on one basis, each looked up once. `said_until`: by what the evidence said by then calls them."""

    def __init__(self, connection: Connection, namespace: str, transaction: int, said_until: Instant | None = None) -> None:
        self._connection = connection
        self._namespace = namespace
        self._transaction = transaction
        self._said_until = said_until
        self._known: dict[str, EntityView | LiteralView] = {}

    def load(self, keys: Collection[str]) -> None:
        """Look things up together."""
        wanted = set(keys) - self._known.keys()
        if not wanted:
            return
        if self._said_until is not None:
            self._load_told(wanted, self._said_until)
            return
        # A key of another namespace is a stranger here.
        known = rows_among(self._connection, _THINGS, wanted, transaction=self._transaction)
        found = [row for row in known if row.namespace == self._namespace]
        others: dict[str, list[str]] = defaultdict(list)
        entities = {row.key for row in found if row.datatype is None}
        for row in rows_among(self._connection, _NAMES, entities, transaction=self._transaction):
            others[row.thing].append(row.value)
        for row in found:
            self._known[row.key] = self._view(row, others.get(row.key, []))

    def _load_told(self, wanted: set[str], said_until: Instant) -> None:
        basis = {"namespace": self._namespace, "transaction": self._transaction, "said_until": said_until}
        names: dict[str, Counter[str]] = defaultdict(Counter)
        types: dict[str, Counter[str]] = defaultdict(Counter)
        datatypes: dict[str, str | None] = {}
        for query in _TOLD:
            for row in rows_among(self._connection, query, wanted, **basis):
                names[row.key][row.name] += row.times
                datatypes[row.key] = row.datatype
                if row.type is not None:
                    types[row.key][row.type] += row.times
        for key, told in names.items():
            name, datatype = best(told), datatypes[key]
            if datatype is not None:
                self._known[key] = LiteralView(key, name, datatype)
            else:
                kind = best(types[key]) if key in types else None
                self._known[key] = EntityView(key, name, kind, tuple(sorted(told.keys() - {name})))

    @staticmethod
    def _view(row: Any, names: list[str]) -> EntityView | LiteralView:
        if row.datatype is not None:
            return LiteralView(row.key, row.name, row.datatype)
        return EntityView(row.key, row.name, row.type, tuple(sorted(name for name in names if name != row.name)))

    def thing(self, key: str) -> EntityView | LiteralView | None:
        """The thing of a key; None where nothing is known of it on the basis."""
        self.load([key])
        return self._known.get(key)

    def entity(self, key: str) -> EntityView | None:
        """The entity of a key; None for a literal or where nothing is known of it on the basis."""
        found = self.thing(key)
        return found if isinstance(found, EntityView) else None

    def required(self, key: str) -> EntityView | LiteralView:
        """The thing of a key that a statement speaks of; one that has lost its last claim since keeps the name that it had."""
        known = self.thing(key)
        if known is None:
            former = self._connection.execute(_FORMER, {"key": key, "transaction": self._transaction}).first()
            known = self._view(former, []) if former is not None else EntityView(key, key)
        return known
