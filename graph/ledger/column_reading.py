"""Reading the rectangles of a basis into columns: all of them, or what has changed since an earlier transaction."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import BindParameter, Select, bindparam, select

from graph.belief.identity import IDENTITY
from graph.ledger.columns import Codes, Columns, Int, ranks
from graph.ledger.details import Describer
from graph.ledger.history import transaction_times
from graph.ledger.identity import Identity, Place
from graph.ledger.schema import statements, things
from graph.ledger.standing import standing
from ontology.instant import Instant

TOGETHER = 50_000
"""Rows that are turned into columns at a time."""
LATER_SHARE, LATER_ROWS = 4, 1_000
"""Columns are carried forward where no more than a quarter of their rows, and some, have closed since."""
_IN_NAMESPACE = (statements.c.namespace == bindparam("namespace"), standing(statements))
_SELECTED = (
    statements.c.row,
    statements.c.proposition,
    statements.c.base,
    statements.c.subject,
    statements.c.predicate,
    statements.c.qualifier,
    statements.c.object,
    statements.c.object_is_literal,
    statements.c.polarity,
    statements.c.v_from,
    statements.c.v_to,
    statements.c.tx_from,
    statements.c.inverse_slot,
)
_ALL = select(*_SELECTED).where(*_IN_NAMESPACE)
_SINCE: BindParameter[int] = bindparam("before")
OPENED = select(*_SELECTED).where(*_IN_NAMESPACE, statements.c.tx_from > _SINCE)
CLOSED = select(statements.c.row).where(
    statements.c.namespace == bindparam("namespace"),
    statements.c.tx_to > _SINCE,
    statements.c.tx_to <= bindparam("transaction"),
    statements.c.tx_from <= _SINCE,
)
_NAMES = select(things.c.key, things.c.name, things.c.folded).where(things.c.namespace == bindparam("namespace"), standing(things))
# Of all namespaces: with one told the database would look through all names of it.
RENAMED = select(things.c.key, things.c.name, things.c.folded, things.c.namespace).where(things.c.tx_from > _SINCE, standing(things))


def columns(describer: Describer, namespace: str, transaction: int, concerned: Collection[str], symmetric: Collection[str]) -> Columns:
    """The rectangles believed at a transaction, as the connection `describer.rows` has them.

    `concerned` are the keys that may denote other things than themselves, loaded in `describer.identity`. Of `symmetric` predicates
    the statements are sorted as they are shown, whichever way they are stored.
    """
    values = {"namespace": namespace, "transaction": transaction}
    reading = Reading(frozenset(concerned))
    reading.take(describer, _ALL, values)
    return reading.made(describer, symmetric, _called(describer, _NAMES, values))


def later(
    describer: Describer,
    earlier: Columns,
    namespace: str,
    before: int,
    transaction: int,
    symmetric: Collection[str],
) -> Columns | None:
    """The same from the columns of an earlier transaction, of which everybody was who they are now, with no limit on either; None where
    so much has changed since that reading all takes no longer.
    """
    values = {"namespace": namespace, "transaction": transaction, "before": before}
    most = len(earlier) // LATER_SHARE + LATER_ROWS
    closed = describer.rows.execute(CLOSED.limit(most + 1), values).scalars().all()
    if len(closed) > most:
        return None
    reading = earlier.read.without(np.array(closed, np.int64))
    describer.identity.load(reading.concerned)
    reading.take(describer, OPENED, values)
    return reading.made(describer, symmetric, earlier.read.called | _renamed(describer, values))


def _called(describer: Describer, query: Select[Any], values: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    return {row.key: (row.name, row.folded) for row in describer.rows.execute(query, values)}


def _renamed(describer: Describer, values: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    rows = describer.rows.execute(RENAMED, {name: values[name] for name in ("before", "transaction")})
    return {row.key: (row.name, row.folded) for row in rows if row.namespace == values["namespace"]}


class Reading:
    """Columns while they are read, and what of them a later transaction goes on from. `called`: names by the keys of things."""

    def __init__(self, concerned: frozenset[str]) -> None:
        self.concerned = concerned
        self._parts: dict[str, list[NDArray[Any]]] = {}
        self._things, self._predicates, self._qualifiers = Codes(), Codes(), Codes()
        self._times: dict[int, Instant] = {}
        self.called: dict[str, tuple[str, str]] = {}

    def without(self, closed: Int) -> Reading:
        """The same, to be read on, without the statements of some rows of the database."""
        found = Reading(self.concerned)
        kept = ~np.isin(self.joined("row", np.int64), closed)
        found._parts = {name: [self.joined(name, None)[kept]] for name in list(self._parts)}
        found._things, found._predicates, found._qualifiers = map(Codes, (self._things, self._predicates, self._qualifiers))
        found._times = self._times
        return found

    def take(self, describer: Describer, query: Select[Any], values: Mapping[str, Any]) -> None:
        """Some more rows of _SELECTED."""
        with describer.rows.execute(query, values, execution_options={"yield_per": TOGETHER}) as found:
            for part in found.partitions():
                self._take(describer.identity, part)

    def _take(self, identity: Identity, part: Sequence[Any]) -> None:
        row, proposition, base, subject, predicate, qualifier, object, literal, positive, v_from, v_to, tx_from, inverse = zip(
            *part, strict=True
        )
        self._add("row", row, np.int64)
        self._add("proposition", proposition, "S32")
        # Of what is stored under other keys the names are sorted by.
        self._add("stored_subject", self._things.add(subject), np.int32)
        self._add("stored_object", self._things.add(object), np.int32)
        if self.concerned:
            base, subject, object = map(tuple, self._read(identity, base, subject, predicate, qualifier, object, inverse))
        self._add("base", base, "S32")
        self._add("subject", self._things.add(subject), np.int32)
        self._add("object", self._things.add(object), np.int32)
        self._add("predicate", self._predicates.add(predicate), np.int32)
        self._add("qualifier", self._qualifiers.add(qualifier), np.int32)
        self._add("literal", literal, np.bool_)
        self._add("positive", positive, np.bool_)
        self._add("v_from", v_from, np.int64)
        self._add("v_to", v_to, np.int64)
        self._add("tx_from", tx_from, np.int64)

    def _read(
        self,
        identity: Identity,
        bases: Sequence[str],
        subjects: Sequence[str],
        predicates: Sequence[str],
        qualifiers: Sequence[str],
        objects: Sequence[str],
        inverses: Sequence[str | None],
    ) -> tuple[list[str], list[str], list[str]]:
        """Base, subject and object as the basis reads them."""
        concerned = self.concerned
        read: tuple[list[str], list[str], list[str]] = ([], [], [])
        for base, one, predicate, qualifier, other, inverse in zip(bases, subjects, predicates, qualifiers, objects, inverses, strict=True):
            if one in concerned or other in concerned:
                if predicate != IDENTITY:
                    base = identity.here(Place(base, "", inverse, predicate, one, qualifier, other)).proposition
                one, other = identity.root(one), identity.root(other)
            for into, value in zip(read, (base, one, other), strict=True):
                into.append(value)
        return read

    def _add(self, name: str, values: Sequence[Any], dtype: Any) -> None:
        self._parts.setdefault(name, []).append(np.array(values, dtype))

    def joined(self, name: str, dtype: Any) -> NDArray[Any]:
        """A whole column."""
        parts = self._parts.setdefault(name, [])
        if len(parts) != 1:
            # Kept so: the columns that are made of it are the same arrays.
            self._parts[name] = parts = [np.concatenate(parts) if parts else np.empty(0, dtype)]
        return parts[0]

    def made(self, describer: Describer, symmetric: Collection[str], called: dict[str, tuple[str, str]]) -> Columns:
        """The columns, with names of things and times of transactions."""
        self.called = called
        keys = self._things.values
        own = [called.get(key, ("", "")) for key in keys]
        names = sorted({name for name, _ in own})
        place = {name: number for number, name in enumerate(names)}
        name_at = np.fromiter((place[name] for name, _ in own), np.int32, len(own))
        one, other = self.joined("stored_subject", np.int32), self.joined("stored_object", np.int32)
        predicate = self.joined("predicate", np.int32)
        first, last = name_at[one], name_at[other]
        if symmetric:
            folded = ranks([fold for _, fold in own])
            paired = np.isin(predicate, [number for name, number in self._predicates.of.items() if name in symmetric])
            turned = paired & ~self.joined("literal", np.bool_) & (folded[other] < folded[one])
            first, last = np.where(turned, last, first), np.where(turned, first, last)
        tx_from = self.joined("tx_from", np.int64)
        numbers, at = np.unique(tx_from, return_inverse=True)
        times = transaction_times(describer.connection, set(numbers.tolist()) - self._times.keys()) | self._times
        self._times = times
        created = np.fromiter((times[number] for number in numbers.tolist()), np.int64, len(numbers))[at]
        return Columns(
            self.joined("base", "S32"),
            self.joined("proposition", "S32"),
            self.joined("subject", np.int32),
            predicate,
            self.joined("qualifier", np.int32),
            self.joined("object", np.int32),
            self.joined("positive", np.bool_),
            self.joined("v_from", np.int64),
            self.joined("v_to", np.int64),
            created,
            first,
            last,
            self._things,
            self._predicates,
            self._qualifiers,
            names,
            name_at,
            self,
        )
