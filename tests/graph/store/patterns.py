"""Random plans, and what they find by trying every statement for every step: the oracle of both engines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from random import Random
from typing import Any

from sqlalchemy import select

from graph.ledger.schema import components, statements
from graph.store.path_search import Link
from graph.store.pattern_plan import End, Found, Known, Plan, Step, Variable
from graph.store.port import GraphBasis
from tests.graph.store.ledgers import PREDICATES, LedgerBuilder, Proposition

SYMMETRIC = frozenset({"knows"})


def random_plan(random: Random, ledger: LedgerBuilder, names: int) -> Plan:
    """One to three steps over a few variables, names and numbers; some are asked from the other side, some for denials."""

    def end(*, literal: bool) -> End:
        if random.random() < 0.6:
            return Variable(random.choice("xyz"))
        name = f"n{random.randrange(names)}"
        return Known(ledger.object_key(Proposition("", "age" if literal else "knows", name)))

    steps = []
    for _ in range(random.choice((1, 2, 2, 3))):
        predicate = random.choice(PREDICATES)
        either = predicate in SYMMETRIC
        turned = not either and random.random() < 0.2
        subject, value = end(literal=False), end(literal=predicate == "age" and random.random() < 0.8)
        steps.append(Step(subject, predicate, value, random.random() < 0.8, turned, either))
    return Plan(tuple(steps))


class Plain:
    """The statements that hold on a basis, and who is who there."""

    def __init__(self, ledger: LedgerBuilder, basis: GraphBasis) -> None:
        with ledger.engine.connect() as connection:
            stood = (components.c.tx_from <= basis.transaction, components.c.tx_to > basis.transaction)
            members = connection.execute(select(components.c.member, components.c.root).where(*stood))
            self._roots: dict[str, str] = {row.member: row.root for row in members}
            rows = connection.execute(select(statements).where(statements.c.namespace == basis.namespace)).all()
        held = [row for row in rows if row.v_from <= basis.valid_at < row.v_to]
        self._rows = [row for row in held if row.tx_from <= basis.transaction < row.tx_to]

    def root(self, key: str) -> str:
        """The key of the entity."""
        return self._roots.get(key, key)

    def match(self, plan: Plan) -> list[Found]:
        """All matches in order."""
        return sorted((self._found(plan, way, bound) for way, bound in self._ways(plan, 0, {})), key=lambda found: found.position)

    @staticmethod
    def _found(plan: Plan, way: list[tuple[Any, bool]], bound: Mapping[str, str]) -> Found:
        rows, sides = zip(*way, strict=True)
        keys = tuple(bound[name] for name in plan.variables)
        return Found(tuple(row.row for row in rows), tuple(row.proposition for row in rows), sides, keys)

    def _ways(self, plan: Plan, place: int, bound: dict[str, str]) -> Iterator[tuple[list[tuple[Any, bool]], dict[str, str]]]:
        if place == len(plan.steps):
            yield [], bound
            return
        step = plan.steps[place]
        for row in self._rows:
            if (row.predicate, row.polarity) != (step.predicate, step.polarity):
                continue
            one, two = self.root(row.subject), self.root(row.object)
            for turned in (step.turned,) if not step.either else (False, True):
                if turned and (row.object_is_literal or (step.either and one == two)):
                    continue
                now = dict(bound)
                ends = (step.object, step.subject) if step.either and turned else (step.subject, step.object)
                if all(self._meets(end, key, now) for end, key in zip(ends, (one, two), strict=True)):
                    for rest, whole in self._ways(plan, place + 1, now):
                        yield [(row, turned), *rest], whole

    def _meets(self, end: End, key: str, bound: dict[str, str]) -> bool:
        if isinstance(end, Known):
            return self.root(end.key) == key
        return bound.setdefault(end.name, key) == key

    def paths(self, start: str, end: str, max_hops: int) -> list[list[int]]:
        """All shortest paths in order, by walking every way there is."""
        links = [Link(row.row, row.proposition, self.root(row.subject), self.root(row.object)) for row in self._rows if self._links(row)]
        start, end = self.root(start), self.root(end)
        ways: list[tuple[str, list[Link]]] = [(start, [])]
        for _ in range(max_hops if start != end else 0):
            ways = [
                (farther, [*way, link])
                for node, way in ways
                for link in links
                for nearer, farther in ((link.subject, link.object), (link.object, link.subject))
                if nearer == node and farther not in {start, *(key for each in way for key in (each.subject, each.object))}
            ]
            found = sorted([link.proposition for link in way] + [str(link.row) for link in way] for node, way in ways if node == end)
            if found:
                return [list(map(int, each[len(each) // 2 :])) for each in found]
        return []

    @staticmethod
    def _links(row: Any) -> bool:
        return bool(row.polarity and not row.object_is_literal)


def pairs(names: int) -> list[tuple[str, str]]:
    """Every two of some names."""
    return list(combinations([f"n{number}" for number in range(names)], 2))
