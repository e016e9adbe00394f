"""What is kept of resolutions under said-time limits: made once, for as many limits as are one, and within bounds."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from graph.ledger import resolutions, told
from graph.ledger.resolutions import Resolutions
from graph.ledger.told import AS_STORED, Resolution
from graph.service import LedgerGraph
from ontology.errors import QueryTooComplex
from tests.graph.ledger.listening import sent
from tests.graph.ledger.saying import claim, say, when


@pytest.fixture
def kept(graph: LedgerGraph) -> Resolutions:
    return graph.resolutions


def at(graph: LedgerGraph, kept: Resolutions, until: str, namespace: str = "n", transaction: int | None = None) -> Resolution:
    basis = graph.snapshot(namespace, transaction=transaction).basis
    with graph._engine.connect() as connection:
        return kept.at(connection, namespace, basis.transaction, when(until))


def asked(graph: LedgerGraph, act: Callable[[], object]) -> int:
    """How many times something asks the claims."""
    return sum("claims" in statement for statement, _ in sent(graph._engine, act))


def told_thrice(graph: LedgerGraph) -> None:
    for said in ("2024-01-01", "2024-03-01", "2024-02-01"):
        say(graph, said, f"Ann works_at A{said[6]}", f"Bob likes tea{said[6]}")


def spans(found: Resolution) -> list[tuple[str, bool, int, int]]:
    return sorted((row.predicate, row.polarity, row.v_from, row.v_to) for row in found.rectangles)


def test_only_slots_in_which_something_was_said_later_are_resolved_again(graph: LedgerGraph, kept: Resolutions) -> None:
    told_thrice(graph)
    say(graph, "2024-01-05", "Cy works_at Acme", "Di likes tea")
    found = at(graph, kept, "2024-02-15")
    assert spans(found) == [
        ("works_at", True, when("2024-01-01"), when("2024-02-01")),
        ("works_at", True, when("2024-02-01"), 2**63 - 1),
    ]
    # Three employers of Ann, and the tea that Bob came to like last.
    assert (len(found.gone), found.renamed, found.read) == (4, frozenset(), {})


def test_nothing_is_read_where_nothing_was_said_later(graph: LedgerGraph, kept: Resolutions) -> None:
    told_thrice(graph)
    found: list[Resolution] = []
    assert asked(graph, lambda: found.append(at(graph, kept, "2024-03-01"))) == 0
    assert found == [AS_STORED]


def test_limits_between_which_nothing_was_said_are_one(graph: LedgerGraph, kept: Resolutions) -> None:
    told_thrice(graph)
    first = at(graph, kept, "2024-02-01")
    assert asked(graph, lambda: at(graph, kept, "2024-02-01")) == 0
    assert at(graph, kept, "2024-02-28") is first
    assert at(graph, kept, "2024-01-31") is not first


def test_a_transaction_has_a_resolution_of_its_own(graph: LedgerGraph, kept: Resolutions) -> None:
    told_thrice(graph)
    first = at(graph, kept, "2024-01-15")
    before = graph.snapshot("n").basis.transaction
    say(graph, "2024-01-01", "Ann works_at Zeta")
    assert at(graph, kept, "2024-01-15") is not first
    assert at(graph, kept, "2024-01-15", transaction=before) is first


def test_namespaces_are_apart(graph: LedgerGraph, kept: Resolutions) -> None:
    told_thrice(graph)
    say(graph, "2024-01-01", "Ann works_at A1", namespace="m")
    assert at(graph, kept, "2024-01-15", "m") == AS_STORED
    say(graph, "2024-02-01", "Ann works_at A2", namespace="m")
    assert len(at(graph, kept, "2024-01-15", "m").rectangles) == 1


def test_what_was_asked_for_longest_ago_is_dropped(graph: LedgerGraph, kept: Resolutions, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resolutions, "MOST_KEPT", 2)
    told_thrice(graph)
    one, two = at(graph, kept, "2023-01-01"), at(graph, kept, "2024-01-01")
    assert at(graph, kept, "2023-01-01") is one
    at(graph, kept, "2024-02-01")
    assert at(graph, kept, "2023-01-01") is one
    assert at(graph, kept, "2024-01-01") is not two


def test_large_ones_are_dropped_sooner(graph: LedgerGraph, kept: Resolutions, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resolutions, "MOST_RECTANGLES", 1)
    told_thrice(graph)
    one, two = at(graph, kept, "2023-01-01"), at(graph, kept, "2024-01-01")
    assert at(graph, kept, "2024-01-01") is two
    assert at(graph, kept, "2023-01-01") is not one


def test_who_ask_at_once_wait_for_one_answer(graph: LedgerGraph, kept: Resolutions) -> None:
    told_thrice(graph)
    basis = graph.snapshot("n").basis

    def ask(_: int) -> Resolution:
        with graph._engine.connect() as connection:
            return kept.at(connection, "n", basis.transaction, when("2024-01-15"))

    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(ask, range(24)))
    assert len(set(map(id, found))) == 1


def test_too_much_is_refused_whole_and_not_tried_again(graph: LedgerGraph, kept: Resolutions, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(told, "BUDGET", 4)
    told_thrice(graph)
    at(graph, kept, "2024-02-01")
    for _ in range(2):
        with pytest.raises(QueryTooComplex, match=r"more than 4 claims .* ask with a later one"):
            at(graph, kept, "2024-01-01")
    monkeypatch.setattr(told, "BUDGET", 500)
    with pytest.raises(QueryTooComplex):
        at(graph, kept, "2024-01-01")


def test_what_fails_is_tried_again(graph: LedgerGraph, kept: Resolutions, monkeypatch: pytest.MonkeyPatch) -> None:
    told_thrice(graph)
    with monkeypatch.context() as broken:
        broken.setattr(resolutions, "resolved", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            at(graph, kept, "2024-01-15")
    assert at(graph, kept, "2024-01-15").rectangles


def test_a_join_said_later_is_undone(graph: LedgerGraph, kept: Resolutions) -> None:
    say(graph, "2024-01-01", "Ann works_at Acme", "Annie works_at Zeta", "Bob works_at Acme")
    say(graph, "2024-02-01", "Ann also_known_as Annie")
    found = at(graph, kept, "2024-01-15")
    ann, annie = (graph.keys.entity("n", name) for name in ("Ann", "Annie"))
    assert found.renamed == {ann, annie}
    assert sorted((row.subject, row.v_to) for row in found.rectangles) == sorted([(ann, 2**63 - 1), (annie, 2**63 - 1)])
    assert set(found.read.values()) == {row.base for row in found.rectangles}


def test_a_claim_is_read_by_all_of_its_names_also_by_those_that_were_joined_before(graph: LedgerGraph, kept: Resolutions) -> None:
    say(graph, "2024-01-01", "Acme also_known_as Acmecorp", "Ann works_at Acme", "Annie works_at Acmecorp")
    say(graph, "2024-02-01", "Ann also_known_as Annie")
    found = at(graph, kept, "2024-01-15")
    assert set(found.read.values()) == {row.base for row in found.rectangles} and len(found.rectangles) == 2
    assert len({row.object for row in found.rectangles}) == 1


def test_a_correction_said_later_is_undone(graph: LedgerGraph, kept: Resolutions) -> None:
    say(graph, "2024-01-01", "Ann likes tea")
    say(graph, "2024-02-01", claim("Ann likes coffee", kind="CORRECTION", replaces="tea"))
    (row,) = at(graph, kept, "2024-01-15").rectangles
    assert row.object == graph.keys.entity("n", "tea")


def test_one_query_finds_what_was_said_later_however_much(graph: LedgerGraph, kept: Resolutions) -> None:
    """Slots are looked up together: by number of queries many cost what few do."""
    say(graph, "2024-01-01", *(f"P{number} works_at Acme" for number in range(3)))
    say(graph, "2024-03-01", *(f"P{number} works_at Zeta" for number in range(3)))
    few = asked(graph, lambda: at(graph, kept, "2024-01-15"))
    say(graph, "2024-01-01", *(f"P{number} works_at Acme" for number in range(3, 40)))
    say(graph, "2024-03-01", *(f"P{number} works_at Zeta" for number in range(3, 40)))
    assert asked(graph, lambda: at(graph, kept, "2024-01-15")) == few
