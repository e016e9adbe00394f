"""All rectangles that are believed on a basis, as columns: for questions about the whole of a namespace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import select

from graph.ledger.chunks import among, rows_among
from graph.ledger.details import Describer
from graph.ledger.rectangles import COLUMNS, Rectangle, rectangle
from graph.ledger.schema import statements
from graph.ledger.standing import standing
from ontology.instant import UNBOUNDED_FUTURE, Instant

if TYPE_CHECKING:
    from graph.ledger.column_reading import Reading

Int = NDArray[np.int64]
Code = NDArray[np.int32]
Flag = NDArray[np.bool_]
Keys = NDArray[np.bytes_]

_SOME = select(*COLUMNS).where(among(statements.c.proposition), standing(statements))


class Codes:
    """Numbers for strings, in the order in which they were met."""

    def __init__(self, known: Codes | None = None) -> None:
        """`known`: numbers that stay as they are."""
        self.of: dict[str, int] = {} if known is None else dict(known.of)

    def add(self, values: Iterable[str]) -> list[int]:
        """The numbers of some strings; new ones for new strings."""
        known = self.of
        return [known.setdefault(value, len(known)) for value in values]

    @cached_property
    def values(self) -> list[str]:
        """The strings by their numbers. To be asked for when all are known."""
        return list(self.of)


def ranks(values: Sequence[str]) -> Code:
    """The place of each string in the order of all; of equal strings the same."""
    place = {value: number for number, value in enumerate(sorted(set(values)))}
    return np.fromiter((place[value] for value in values), np.int32, len(values))


@dataclass(frozen=True)
class Columns:
    """Columns of one length, one row a rectangle, in no order. `subject` and `object` are numbers in `things`: of the entities that
    there are, not of the keys under which a rectangle is stored (of identity claims too). `base` is the key of its proposition
    between these, by which evidence is found. `created` is when the transaction of `tx_from` was recorded. `first` and `last` are
    the ranks of the names by which statements are sorted. About 160 bytes a row, with what `later` needs (`read`).
    """

    base: Keys
    proposition: Keys
    subject: Code
    predicate: Code
    qualifier: Code
    object: Code
    positive: Flag
    v_from: Int
    v_to: Int
    created: Int
    first: Code
    last: Code
    things: Codes
    predicates: Codes
    qualifiers: Codes
    names: list[str]
    name_at: Code
    """The name's place in `names` by the number of a thing."""
    read: Reading

    def __len__(self) -> int:
        return len(self.base)

    @cached_property
    def _predicate_rank(self) -> Code:
        return ranks(self.predicates.values)

    @cached_property
    def _qualifier_rank(self) -> Code:
        return ranks(self.qualifiers.values)

    def holding(self, at: Instant) -> Flag:
        """Which hold at an instant."""
        found: Flag = (self.v_from <= at) & (at < self.v_to)
        return found

    def opened(self, rows: Int) -> dict[tuple[str, bool], Instant]:
        """Of some rows those that hold without end: by proposition and polarity since when."""
        rows = rows[self.v_to[rows] == UNBOUNDED_FUTURE]
        return dict(zip(self.values(rows), self.v_from[rows].tolist(), strict=True))

    def values(self, rows: Int) -> Iterator[tuple[str, bool]]:
        """Proposition and polarity of some rows."""
        return zip(map(bytes.decode, self.base[rows].tolist()), self.positive[rows].tolist(), strict=True)

    def in_order(self, rows: Int, *, by: Sequence[NDArray[Any]] = ()) -> Int:
        """Some rows in the order of statements; `by`: keys of theirs that go before that, the first one first, ascending."""
        keys = [
            # Downwards: newest first.
            ~self.v_from[rows],
            self.first[rows],
            self._predicate_rank[self.predicate[rows]],
            self._qualifier_rank[self.qualifier[rows]],
            self.last[rows],
            self.positive[rows],
            self.proposition[rows],
        ]
        return rows[np.lexsort([*reversed(keys), *reversed(by)])] if len(rows) else rows

    def position(self, row: int) -> tuple[Any, ...]:
        """The keyset position of a row in the order of statements."""
        return (
            int(self.v_from[row]),
            self.names[self.first[row]],
            self.predicates.values[self.predicate[row]],
            self.qualifiers.values[self.qualifier[row]],
            self.names[self.last[row]],
            bool(self.positive[row]),
            self.proposition[row].decode(),
        )

    def name_of(self, thing: int) -> str:
        """The name by which a thing is sorted."""
        return self.names[int(self.name_at[thing])]

    def rectangles(self, describer: Describer, rows: Sequence[int], transaction: int) -> list[Rectangle]:
        """Some rows as they are stored, in their order."""
        wanted = [(self.proposition[row].decode(), int(self.v_from[row])) for row in rows]
        propositions = {proposition for proposition, _ in wanted}
        stored = map(rectangle, rows_among(describer.rows, _SOME, propositions, transaction=transaction))
        found = {(row.proposition, row.v_from): row for row in stored}
        return [found[each] for each in wanted]


def sortable(position: Sequence[Any]) -> tuple[Any, ...]:
    """What positions in the order of statements are compared by."""
    return (-position[0], *position[1:])
