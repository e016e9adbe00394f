"""What comes later changes nothing on an old basis; neither does how the index came to know it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from graph.recall.views import DEFAULTS, Kind, RecallOptions
from graph.service import LedgerGraph
from graph.views import EVERYTHING, StatementFilter
from ontology.episode import EpisodeDraft
from ontology.vocabulary import Vocabulary
from tests.graph.ledger.identity_worlds import NAMES, fresh
from tests.graph.ledger.saying import claim, say, when
from tests.graph.ledger.strategies import Withdrawn
from tests.graph.recall.worlds import (
    Tale,
    bases,
    choices,
    copied,
    embed,
    examined,
    filters,
    numbers_of,
    open_world,
    queries,
    recalled,
    tales,
    told,
)

Question = tuple[str, RecallOptions, StatementFilter, dict[str, Any]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, empty_ledger: Path) -> Path:
    return copied(empty_ledger, tmp_path_factory.mktemp("look-ahead"))


@pytest.fixture(scope="module")
def graph_of(folder: Path, vocabulary: Vocabulary) -> Iterator[Callable[..., LedgerGraph]]:
    """Opens the module's folder once more."""
    opened: list[LedgerGraph] = []

    def build(**shape: Any) -> LedgerGraph:
        opened.append(open_world(folder, vocabulary, **shape))
        return opened[-1]

    yield build
    for graph in opened:
        graph.close()


@pytest.fixture(scope="module")
def living(graph_of: Callable[..., LedgerGraph]) -> LedgerGraph:
    """The graph that is told everything, and follows one transaction at a time."""
    return graph_of()


def answers(graph: LedgerGraph, namespace: str, asked: list[Question]) -> list[Any]:
    """What is answered to some questions, whole."""
    found = []
    for text, options, filter, basis in asked:
        snapshot = graph.snapshot(namespace, **basis)
        answer = recalled(snapshot, text, options, filter)
        found.append((snapshot.index_version, snapshot.basis, answer.not_shown, answer.degraded, told(answer.page.items)))
    return found


def questions(data: st.DataObject, tale: Tale, number: int) -> list[Question]:
    """Questions on bases that name their transaction."""
    numbers = numbers_of(tale)
    found: list[Question] = []
    for _ in range(number):
        basis = bases(data, tale)
        basis["transaction"] = data.draw(st.sampled_from(numbers))
        filter = data.draw(filters())
        if basis.get("evidence_until") is not None and filter.include_invalidated:
            filter = EVERYTHING
        found.append((data.draw(queries()), data.draw(choices()), filter, basis))
    return found


def nothing_comes_from_later(
    living: LedgerGraph,
    graph_of: Callable[..., LedgerGraph],
    data: st.DataObject,
    shapes: Sequence[dict[str, Any]] = ({}, {"batch_rows": 1}),
) -> None:
    tale = Tale(living, namespace=fresh(living, data.draw(st.permutations(NAMES))))
    events = data.draw(tales(living.vocabulary(), largest=6))
    events.append(Withdrawn(data.draw(st.sampled_from(["e0", "e1"]))))
    early = data.draw(st.integers(1, len(events)))
    for one in events[:early]:
        tale.tell([one])
        living._recall.index.catch_up()
    if not numbers_of(tale):
        return
    embed(living)
    asked = questions(data, tale, 4)
    before = answers(living, tale.namespace, asked)
    for one in events[early:]:
        tale.tell([one])
        living._recall.index.catch_up()
    assert answers(living, tale.namespace, asked) == before
    # Those that were given while vectors were missing are no other ones: the version says what was there.
    embed(living)
    assert answers(living, tale.namespace, asked) == before
    living.rebuild_index()
    assert answers(living, tale.namespace, asked) == before
    for shape in shapes:
        again = graph_of(**shape)
        assert answers(again, tale.namespace, asked) == before
        again.close()


def test_old_answers_stay_whatever_comes_later_and_however_it_is_indexed(living: LedgerGraph, graph_of: Callable[..., LedgerGraph]) -> None:
    examined(lambda data: nothing_comes_from_later(living, graph_of, data, [{"batch_rows": 1}]), 3)


@pytest.mark.deep
def test_old_answers_of_many_histories_stay(living: LedgerGraph, graph_of: Callable[..., LedgerGraph]) -> None:
    examined(lambda data: nothing_comes_from_later(living, graph_of, data), 200)


def old_and_new(graph: LedgerGraph, text: str, options: RecallOptions = DEFAULTS, **basis: Any) -> Any:
    """An answer on the basis of the transaction that is the last one now, to be asked again later."""
    number = graph.snapshot("n").basis.transaction

    def ask() -> Any:
        embed(graph)
        snapshot = graph.snapshot("n", valid_at=when("2024-06-01"), transaction=number, **basis)
        return snapshot.index_version, told(recalled(snapshot, text, options).page.items)

    return ask


def test_an_entity_that_becomes_known_later_takes_no_mass_on_an_old_basis(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Ann likes Bob")
    say(graph, "2024-01-02", "Bob likes Cy")
    ask = old_and_new(graph, "Ann and Zoe", RecallOptions(candidates=1))
    before = ask()
    assert len(before[1]) == 2
    say(graph, "2024-01-03", "Zoe likes Di")
    assert ask() == before


def test_a_document_frequency_of_later_is_not_known_before(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Ann likes herring", "Ann likes bread")
    ask = old_and_new(graph, "herring")
    before = ask()
    for number in range(5):
        say(graph, "2023-01-01", f"Bob likes herring{number}", "Bob likes herring")
    assert ask() == before


BOTH = RecallOptions(kinds=(Kind.STATEMENT, Kind.EPISODE))


def test_what_waited_for_extraction_stays_found_where_it_was_held_back_later(
    graph: LedgerGraph, open_graph: Callable[..., LedgerGraph]
) -> None:
    draft = EpisodeDraft("the harbour is closed", "chat", external_id="e1", said_at="2024-01-01")
    say(graph, "2024-01-01", "Ann likes herring", content="Ann likes herring", external_id="e0")
    graph.accept("n", [(draft, ())])
    say(graph, "2024-01-01", "Ann likes bread")
    ask = old_and_new(graph, "harbour", BOTH)
    before = ask()
    assert "the harbour is closed" in [one[2] for one in before[1]]
    graph.record_extracted("n", [(draft, (), ())], extractor="test", quarantined=[True])
    assert ask() == before
    now = told(recalled(graph.snapshot("n", valid_at=when("2024-06-01")), "harbour", BOTH).page.items)
    assert "the harbour is closed" not in [one[2] for one in now]
    graph.rebuild_index()
    assert ask() == before
    assert graph._recall.mismatches == 0


def test_of_two_equal_ways_the_same_is_shown_however_the_history_was_divided(graph: LedgerGraph) -> None:
    # The correction names Zed before anything is known of him, which counts for nothing.
    said = ("Zed likes Bob", "Zed speaks Bob")
    for one in (claim("Ann speaks Cy", kind="CORRECTION", replaces="Zed"), "Bob speaks herring", "Zed speaks herring", *said):
        say(graph, "2024-01-01", one)
        graph._recall.index.catch_up()
    ask = old_and_new(graph, "likes", RecallOptions(candidates=1))
    before = ask()
    graph.rebuild_index()
    assert ask() == before
    assert any(one[-1] for one in before[1])
