"""All that may be asked of a snapshot, as a table: so that two services can be asked the same. One more field is one more line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from hypothesis import strategies as st

from graph.drift import Pattern, Term
from graph.recall.views import Arm, RecallOptions
from graph.views import EntityRef, ObjectRef, StatementFilter, TransactionView, Want
from ontology.instant import UNBOUNDED_FUTURE, UNBOUNDED_PAST, Instant
from ontology.vocabulary import Vocabulary
from tests.graph.ledger.identity_worlds import NAMES
from tests.graph.ledger.strategies import POINTS
from tests.graph.ledger.worlds import pages

WHOLE = frozenset({Want.TRANSACTION, Want.INVALIDATION, Want.HISTORY, Want.PROVENANCE})
EXTERNAL = ("e0", "e1", "e2", "e3", "m0")
"""External IDs of the episodes of random stories."""


@dataclass(frozen=True)
class Asked:
    """A snapshot, what it is asked about, and when each transaction was: times are told by the operation that made it.

    `diff` compares two snapshots; `others` are some with which this one is compared. `related`: some claim tells who is who.
    """

    snapshot: Any
    diff: Callable[..., Any]
    others: Sequence[Any]
    related: bool
    filters: Sequence[StatementFilter]
    predicates: Sequence[str]
    pairs: Sequence[tuple[str, str]]
    words: str
    episodes: Sequence[str]
    times: Mapping[Instant, int]

    def all(self, ask: Callable[..., Any], *arguments: Any, **named: Any) -> list[Any]:
        """All pages of something, two items at a time."""
        return pages(lambda after: ask(*arguments, **named, first=2, after=after))

    def each(self, ask: Callable[..., Any], *arguments: Any, **named: Any) -> list[Any]:
        """The same for each filter."""
        return [self.all(ask, *arguments, filter, **named) for filter in self.filters]

    def each_now(self, ask: Callable[..., Any], *arguments: Any, **named: Any) -> list[Any]:
        """The same of what looks at the time of its basis."""
        filters = (replace(filter, valid_during=None, include_invalidated=False) for filter in self.filters)
        return [self.all(ask, *arguments, filter, **named) for filter in filters]

    def patterns(self) -> list[list[Pattern]]:
        """Questions of one pattern and of two."""
        one, two, three = (Term(variable=name) for name in ("one", "two", "three"))
        first, last = self.predicates[0], self.predicates[-1]
        return [
            [Pattern(one, first, two)],
            [Pattern(one, first, Term(name=self.pairs[0][1]))],
            [Pattern(one, first, two), Pattern(two, last, three)],
            [Pattern(one, first, two), Pattern(one, last, three)],
        ]

    @property
    def keys(self) -> list[str]:
        return [self.snapshot.key_of(EntityRef(name=name)) for name in NAMES]

    @property
    def slots(self) -> list[tuple[EntityRef, str]]:
        return [(EntityRef(name=name), predicate) for name in NAMES for predicate in self.predicates]


FIELDS: dict[str, Callable[[Asked], Any]] = {
    "entity": lambda asked: [asked.snapshot.entity(EntityRef(name=name)) for name in NAMES],
    "entities": lambda asked: asked.all(asked.snapshot.entities),
    "entities by name": lambda asked: asked.all(asked.snapshot.entities, name="n"),
    "entities by type": lambda asked: asked.all(asked.snapshot.entities, type="Person"),
    "statements": lambda asked: asked.each(asked.snapshot.statements, want=WHOLE),
    "statements bare": lambda asked: asked.each(asked.snapshot.statements, want=frozenset({Want.BARE, Want.TRANSACTION})),
    "statements of an entity": lambda asked: [
        asked.each(asked.snapshot.statements_about, key, role, want=frozenset({Want.TRANSACTION}))
        for key in asked.keys
        for role in ("SUBJECT", "OBJECT", "ANY")
    ],
    "statement": lambda asked: [
        asked.snapshot.statement(view.stored_key, view.v_from, want=WHOLE)
        for view in asked.all(asked.snapshot.statements, asked.filters[0])
    ],
    "timeline": lambda asked: [asked.snapshot.timeline(*slot, want=WHOLE) for slot in asked.slots],
    "ask": lambda asked: [
        asked.snapshot.ask(EntityRef(name=one), predicate, ObjectRef(name=other), want=WHOLE)
        for one, other in asked.pairs
        for predicate in asked.predicates
    ],
    "neighbors": lambda asked: [asked.all(asked.snapshot.neighbors, key, depth=depth) for key in asked.keys for depth in (1, 2, 3)],
    "episodes": lambda asked: asked.all(asked.snapshot.episodes) + asked.all(asked.snapshot.episodes, group="g", source="chat"),
    "episode": lambda asked: [asked.snapshot.episode(key) for key in asked.episodes],
    "statements of an episode": lambda asked: [
        asked.all(asked.snapshot.episode_statements, key, want=frozenset({Want.TRANSACTION})) for key in asked.episodes
    ],
    "claims": lambda asked: [asked.each_now(asked.snapshot.claims, candidate=candidate) for candidate in (None, True)],
    "suspects": lambda asked: asked.all(asked.snapshot.suspects),
    "suspected splits": lambda asked: [asked.snapshot.suspected_splits(key) for key in asked.keys],
    "undeclared": lambda asked: asked.snapshot.undeclared(least=1),
    "recall": lambda asked: [
        asked.snapshot.recall(asked.words, options=RecallOptions(arms=(Arm.BM25, Arm.PAGERANK)), filter=filter, first=50, want=WHOLE)
        for filter in asked.filters
    ],
    "contested": lambda asked: asked.each_now(asked.snapshot.drift.contested, want=WHOLE),
    "stale": lambda asked: asked.each_now(asked.snapshot.drift.stale, want=WHOLE),
    "flip flops": lambda asked: asked.each_now(asked.snapshot.drift.flip_flops),
    "volatility": lambda asked: asked.snapshot.drift.volatility(),
    # Transactions are seconds apart, what begins to be true days: so what they tell is in one order.
    "late edits": lambda asked: asked.each_now(asked.snapshot.drift.retro_edits, 0, want=WHOLE),
    # Under a limit it is not told which transaction withdrew what is said of a name that came to denote something else.
    "why a slot changed": lambda asked: [
        [one for one in asked.snapshot.drift.why_changed(*slot, want=WHOLE) if one.transaction is None or not asked.related]
        for slot in asked.slots
    ],
    "differences": lambda asked: [
        asked.each_now(asked.diff, *pair, want=WHOLE)
        for other in asked.others
        for pair in ((other, asked.snapshot), (asked.snapshot, other))
    ],
    "match": lambda asked: [asked.all(asked.snapshot.patterns.match, each, want=WHOLE) for each in asked.patterns()],
    "path": lambda asked: [
        asked.snapshot.patterns.path(EntityRef(name=one), EntityRef(name=other), want=WHOLE) for one, other in asked.pairs
    ],
}
"""What is asked, by name."""


def told(value: Any, times: Mapping[Instant, int]) -> Any:
    """An answer as plain data, with operations for transactions and their times."""
    if isinstance(value, TransactionView):
        return [times.get(value.at, value), value.kind, value.actor, value.reason]
    if is_dataclass(value) and not isinstance(value, type):
        parts = ((field.name, getattr(value, field.name)) for field in fields(value))
        return {name: times.get(part, part) if name in _TIMES else told(part, times) for name, part in parts if not _is_number(name, part)}
    if isinstance(value, list | tuple):
        return [told(one, times) for one in value]
    return value


def _is_number(name: str, part: Any) -> bool:
    """Whether a part is the number of a transaction or an ID, or tells of some: two services need not have the same."""
    return name in ("positions", "stored_key") or (name == "transaction" and isinstance(part, int))


def first_difference(one: Any, other: Any, path: str) -> tuple[str, Any, Any] | None:
    """Where two answers first differ, and what stands there; None where they are equal."""
    if type(one) is type(other) and isinstance(one, dict) and one.keys() == other.keys():
        inside = ((one[name], other[name], f"{path}.{name}") for name in one)
    elif type(one) is type(other) and isinstance(one, list) and len(one) == len(other):
        inside = ((mine, theirs, f"{path}[{place}]") for place, (mine, theirs) in enumerate(zip(one, other, strict=True)))
    else:
        return None if one == other else (path, one, other)
    return next((found for part in inside if (found := first_difference(*part)) is not None), None)


_TIMES = frozenset({"tx_from_at", "tx_to_at", "recorded_at", "decided_at"})


@st.composite
def filters(draw: st.DrawFn, vocabulary: Vocabulary, predicates: Sequence[str], keys: Sequence[str]) -> StatementFilter:
    """Any part of a filter may be there; mostly few are."""

    def some(values: Sequence[Any]) -> Any:
        return draw(st.sampled_from([None] * (3 * len(values)) + list(values)))

    start = draw(st.sampled_from([None, None, UNBOUNDED_PAST, *POINTS]))
    end = draw(st.sampled_from([UNBOUNDED_FUTURE, *(at for at in POINTS if start is None or at > start)]))
    named = [name for name in (some(predicates), some(predicates)) if name is not None]
    subject, object = some(keys), some(keys)
    aspects = sorted({aspect for name in predicates if (aspect := vocabulary.predicate(name).aspect) is not None})
    aspect = some(aspects)
    return StatementFilter(
        subjects=None if subject is None else (subject,),
        objects=None if object is None else (object,),
        predicates=tuple(named) or None,
        aspects=None if aspect is None else (aspect,),
        polarity=some([True, False]),
        min_confidence=some([0.95]),
        group=some(["g", "h"]),
        source=some(["chat", "notes"]),
        valid_during=None if start is None else (start, end),
        include_invalidated=draw(st.booleans()),
    )
