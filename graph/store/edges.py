"""All rectangles of a namespace by column: what an adjacency of the whole graph is made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graph.ledger.schema import OPEN
from ontology.instant import UNBOUNDED_PAST

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Edges:
    """Rectangles in the order of `row`, one place of each array (n,) for each. `subject` and `object` are places in `keys`,
    `predicate` in `predicates`; both lists ascend. `tx_to` is OPEN where the rectangle was still believed.
    """

    keys: list[str]
    predicates: list[str]
    row: Numbers
    subject: Numbers
    predicate: Numbers
    object: Numbers
    literal: NDArray[np.bool_]
    polarity: NDArray[np.bool_]
    v_from: Numbers
    v_to: Numbers
    tx_from: Numbers
    tx_to: Numbers

    def hold(self, valid_at: int, transaction: int) -> NDArray[np.bool_]:
        """(n,): which of them contain an instant and a transaction."""
        valid = (self.v_from <= valid_at) & (valid_at < self.v_to)
        return valid & (self.tx_from <= transaction) & (transaction < self.tx_to)


def assemble(transaction: int, keys: Sequence[str], predicates: Sequence[str], columns: Sequence[Any]) -> Edges:
    """Edges of a transaction from lists of names in any order and columns of Edges in the order of its fields, in any order of rows."""
    row, subject, predicate, value = (np.asarray(column, dtype=np.int64) for column in columns[:4])
    literal, polarity = (np.asarray(column, dtype=np.bool_) for column in columns[4:6])
    order = np.argsort(row, kind="stable")
    keys, places = _ascending(keys)
    predicates, kinds = _ascending(predicates)
    v_from, v_to, tx_from, tx_to = (np.asarray(column, dtype=np.int64)[order] for column in columns[6:])
    # The one store cannot hold the unbounded past itself (kuzu_schema).
    v_from = np.where(v_from == UNBOUNDED_PAST + 1, UNBOUNDED_PAST, v_from)
    tx_to = np.where(tx_to > transaction, OPEN, tx_to)
    ends = places[subject][order], kinds[predicate][order], places[value][order]
    return Edges(keys, predicates, row[order], *ends, literal[order], polarity[order], v_from, v_to, tx_from, tx_to)


def _ascending(names: Sequence[str]) -> tuple[list[str], Numbers]:
    """The names in order, and for each place of before its place now."""
    order = sorted(range(len(names)), key=names.__getitem__)
    places = np.empty(len(names), dtype=np.int64)
    places[order] = np.arange(len(names))
    return [names[place] for place in order], places
