"""Which number of a date is its day: decided by all dates of a file, never guessed."""

from __future__ import annotations

from dataclasses import dataclass, field

from ontology.errors import InvalidInput
from ontology.instant import parse_day
from workers.readers.options import DateOrder

_EARLIEST = 2010
"""Chats on phones that can be exported are not older; so a two-digit year below it is a day."""

_PLACES: dict[DateOrder, tuple[int, int, int]] = {"dmy": (2, 1, 0), "mdy": (2, 0, 1), "ymd": (0, 1, 2)}
Date = tuple[int, int, int]


def day_of(date: Date, order: DateOrder) -> int:
    """The day, counted from 1970, of three numbers as they are written. Raises InvalidInput where there is no such day."""
    year, month, day = (date[place] for place in _PLACES[order])
    year += 2000 if year < 100 else 0
    if year < _EARLIEST:
        raise InvalidInput(f"the year {year} is before {_EARLIEST}", path=("timestamp",), reason="INVALID_DATE")
    return parse_day("-".join(map(str, date)), year, month, day)


@dataclass(slots=True)
class DateOrders:
    """The orders that the dates of a file, in their order, leave open.

    An order is refuted by a date that exists in another one alone (a day above 12), and, weaker, where it makes dates run
    backwards by more than a day while another does not. A date that exists in none refutes nothing: it is a bad line.
    """

    year_first: bool
    full_year: bool
    _last: dict[DateOrder, int] = field(default_factory=dict)
    _refuted: set[DateOrder] = field(default_factory=set)
    _backwards: set[DateOrder] = field(default_factory=set)
    _seen: Date | None = None

    @property
    def _orders(self) -> tuple[DateOrder, ...]:
        if self.full_year:
            return ("ymd",) if self.year_first else ("dmy", "mdy")
        return ("dmy", "mdy", "ymd")

    def add(self, date: Date) -> None:
        """Take note of the next date."""
        if date == self._seen:
            return
        self._seen = date
        days: dict[DateOrder, int] = {}
        for order in self._orders:
            try:
                days[order] = day_of(date, order)
            except InvalidInput:
                continue
        if days:
            self._refuted.update(order for order in self._orders if order not in days)
        for order, day in days.items():
            if day < self._last.get(order, day) - 1:
                self._backwards.add(order)
            self._last[order] = day

    def decided(self, stated: DateOrder | None, *, year_first: bool = False) -> DateOrder | None:
        """The order of the file; None where it is open.

        What a date proves counts first, then what is `stated`, then what the sequence of dates proves. Years of two digits
        come first only where that is stated, where the locale writes so (`year_first`), or where nothing else is left.
        """
        possible: list[DateOrder] = [order for order in self._orders if order not in self._refuted]
        if stated is not None and (stated in possible or not possible):
            return stated
        if "ymd" in possible and len(possible) > 1:
            later: list[DateOrder] = [order for order in possible if order != "ymd"]
            running = "ymd" not in self._backwards and all(order in self._backwards for order in later)
            possible = ["ymd"] if year_first or running else later
        if len(possible) > 1:
            possible = [order for order in possible if order not in self._backwards]
        return possible[0] if len(possible) == 1 else None
