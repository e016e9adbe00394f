"""A plan as pattern queries of the graph. Text alone: any engine that speaks Kuzu's Cypher answers it.

One query for each choice of sides: a union could not be put in order as a whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from graph.store.pattern_plan import End, Known, Plan, Step, Variable, Visit
from graph.store.port import GraphBasis

_STANDS = "{0}.tx_from <= $tx AND $tx < {0}.tx_to"
_MEMBER = "[:MEMBER_OF*0..1 ({0}, {0}n | WHERE " + _STANDS + ")]"


def match_text(plan: Plan, sides: Sequence[bool], members: Mapping[str, Sequence[str]] | None, after: Sequence[Any] | None) -> str:
    """Rows, propositions and keys of the variables (any of their members) of the first `$limit` ways seen from some sides.

    `members`: of each known key all keys of its entity; None: nobody is joined with anybody. Binds what `values` gives.
    """
    joined = _Joined(plan, range(len(plan.steps)), sides, members)
    places = range(len(plan.steps))
    rows = [f"s{place}.row AS r{place}" for place in places]
    propositions = [f"s{place}.proposition AS p{place}" for place in places]
    keys = [f"{joined.keys[name]} AS k{number}" for number, name in enumerate(plan.variables)]
    later = [] if after is None else [_later(len(plan.steps), tuple(sides) > tuple(after[len(plan.steps) :]))]
    order = ", ".join(f"p{place}" for place in places)
    return f"{joined.text(later)} RETURN DISTINCT {', '.join(rows + propositions + keys)} ORDER BY {order} LIMIT $limit"


def counting_text(plan: Plan, visits: Sequence[Visit], sides: Sequence[bool], members: Mapping[str, Sequence[str]] | None) -> str:
    """How many ways there are to fulfil the visited steps alone, up to `$most`."""
    places = sorted(visit.place for visit in visits)
    return f"{_Joined(plan, places, sides, members).text()} WITH s{places[0]}.row AS r LIMIT $most RETURN count(*)"


def values(
    basis: GraphBasis, plan: Plan, members: Mapping[str, Sequence[str]] | None, after: Sequence[Any] | None = None, **limits: int
) -> dict[str, Any]:
    """All that the queries may bind."""
    found: dict[str, Any] = {"namespace": basis.namespace, "at": basis.valid_at, "tx": basis.transaction, **limits}
    for number, key in enumerate(plan.known):
        keys = [key] if members is None else members[key]
        found[f"known{number}"] = keys[0] if len(keys) == 1 else list(keys)
    for place, step in enumerate(plan.steps):
        found |= {f"predicate{place}": step.predicate, f"polarity{place}": step.polarity}
    if after is not None:
        found |= {f"after{place}": after[place] for place in range(len(plan.steps))}
    return found


def _later(several: int, beyond: bool) -> str:
    """After a position, for ways seen from sides that are `beyond` those of the position."""
    same = [f"s{place}.proposition = $after{place}" for place in range(several)]
    ways = [" AND ".join([*same[:place], f"s{place}.proposition > $after{place}"]) for place in range(several)]
    return "(" + " OR ".join(ways + ([" AND ".join(same)] if beyond else [])) + ")"


class _Joined:
    """The patterns and conditions of some steps, each seen from one side, and an expression for the key of each variable."""

    def __init__(self, plan: Plan, places: Sequence[int], sides: Sequence[bool], members: Mapping[str, Sequence[str]] | None) -> None:
        self._plan = plan
        self._members = members
        self._patterns: list[str] = []
        self._conditions: list[str] = []
        self._nodes: dict[str, str] = {}
        self._ways = 0
        self.keys: dict[str, str] = {}
        ends = [end for place in places for end in plan.steps[place].sides_given()]
        self._often = Counter(end.name for end in ends if isinstance(end, Variable))
        for place in places:
            self._visit(place, plan.steps[place], sides[place])

    def text(self, conditions: Sequence[str] = ()) -> str:
        """What is matched, where."""
        return f"MATCH {', '.join(self._patterns)} WHERE {' AND '.join([*self._conditions, *conditions])}"

    def _visit(self, place: int, step: Step, turned: bool) -> None:
        s = f"s{place}"
        self._patterns.append(f"({s}:Statement)")
        self._conditions += [
            f"{s}.namespace = $namespace AND {s}.v_from <= $at AND $at < {s}.v_to AND {_STANDS.format(s)}",
            f"{s}.predicate = $predicate{place} AND {s}.polarity = $polarity{place}",
        ]
        if turned:
            # A literal is no subject.
            self._conditions.append(f"NOT {s}.literal")
        for column, end in zip(("subject", "object"), step.ends(turned), strict=True):
            self._end(s, column, end)
        if step.either and turned:
            # What joins an entity to itself is the same from both sides.
            self._conditions.append(f"{s}.subject <> {s}.object")
            if self._members is not None:
                self._conditions.append(self._not_one(s))

    def _end(self, s: str, column: str, end: End) -> None:
        edge = f"({s})-[:{column.upper()}]->"
        if isinstance(end, Known):
            number = self._plan.known.index(end.key)
            if self._members is None or len(self._members[end.key]) == 1:
                self._patterns.append(f"{edge}(:Entity {{key: $known{number}}})")
            else:
                node = f"{s}_{column}"
                self._patterns.append(f"{edge}({node}:Entity)")
                self._conditions.append(f"{node}.key IN $known{number}")
        elif self._often[end.name] == 1:
            self.keys[end.name] = f"{s}.{column}"
        elif end.name not in self._nodes:
            self._nodes[end.name] = f"v{len(self._nodes)}"
            self.keys[end.name] = f"{self._nodes[end.name]}.key"
            self._patterns.append(f"{edge}({self._nodes[end.name]}:Entity)")
        elif self._members is None:
            self._patterns.append(f"{edge}({self._nodes[end.name]})")
        else:
            # From one name of it up to its entity and down to the other; each of the ways is found for itself.
            self._ways += 1
            up, down = (_MEMBER.format(f"{way}{self._ways}") for way in "ud")
            self._patterns.append(f"{edge}(w{self._ways}:Entity)")
            self._patterns.append(f"({self._nodes[end.name]})-{up}->(:Entity)<-{down}-(w{self._ways})")

    def _not_one(self, s: str) -> str:
        """That the ends of a statement are not two names of one."""
        way = f"(:Entity {{key: {s}.subject}})-[{s}u:MEMBER_OF]->(:Entity)<-[{s}d:MEMBER_OF]-(:Entity {{key: {s}.object}})"
        return f"NOT EXISTS {{ MATCH {way} WHERE {_STANDS.format(f'{s}u')} AND {_STANDS.format(f'{s}d')} }}"
