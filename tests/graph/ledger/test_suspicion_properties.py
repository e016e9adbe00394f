"""Signs that one name denotes two, in any small world: all are listed, and doing as they say takes them away."""

from __future__ import annotations

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from graph.service import LedgerGraph
from graph.views import SuspectedSplit
from tests.graph.ledger.saying import claim
from tests.graph.ledger.talking import Talk
from tests.graph.ledger.test_properties import DEEP, QUICK
from tests.graph.ledger.worlds import pages

Telling = tuple[str, str | None, str, int, str | None]
"""What is said of Alex, in which group and source, on which day, and from when on it is so."""

WORDS = st.sampled_from(
    [*(f"born_on {year}" for year in (1980, 1990)), *(f"works_at {firm}" for firm in "XYZ"), "partner_of Bea", "partner_of Cy"]
)
TELLING = st.tuples(
    WORDS,
    st.sampled_from([None, "team", "club", "gym"]),
    st.sampled_from(["chat", "mail"]),
    st.integers(1, 9),
    st.sampled_from([None, "2023", "2024-01-02", "2024-01-05"]),
)


def told_of(sign: SuspectedSplit) -> tuple[str, str, frozenset[str]]:
    return sign.predicate, sign.qualifier, frozenset(sign.values)


def doing_as_the_signs_say_ends_them(ledger: LedgerGraph, tellings: list[Telling]) -> None:
    talk = Talk(ledger)
    for words, group, source, day, start in tellings:
        talk.say(f"2024-01-0{day}", claim(f"Alex {words}", valid_from=start), group=group, source=source)
    snapshot = ledger.snapshot(talk.namespace)
    listed = pages(lambda after: snapshot.suspects(first=10, after=after))
    assert [view.key for view in listed] == [key for name in ("Alex", "Bea", "Cy") if snapshot.suspected_splits(key := talk.key(name))]
    for _ in range(len(tellings)):
        waiting = ledger.snapshot(talk.namespace).suspects().items
        if not waiting:
            break
        sign = ledger.snapshot(talk.namespace).suspected_splits(waiting[0].key)[0]
        assert not talk.follow(sign).deduplicated
        after = [
            (each.predicate, each.qualifier, each.values) for each in ledger.snapshot(talk.namespace).suspected_splits(sign.entity.key)
        ]
        if sign.groups == () or all(group is not None for _, group, *_ in tellings):
            assert (sign.predicate, sign.qualifier, sign.values) not in after
    assert ledger.snapshot(talk.namespace).suspects().items == ()


def examined(ledger: LedgerGraph, number: int) -> None:
    @settings(max_examples=number, derandomize=number <= QUICK, database=None, deadline=None, phases=[Phase.generate, Phase.shrink])
    @given(st.lists(TELLING, min_size=2, max_size=7))
    def run(tellings: list[Telling]) -> None:
        doing_as_the_signs_say_ends_them(ledger, tellings)

    run()


def test_doing_as_the_signs_say_ends_them(ledger: LedgerGraph) -> None:
    examined(ledger, QUICK)


@pytest.mark.deep
def test_doing_as_the_signs_say_ends_them_in_many_worlds(ledger: LedgerGraph) -> None:
    examined(ledger, DEEP)
