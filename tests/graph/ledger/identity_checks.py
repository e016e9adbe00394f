"""What the properties of who is who share: ledgers, stories in them, and what of them is compared."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, event

from graph.ledger.database import open_database
from graph.service import LedgerGraph, Projection
from graph.views import EntityRef, StatementView, Want
from ontology.claim import ClaimDraft, ObjectDraft
from ontology.episode import EpisodeDraft
from ontology.vocabulary import Vocabulary
from tests.graph.ledger.conftest import EPOCH, NoProjection
from tests.graph.ledger.identity_operations import SAME, Divided, Merged, Operation, said_at
from tests.graph.ledger.identity_strategies import PLACES, predicates_of, stories
from tests.graph.ledger.identity_worlds import NAMES, Story
from tests.graph.ledger.strategies import POINTS, Told
from tests.graph.ledger.worlds import ALWAYS, pages

QUICK, DEEP = 6, 150


@dataclass(frozen=True)
class Twins:
    """Two ledgers of one secret: the same names have the same keys in a namespace of both."""

    one: LedgerGraph
    other: LedgerGraph


Check = Callable[[Twins, st.DataObject], None]


def two_ledgers(
    folder: Path, vocabulary: Vocabulary, empty_ledger: Path, projection: Callable[[Engine], Projection] = lambda _: NoProjection()
) -> Iterator[Twins]:
    """Two ledgers for all examples, each in a namespace of its own; they need not survive a power cut."""
    shutil.copy(empty_ledger, folder / "one.db")
    opened = []
    for name in ("one", "two"):
        engine = open_database(f"sqlite:///{folder / name}.db")
        event.listen(engine, "connect", lambda connection, _: connection.execute("PRAGMA synchronous=OFF"))
        engine.dispose()
        ticks = count(EPOCH, 1_000_000)
        over = partial(_over, projection, engine)
        opened.append(LedgerGraph(engine, vocabulary, over, clock=lambda ticks=ticks: next(ticks)))  # type: ignore[misc]
        if name == "one":
            # The secret is made by the first opening.
            engine.dispose()
            shutil.copy(folder / "one.db", folder / "two.db")
    yield Twins(*opened)
    for graph in opened:
        graph.close()


def _over(projection: Callable[[Engine], Projection], engine: Engine, _: object) -> Projection:
    return projection(engine)


def drawn(twins: Twins, data: st.DataObject, **shape: Any) -> list[Operation]:
    """A random story."""
    return data.draw(stories(twins.one.vocabulary(), **shape))


def begun(twins: Twins, data: st.DataObject, operations: Sequence[Operation] = ()) -> Story:
    """A story in the first ledger, with the keys of names in some order."""
    return Story(twins.one, operations, order=data.draw(st.permutations(NAMES)))


def contents(story: Story, **basis: Any) -> list[Any]:
    """What a reader sees but for transactions: keys, names, intervals and what the evidence says of them."""
    snapshot = story.snapshot(**basis)
    until = basis.get("evidence_until")
    if until is None:
        views = pages(lambda after: snapshot.statements(ALWAYS, first=100, after=after, want=frozenset({Want.PROVENANCE})))
        entities = sorted(map(str, pages(lambda after: snapshot.entities(first=100, after=after))))
    else:
        keys = sorted({snapshot.key_of(EntityRef(name=name)) for name in NAMES})
        wanted = frozenset({Want.PROVENANCE})
        views = [view for key in keys for view in pages(about(snapshot, key, wanted))]
        entities = [str(snapshot.entity(EntityRef(name=name))) for name in NAMES]
    return [sorted(map(str, map(content, views))), entities]


def about(snapshot: Any, key: str, wanted: frozenset[Want]) -> Callable[[Any], Any]:
    return lambda after: snapshot.statements_about(key, "ANY", ALWAYS, first=100, after=after, want=wanted)


def content(view: StatementView) -> tuple[Any, ...]:
    told = sorted((one.claim, one.quote) for one in view.provenance)
    weight = (view.support, view.conflict, view.certain, view.confidence, view.last_attested_at, view.evidence_count)
    return (view.key, view.subject, view.predicate, view.qualifier, view.object, view.polarity, view.v_from, view.v_to, *weight, told)


def a_join_of(one: str, other: str, *, said: str = "1970-01-05", label: str = "join") -> Told:
    """A person's statement that two names are one."""
    draft = EpisodeDraft(f"{PLACES} {label}", "person", external_id=label, said_at=said)
    return Told(draft, (ClaimDraft(one, SAME, ObjectDraft(other)),), stated=True)


def agree_everywhere(story: Story, data: st.DataObject) -> None:
    """At the end, at an earlier transaction, and under a said-time limit."""
    operations = [one.operation for one in story.done]
    predicates = predicates_of(operations)
    at = data.draw(st.sampled_from(POINTS))
    asked = data.draw(st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), min_size=3, max_size=3))
    story.agrees(story.picture(), at_instant=at, predicates=predicates, asked=asked)
    if not story.done:
        return
    number = data.draw(st.sampled_from(sorted({one.transaction for one in story.done})))
    story.agrees(story.picture(transaction=number), at_instant=at, predicates=predicates, asked=asked, transaction=number)
    said = [said_at(one) if isinstance(one, Told) else one.said for one in operations if isinstance(one, Told | Merged | Divided)]
    until = data.draw(st.sampled_from([instant + beside for instant in said for beside in (-1, 0)] or [0]))
    story.agrees(story.picture(until=until), at_instant=at, predicates=predicates, asked=asked, until=until)


def examined(check: Check, twins: Twins, number: int) -> None:
    """Try a check on random stories: the same ones in every run, unless there are very many."""

    @settings(
        max_examples=number,
        derandomize=number <= QUICK,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        # A story takes seconds to tell and minutes to shrink: only where somebody waits for it.
        phases=[Phase.generate, Phase.shrink] if number > QUICK else [Phase.generate],
    )
    @given(st.data())
    def run(data: st.DataObject) -> None:
        check(twins, data)

    run()
