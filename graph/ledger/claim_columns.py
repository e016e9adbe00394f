"""The visible claims of a namespace as columns: a row of the driver is never made an object."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Select, bindparam, case, func, select

from graph.belief.atom_columns import ClaimColumns, Flag, Int
from graph.ledger.columns import Codes
from graph.ledger.evidence import IN_SET
from graph.ledger.schema import claims
from ontology.claim import ClaimKind
from ontology.instant import UNBOUNDED_FUTURE
from ontology.vocabulary import Temporality, Vocabulary

VISIBLE = (claims.c.namespace == bindparam("namespace"), *IN_SET, claims.c.said <= bindparam("said_until"))
"""The claims of a namespace that count, by its name, a transaction and a said-time limit."""
_KINDS = tuple(ClaimKind)
_TOGETHER = 20_000
"""Rows that are turned into columns at a time."""


def _told(name: str) -> Any:
    return func.coalesce(claims.c[name], UNBOUNDED_FUTURE)


_COLUMNS: Mapping[str, Any] = {
    "row": claims.c.row,
    "predicate": claims.c.predicate,
    "slot": claims.c.slot,
    "inverse_slot": claims.c.inverse_slot,
    "proposition": claims.c.proposition,
    "replaced": claims.c.replaces_proposition,
    "polarity": claims.c.polarity,
    "kind": case({kind.value: number for number, kind in enumerate(_KINDS)}, value=claims.c.kind),
    "from_lo": _told("from_lo"),
    "from_hi": _told("from_hi"),
    "to_lo": _told("to_lo"),
    "to_hi": _told("to_hi"),
    "said": claims.c.said,
    "rank": claims.c.rank,
}
_NAMED: Mapping[str, Any] = {**_COLUMNS, "subject": claims.c.subject, "object": claims.c.object}
_NUMBERS: Mapping[str, Any] = {
    "row": np.int64,
    "polarity": np.bool_,
    "kind": np.int8,
    **dict.fromkeys(("from_lo", "from_hi", "to_lo", "to_hi", "said", "rank"), np.int64),
}


class Evidence:
    """Claims as columns: `predicate`, `slot`, `inverse_slot` (-1: none), `proposition` and `replaced` (-1: none) are numbers in
    `predicates`, `slots` and `propositions`. `apart`: those that name something that may denote something else.
    """

    def __init__(self, columns: Mapping[str, NDArray[Any]], predicates: Codes, slots: Codes, propositions: Codes) -> None:
        self.row: Int = columns["row"]
        self.predicate: Int = columns["predicate"]
        self.slot: Int = columns["slot"]
        self.inverse_slot: Int = columns["inverse_slot"]
        self.proposition: Int = columns["proposition"]
        self.replaced: Int = columns["replaced"]
        self.polarity: Flag = columns["polarity"]
        self.apart: Flag = columns["apart"]
        self.correcting: Flag = (columns["kind"] == _KINDS.index(ClaimKind.CORRECTION)) | (self.replaced >= 0)
        self.predicates, self.slots, self.propositions = predicates, slots, propositions
        self._columns = columns

    def __len__(self) -> int:
        return len(self.row)

    def of(self, which: Int, vocabulary: Vocabulary) -> ClaimColumns:
        """Some of the claims as belief reads them."""
        columns = self._columns
        static = np.array([vocabulary.predicate(name).temporal is Temporality.STATIC for name in self.predicates.values], bool)
        state, change, end = (columns["kind"][which] == _KINDS.index(kind) for kind in (ClaimKind.STATE, ClaimKind.CHANGE, ClaimKind.END))
        bounds = (columns[name][which] for name in ("from_lo", "from_hi", "to_lo", "to_hi", "said", "rank"))
        return ClaimColumns(columns["polarity"][which], state, change, end, static[self.predicate[which]], *bounds)


def read(connection: Connection, values: Mapping[str, Any], concerned: Collection[str], most: int) -> Evidence | None:
    """The claims that are visible by `values`; None where they are more than `most`. `concerned` are the keys that may denote other things
    than themselves. About 130 bytes a claim, and 200 while they are read.
    """
    wanted = _NAMED if concerned else _COLUMNS
    predicates, slots, propositions = Codes(), Codes(), Codes()
    codes = {"predicate": predicates, "slot": slots, "inverse_slot": slots, "proposition": propositions, "replaced": propositions}
    parts: dict[str, list[NDArray[Any]]] = {name: [] for name in (*codes, *_NUMBERS, "apart")}
    count = 0
    for rows in _rows(connection, select(*wanted.values()).where(*VISIBLE), values):
        count += len(rows)
        if count > most:
            return None
        part = dict(zip(wanted, zip(*rows, strict=True), strict=True))
        for name, known in codes.items():
            parts[name].append(_numbered(known, part[name]))
        for name, dtype in _NUMBERS.items():
            parts[name].append(np.array(part[name], dtype))
        if concerned:
            named = (one in concerned or other in concerned for one, other in zip(part["subject"], part["object"], strict=True))
            parts["apart"].append(np.fromiter(named, bool, len(rows)))
        else:
            parts["apart"].append(np.zeros(len(rows), bool))
    dtypes: dict[str, Any] = {**dict.fromkeys(codes, np.int64), **_NUMBERS, "apart": np.bool_}
    joined = {name: np.concatenate(found) if found else np.empty(0, dtypes[name]) for name, found in parts.items()}
    return Evidence(joined, predicates, slots, propositions)


def _rows(connection: Connection, query: Select[Any], values: Mapping[str, Any]) -> Iterator[Sequence[Sequence[Any]]]:
    with connection.execute(query, values) as found:
        cursor: Any = found.cursor
        while rows := cursor.fetchmany(_TOGETHER):
            yield rows


def _numbered(codes: Codes, values: Sequence[str | None]) -> Int:
    """Numbers of strings; -1 for none."""
    known = codes.of
    return np.array([-1 if value is None else known.setdefault(value, len(known)) for value in values], np.int64)
