"""What readers keep of who is who between reads."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import pytest

from graph.ledger import known_identity, stored_identity
from graph.service import LedgerGraph
from graph.views import EntityRef, StatedClaim
from ontology.episode import EpisodeDraft
from tests.graph.ledger.listening import sent
from tests.graph.ledger.saying import claim, say


def key(graph: LedgerGraph, name: str, **basis: Any) -> str:
    """The key of the entity that a name denotes."""
    return graph.snapshot("n", **basis).key_of(EntityRef(name=name))


def asked(graph: LedgerGraph, act: Callable[[], object]) -> list[str]:
    """The tables of identity that something asks."""
    return [statement for statement, _ in sent(graph._engine, act) if "components" in statement or "denotations" in statement]


def read(graph: LedgerGraph) -> None:
    graph.snapshot("n").timeline(EntityRef(name="Ann"), "works_at")


def test_reading_looks_nothing_up_where_nothing_is_joined(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Ann works_at Acme")
    read(graph)
    assert asked(graph, lambda: read(graph)) == []


def test_reading_again_looks_nothing_up(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Ann works_at Acme", "Ann also_known_as Annie")
    read(graph)
    assert asked(graph, lambda: read(graph)) == []
    say(graph, "2024-02-01", "Bob works_at Acme")
    assert len(asked(graph, lambda: read(graph))) == 1


def test_a_join_is_seen_at_once_and_not_before_it_was_made(graph: LedgerGraph) -> None:
    first = say(graph, "2024-01-01", "Ann works_at Acme", "Annie works_at Acme").transaction
    assert key(graph, "Ann") != key(graph, "Annie")
    second = say(graph, "2024-01-02", "Ann also_known_as Annie").transaction
    assert key(graph, "Ann") == key(graph, "Annie")
    say(graph, "2024-01-03", "not Ann also_known_as Annie")
    assert key(graph, "Ann") != key(graph, "Annie")
    assert key(graph, "Ann", transaction=second) == key(graph, "Annie", transaction=second)
    assert key(graph, "Ann", transaction=first) != key(graph, "Annie", transaction=first)


def test_a_join_that_another_process_has_made_is_seen(open_graph: Callable[..., LedgerGraph]) -> None:
    one, other = open_graph(), open_graph()
    say(one, "2024-01-01", "Ann works_at Acme", "Annie works_at Acme")
    assert key(other, "Ann") != key(other, "Annie")
    say(one, "2024-01-02", "Ann also_known_as Annie")
    assert key(other, "Ann") == key(other, "Annie")


def test_what_a_rehearsal_joins_is_not_kept(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Ann works_at Acme", "Annie works_at Acme")
    draft = EpisodeDraft("", "chat", external_id="e", said_at="2024-01-02")
    graph.rehearse_stated("n", draft, [StatedClaim(claim("Ann also_known_as Annie"))])
    say(graph, "2024-01-03", "Bob works_at Acme")
    assert key(graph, "Ann") != key(graph, "Annie")


def test_answers_do_not_hang_on_how_much_is_kept(graph: LedgerGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_identity, "MOST_KEYS", 2)
    monkeypatch.setattr(known_identity, "EPOCHS", 1)
    made = [say(graph, f"2024-01-{day:02}", f"A{day} also_known_as B{day}").transaction for day in range(1, 9)]
    for transaction in (made[-1], made[3], made[0], made[-1]):
        joined = [
            day for day in range(1, 9) if key(graph, f"A{day}", transaction=transaction) == key(graph, f"B{day}", transaction=transaction)
        ]
        assert joined == [day for day in range(1, 9) if made[day - 1] <= transaction]


def test_readers_at_once_see_what_one_alone_would(graph: LedgerGraph) -> None:
    names = [f"N{number}" for number in range(40)]
    for one, other in pairwise(names[:20]):
        say(graph, "2024-01-01", f"{one} also_known_as {other}")
    say(graph, "2024-01-02", *(f"{name} works_at Acme" for name in names))

    def lookup(name: str) -> tuple[str, str]:
        return name, key(graph, name)

    with ThreadPoolExecutor(8) as pool:
        found = dict(pool.map(lookup, names * 5))
    whole = min(graph.keys.entity("n", name) for name in names[:20])
    assert found == {name: whole if number < 20 else graph.keys.entity("n", name) for number, name in enumerate(names)}


@pytest.mark.parametrize("most", [1, 200_000])
def test_after_some_look_ups_all_is_read_at_once_where_it_is_not_too_much(
    graph: LedgerGraph, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(stored_identity, "ASKED_SINGLY", 3)
    monkeypatch.setattr(stored_identity, "MOST_READ", most)
    for number in range(6):
        say(graph, "2024-01-01", f"A{number} also_known_as B{number}")
    say(graph, "2024-01-02", "C likes tea", group="g")
    graph.split("n", graph.keys.entity("n", "C"), groups=["g"], discriminator="other")
    names = [*(f"{letter}{number}" for number in range(6) for letter in "AB"), "C", "D"]
    found = {name: key(graph, name) for name in names}
    expected = {name: min(graph.keys.entity("n", f"{letter}{name[1]}") for letter in "AB") for name in names[:12]}
    assert found == expected | {"C": graph.keys.entity("n", "C", "other"), "D": graph.keys.entity("n", "D")}
    assert (asked(graph, lambda: key(graph, "E")) == []) == (most > 1)
