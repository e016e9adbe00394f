"""What differs between two bases, page by page: first what is seen differently of one instant, then how the world moved on."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, islice
from threading import Lock

from sqlalchemy import Connection, Engine

from graph.drift import Cause, DifferenceView
from graph.ledger.chosen import Chosen
from graph.ledger.comparing import Difference, Place
from graph.ledger.comparison import Comparison, shown
from graph.ledger.details import Describer, VocabularyAt
from graph.ledger.known_identity import IdentityCache
from graph.ledger.resolutions import Resolutions
from graph.ledger.told import AS_STORED, Resolution
from graph.ledger.touched import Sought, Touched, Touching
from graph.ledger.vantage import Vantage
from graph.views import EVERYTHING, Basis, Page, Positions, StatementFilter, Want
from ontology.errors import InvalidInput
from ontology.names import Keys

MOST_KEPT = 8
"""Most comparisons whose subjects are kept for their next pages, of all namespaces."""
MOST_ROWS = 500_000
"""Most subjects and rows of theirs altogether, the last ones aside; some 100 MB."""


def _placed(position: Positions) -> Place:
    """The place of a position. Raises InvalidInput where it is none."""
    if len(position) != len(Place._fields) or not all(isinstance(part, str) for part in position[:-1]):
        raise InvalidInput("this is no position among differences", path=("after",), reason="INVALID_CURSOR")
    return Place(*position)


class Differences:
    """Compares bases of one ledger. Thread-safe."""

    def __init__(
        self, engine: Engine, keys: Keys, vocabulary_at: VocabularyAt, identities: IdentityCache, resolutions: Resolutions
    ) -> None:
        self._engine = engine
        self._keys = keys
        self._vocabulary_at = vocabulary_at
        self._identities = identities
        self._resolutions = resolutions
        self._lock = Lock()
        self._kept: OrderedDict[tuple[Cause, Basis, Basis, Sought], Touched] = OrderedDict()

    def page(
        self,
        start: Basis,
        end: Basis,
        filter: StatementFilter = EVERYTHING,
        *,
        first: int = 20,
        after: Positions | None = None,
        want: frozenset[Want] = frozenset(),
    ) -> Page[DifferenceView]:
        """What differs between two bases of one namespace.

        Raises InvalidInput (two namespaces, a filter that asks for a time), QueryTooComplex (a said-time limit).
        """
        if start.namespace != end.namespace:
            raise InvalidInput("two namespaces have nothing to compare", path=("to",), reason="OTHER_NAMESPACE")
        for name, asked in (("validDuring", filter.valid_during is not None), ("includeInvalidated", filter.include_invalidated)):
            if asked:
                message = f"a diff compares what holds on its two bases: `{name}` has no meaning there"
                raise InvalidInput(message, path=("filter", name), reason="UNSUPPORTED")
        position = None if after is None else _placed(after)
        middle = replace(end, valid_at=start.valid_at)
        bases = (start, middle, end)
        with self._engine.connect() as connection:
            describers = [Describer(connection, self._keys, self._vocabulary_at, basis, self._identities) for basis in bases]
            limits = [self._resolution(connection, basis) for basis in bases]
            through = describers[-1].identity
            one, other, last = (Vantage(*each, through) for each in zip(describers, bases, limits, strict=True))
            chosen = Chosen(filter, self._vocabulary_at(end.transaction))
            steps = [Comparison(Cause.BELIEF, one, other, chosen), Comparison(Cause.WORLD, other, last, chosen)]
            following = chain.from_iterable(self._following(step, position) for step in steps)
            found = list(islice(following, first + 1))
            views = shown([difference for _, difference in found[:first]], {step.cause: step for step in steps}, want)
        return Page(tuple(views), tuple(tuple(placed) for placed, _ in found[:first]), len(found) > first)

    def _resolution(self, connection: Connection, basis: Basis) -> Resolution:
        if basis.evidence_until is None:
            return AS_STORED
        return self._resolutions.at(connection, basis.namespace, basis.transaction, basis.evidence_until)

    def _following(self, step: Comparison, position: Place | None) -> Iterator[tuple[Place, Difference]]:
        """The differences of a step behind a position, in order."""
        if position is not None and position.cause > step.cause:
            return
        here = position if position is not None and position.cause == step.cause else None
        touched = self._touched(step)
        for subjects in touched.following(None if here is None else (here.subject, here.subject_key)):
            for placed, difference in step.of(touched, subjects):
                if here is None or placed > here:
                    yield placed, difference

    def _touched(self, step: Comparison) -> Touched:
        """Whose statements may differ: collected once, kept for the pages that follow."""
        name = (step.cause, step.before.basis, step.after.basis, step.sought)
        with self._lock:
            found = self._kept.get(name)
            if found is not None:
                self._kept.move_to_end(name)
                return found
        found = Touching(step.cause, step.before, step.after, step.sought, step.symmetric).collect()
        with self._lock:
            self._kept[name] = found
            while len(self._kept) > 1 and (len(self._kept) > MOST_KEPT or sum(each.size for each in self._kept.values()) > MOST_ROWS):
                self._kept.popitem(last=False)
        return found
