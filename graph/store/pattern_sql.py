"""A plan as one SQL query over the ledger's tables.

Text, not SQLAlchemy's expressions: `CROSS JOIN` is how SQLite is told to keep an order of joining, and putting a query together
costs less so. Names are made here, and all values are bound. What is compared with a variable's key is looked up by an index: of
joined entities the members by their root.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import product
from typing import Any

from graph.store.pattern_plan import End, Known, Plan, Step, Variable, Visit
from graph.store.port import GraphBasis

_COLUMNS = ("subject", "object")


def match_text(plan: Plan, visits: Sequence[Visit], joined: Collection[str] | None, *, after: bool) -> str:
    """The query for one page: rows, propositions and sides of the steps in the order of the question, then keys of the variables.

    `joined`: the known keys that are one of several of their entity; None: nobody is joined with anybody. Binds what `values` gives.
    """
    steps = range(len(plan.steps))
    names = [f"{kind}{place}" for kind in "rpt" for place in steps] + [f"k{place}" for place in range(len(plan.variables))]
    found = " UNION ALL ".join(_Join(plan, visits, sides, joined).ways() for sides in _all_sides(plan))
    place = ", ".join(f"{kind}{number}" for kind in "pt" for number in steps)
    since = ", ".join(f":after_{kind}{number}" for kind in "pt" for number in steps)
    later = f" WHERE ({place}) > ({since})" if after else ""
    # Behind a function, lest SQLite walk all propositions of all namespaces in their order to sort less.
    order = place.replace("p0", "coalesce(p0, '')", 1)
    return f"SELECT {', '.join(names)} FROM ({found}) AS found{later} ORDER BY {order} LIMIT :limit"  # noqa: S608


def counting_text(plan: Plan, visits: Sequence[Visit], joined: Collection[str] | None) -> str:
    """How many ways there are to fulfil the visited steps alone, up to `:limit`: one column for each choice of sides."""
    choices = {tuple(sides[visit.place] for visit in visits): sides for sides in _all_sides(plan)}
    parts = (f"(SELECT count(*) FROM ({_Join(plan, visits, sides, joined).some()}) AS counted)" for sides in choices.values())  # noqa: S608
    return "SELECT " + ", ".join(parts)


def values(basis: GraphBasis, plan: Plan, roots: dict[str, str], after: Sequence[Any] | None, limit: int) -> dict[str, Any]:
    """What the queries bind. `roots`: of each known key that of its entity, which may be left out where it is the same."""
    found: dict[str, Any] = {"namespace": basis.namespace, "at": basis.valid_at, "tx": basis.transaction, "limit": limit}
    found |= {f"known{place}": roots.get(key, key) for place, key in enumerate(plan.known)}
    for place, step in enumerate(plan.steps):
        found |= {f"predicate{place}": step.predicate, f"polarity{place}": step.polarity}
    if after is not None:
        names = [f"after_{kind}{place}" for kind in "pt" for place in range(len(plan.steps))]
        found |= {name: int(value) if isinstance(value, bool) else value for name, value in zip(names, after, strict=True)}
    return found


def _all_sides(plan: Plan) -> list[tuple[bool, ...]]:
    return list(product(*(step.sides() for step in plan.steps)))


class _Join:
    """The joins and conditions of the visited steps, each seen from one side."""

    def __init__(self, plan: Plan, visits: Sequence[Visit], sides: Sequence[bool], joined: Collection[str] | None) -> None:
        self._plan = plan
        self._sides = sides
        self._joined = joined
        self._tables: list[str] = []
        self._conditions: list[str] = []
        self._keys: dict[str, str] = {}
        self._roots: dict[str, str] = {}
        for visit in visits:
            self._visit(visit.place, plan.steps[visit.place], visit.by)

    def ways(self) -> str:
        """All ways, with what is asked of each."""
        steps = range(len(self._plan.steps))
        chosen = [f's{place}."row" AS r{place}' for place in steps]
        chosen += [f"s{place}.proposition AS p{place}" for place in steps]
        chosen += [f"{int(self._sides[place])} AS t{place}" for place in steps]
        chosen += [f"{self._keys[name]} AS k{place}" for place, name in enumerate(self._plan.variables)]
        return f"SELECT {', '.join(chosen)} {self._from()}"

    def some(self) -> str:
        """Up to `:limit` ways."""
        return f"SELECT 1 AS one {self._from()} LIMIT :limit"

    def _from(self) -> str:
        return f"FROM {' '.join(self._tables)} WHERE {' AND '.join(self._conditions)}"

    def _visit(self, place: int, step: Step, by: End | None) -> None:
        turned = self._sides[place]
        ends = dict(zip(_COLUMNS, step.ends(turned), strict=True))
        way_in = next((column for column, end in ends.items() if end == by), None) if by is not None else None
        key = self._members(place, by) if isinstance(by, Variable) else None
        alias = f"s{place}"
        self._tables.append(f"CROSS JOIN statements AS {alias}" if self._tables else f"statements AS {alias}")
        # Behind a function the namespace cannot be searched for: else SQLite may prefer its order by time to the rows looked up.
        namespace = f"{alias}.namespace" if way_in is None else f"coalesce({alias}.namespace, '')"
        self._conditions += [
            f"{alias}.predicate = :predicate{place}",
            f"{alias}.v_from <= :at",
            f"{alias}.v_to > :at",
            f"{alias}.tx_from <= :tx",
            f"{alias}.tx_to > :tx",
            f"{alias}.polarity = :polarity{place}",
            f"{namespace} = :namespace",
        ]
        if turned:
            # A literal is no subject.
            self._conditions.append(f"NOT {alias}.object_is_literal")
        if way_in is not None:
            self._conditions.append(f"{alias}.{way_in} = {key}" if key is not None else self._is_known(f"{alias}.{way_in}", by))
        for column in _COLUMNS:
            if column != way_in:
                self._meet(alias, column, ends[column])
        if step.either and turned:
            # What joins an entity to itself is the same from both sides.
            self._conditions.append(f"{self._root(alias, 'subject')} <> {self._root(alias, 'object')}")

    def _members(self, place: int, variable: Variable) -> str:
        """The keys of what a variable stands for, one by one."""
        root = self._keys[variable.name]
        if self._joined is None:
            return root
        self._tables.append(f"LEFT JOIN components AS m{place} ON m{place}.root = {root} AND {_standing(f'm{place}')}")
        return f"coalesce(m{place}.member, {root})"

    def _meet(self, alias: str, column: str, end: End) -> None:
        """An end by which nothing is looked up: known, bound already, or bound now.

        Behind a function again, lest SQLite look up the end that it is not to: a hub, once for each row so far.
        """
        if isinstance(end, Known):
            self._conditions.append(self._is_known(f"coalesce({alias}.{column}, '')", end))
        elif end.name in self._keys:
            self._conditions.append(f"coalesce({self._root(alias, column)}, '') = {self._keys[end.name]}")
        else:
            self._keys[end.name] = self._root(alias, column)

    def _is_known(self, column: str, end: End | None) -> str:
        assert isinstance(end, Known)
        known = f":known{self._plan.known.index(end.key)}"
        if self._joined is None or end.key not in self._joined:
            return f"{column} = {known}"
        return f"{column} IN (SELECT m.member FROM components AS m WHERE m.root = {known} AND {_standing('m')})"  # noqa: S608

    def _root(self, alias: str, column: str) -> str:
        """The key of the entity at one end of a statement."""
        key = f"{alias}.{column}"
        if self._joined is None:
            return key
        if key not in self._roots:
            component = f"{alias}_{column}"
            self._tables.append(f"LEFT JOIN components AS {component} ON {component}.member = {key} AND {_standing(component)}")
            self._roots[key] = f"coalesce({component}.root, {key})"
        return self._roots[key]


def _standing(alias: str) -> str:
    return f"{alias}.tx_from <= :tx AND {alias}.tx_to > :tx"
