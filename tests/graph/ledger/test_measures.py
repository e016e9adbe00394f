"""What to distrust, case by case."""

from __future__ import annotations

from typing import Any

import pytest

from graph.ledger import survey, surveys
from graph.service import LedgerGraph
from graph.views import StatedClaim, StatementFilter
from ontology.claim import ClaimDraft, ClaimKind, ObjectDraft
from ontology.episode import EpisodeDraft
from ontology.errors import InvalidInput, QueryTooComplex
from ontology.instant import DAY, SECOND, Instant
from tests.graph.belief.vectors import VECTORS, instant
from tests.graph.ledger.vectors import LedgerWorld, name
from tests.graph.ledger.worlds import pages

CAREER = VECTORS["drift_bases"]["career"]
VECTOR = {vector["id"]: vector for vector in VECTORS["drift"]}


class Chat:
    """Statements made one by one."""

    def __init__(self, graph: LedgerGraph) -> None:
        self.graph, self._number = graph, 0

    def say(self, said: str, subject: str, predicate: str, object: str, **more: Any) -> None:
        self._number += 1
        rank, source = more.pop("rank", 0), more.pop("source", "chat")
        episode = EpisodeDraft("", source, external_id=str(self._number), said_at=said, rank=rank)
        self.graph.record_stated("main", episode, [StatedClaim(ClaimDraft(subject, predicate, ObjectDraft(object), **more))])

    def at(self, day: str, **basis: Any) -> Any:
        return self.graph.snapshot("main", valid_at=instant(day), **basis)

    def drift(self, day: str, **basis: Any) -> Any:
        return self.at(day, **basis).drift


@pytest.fixture
def chat(graph: LedgerGraph) -> Chat:
    return Chat(graph)


def objects(page: Any) -> list[str]:
    return [name(view) for view in page.items]


def test_vector_d05_a_slot_that_came_back(graph: LedgerGraph) -> None:
    world, asked = LedgerWorld(graph, "d05", CAREER), VECTOR["D05"]["flipflops"]
    page = world.graph.snapshot("d05").drift.flip_flops()
    [slot] = [view for view in page.items if (view.subject.name, view.predicate) == (asked["s"], asked["p"])]
    assert (slot.returns, slot.changes) == (VECTOR["D05"]["expect"], 2)


def test_vector_d11_days_since_the_last_attestation(graph: LedgerGraph) -> None:
    world, asked = LedgerWorld(graph, "d11", CAREER), VECTOR["D11"]["stale"]
    now = instant(asked["now"])
    [coffee] = [view for view in world.graph.snapshot("d11", valid_at=now).statements(StatementFilter()).items if name(view) == asked["o"]]
    assert (now - coffee.last_attested_at) // DAY == VECTOR["D11"]["expect"]
    # Tea was liked for 851 days: three times as long without a word is long enough.
    late = coffee.last_attested_at + 3 * 851 * DAY
    assert "coffee" not in objects(world.graph.snapshot("d11", valid_at=late).drift.stale())
    assert "coffee" in objects(world.graph.snapshot("d11", valid_at=late + 1).drift.stale())


def test_a_predicate_without_median_and_stale_after_never_goes_stale(chat: Chat) -> None:
    chat.say("2020-01-01", "Ann", "likes", "tea")
    assert chat.drift("9000-01-01").stale().items == ()


def test_stale_after_goes_before_the_median(chat: Chat) -> None:
    for day, person in (("2020-01-01", "Ann"), ("2020-02-01", "Bo")):
        chat.say(day, person, "works_on", "the bridge")
    ninety_days_later = instant("2020-01-01") + 90 * DAY
    for at, stale in ((ninety_days_later, []), (ninety_days_later + 1, ["Ann"])):
        assert [view.subject.name for view in chat.graph.snapshot("main", valid_at=at).drift.stale().items] == stale


def test_the_longest_unattested_come_first(chat: Chat) -> None:
    for year, town in (("2001", "Oslo"), ("2002", "Rome")):
        chat.say(f"{year}-01-01", "Ann", "lives_in", town)
    for year, person in (("2010", "Cy"), ("2009", "Di"), ("2011", "Bo")):
        chat.say(f"{year}-01-01", person, "lives_in", "Ulm")
    assert [view.subject.name for view in chat.drift("2011-06-01").stale().items] == ["Ann"]
    assert [view.subject.name for view in chat.drift("2030-01-01").stale().items] == ["Ann", "Di", "Cy", "Bo"]


def test_a_tie_and_a_resolved_disagreement_are_contested_as_long_as_they_last(chat: Chat) -> None:
    chat.say("2020-01-01", "Ann", "lives_in", "Oslo", valid_from="2018-01-01")
    chat.say("2020-01-01", "Ann", "lives_in", "Rome", valid_from="2018-01-01")
    chat.say("2020-01-01", "Bo", "lives_in", "Bonn", valid_from="2018-01-01")
    chat.say("2021-01-01", "Bo", "lives_in", "Kiel", valid_from="2018-01-01", rank=1)
    assert sorted(objects(chat.drift("2019-01-01").contested())) == ["Kiel", "Oslo", "Rome"]
    chat.say("2022-01-01", "Ann", "lives_in", "Ulm")
    assert objects(chat.drift("2022-06-01").contested()) == []
    assert sorted(objects(chat.drift("2022-06-01", transaction=4).contested())) == ["Oslo", "Rome"]


def test_an_unbounded_start_is_no_change_and_what_follows_it_is(chat: Chat) -> None:
    chat.say("2020-01-01", "Ann", "lives_in", "Oslo", kind=ClaimKind.END, valid_to="2010-01-01")
    chat.say("2020-01-01", "Ann", "lives_in", "Rome", valid_from="2012-01-01")
    [view] = chat.drift("2020-01-01").volatility()
    assert (view.slots, view.changes) == (1, 2)
    # Observed since Oslo ended, with its day.
    years = (instant("2020-01-01") - instant("2010-01-02")) / (365.25 * DAY)
    assert view.per_slot_year == pytest.approx((2 + 1) / (years + 4), rel=1e-12)
    assert view.median_seconds is None


def test_values_of_a_many_valued_slot_count_each_by_itself(chat: Chat) -> None:
    for year, value, polarity in (
        (2001, "tea", True),
        (2002, "ale", True),
        (2003, "tea", False),
        (2005, "tea", True),
        (2006, "ale", False),
    ):
        chat.say(f"{year}-01-01", "Ann", "likes", value, polarity=polarity)
    [slot] = chat.drift("2010-01-01").flip_flops().items
    assert (slot.returns, slot.changes) == (1, 3)
    assert chat.drift("2004-01-01").flip_flops().items == ()
    [view] = chat.drift("2010-01-01").volatility()
    tea, ale = (instant(end) - instant(start) for start, end in (("2001-01-01", "2003-01-01"), ("2002-01-01", "2006-01-01")))
    assert view.median_seconds == (tea + ale) / 2 / SECOND


def test_both_slots_of_a_symmetric_relation_are_looked_at(chat: Chat) -> None:
    for year, other in ((2001, "Bo"), (2003, "Cy"), (2005, "Bo")):
        chat.say(f"{year}-01-01", "Mia", "spouse_of", other)
    views = chat.drift("2010-01-01").flip_flops().items
    assert {(view.subject.name, view.returns) for view in views} == {("Mia", 1), ("Bo", 1)}


def test_an_inverse_predicate_asks_for_the_slots_of_the_other_side(chat: Chat) -> None:
    for year, head in ((2001, "Bo"), (2003, "Cy"), (2005, "Bo")):
        chat.say(f"{year}-01-01", "Ann", "reports_to", head)
    drift = chat.drift("2010-01-01")
    for predicate, subject in (("manager_of", "Bo"), ("reports_to", "Ann")):
        [view] = drift.flip_flops(StatementFilter(predicates=(predicate,))).items
        assert (view.subject.name, view.predicate, view.changes, view.returns) == (subject, predicate, 2, 1)


def test_flip_flops_are_filtered_by_their_evidence_too(chat: Chat) -> None:
    for person, source in (("Ann", "desk"), ("Bo", "choir")):
        for year, firm in ((2001, "Acme"), (2003, "Bravo"), (2005, "Acme")):
            chat.say(f"{year}-01-01", person, "works_at", firm, source=source)
    found = chat.drift("2010-01-01").flip_flops(StatementFilter(source="choir")).items
    assert [(view.subject.name, view.changes) for view in found] == [("Bo", 2)]


def test_late_records_are_those_whose_lag_is_greater(chat: Chat) -> None:
    chat.say("2025-12-31", "Ann", "likes", "tea", valid_from="2019-01-01")
    chat.say("2025-12-31", "Ann", "likes", "ale", valid_from="2018-01-01")
    drift = chat.drift("2026-01-01")
    [first, _] = drift.retro_edits(0).items
    lag = (first.tx_from_at - first.v_from) // SECOND
    assert objects(drift.retro_edits(0)) == ["ale", "tea"]
    assert objects(drift.retro_edits(lag - 1)) == ["ale"]
    assert objects(drift.retro_edits(lag)) == []


def test_late_records_under_a_limit_weigh_again_only_what_may_be_among_the_latest(chat: Chat, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graph.ledger.beginnings.BUDGET", 0)
    for value in ("tea", "ale"):
        chat.say("2020-01-01", "Ann", "likes", value)
    chat.say("2020-06-01", "Bo", "lives_in", "Oslo")
    chat.say("2020-06-02", "Bo", "lives_in", "Oslo")
    chat.say("2022-01-01", "Bo", "likes", "ale")
    limited = chat.drift("2021-01-01", evidence_until=instant("2021-01-01"))
    # One claim on each of the latest: nothing is to be found out.
    assert objects(limited.retro_edits(0, first=1)) == ["ale"]
    with pytest.raises(QueryTooComplex, match="more than 0 claims would have to be weighed again"):
        limited.retro_edits(0, first=2)
    monkeypatch.undo()
    assert objects(limited.retro_edits(0, first=3)) == ["ale", "tea", "Oslo"]
    # What has been found out is kept.
    monkeypatch.setattr("graph.ledger.beginnings.BUDGET", 0)
    assert objects(limited.retro_edits(0, first=3)) == ["ale", "tea", "Oslo"]


@pytest.mark.parametrize("given", [{"valid_during": (0, 1)}, {"include_invalidated": True}], ids=["validDuring", "includeInvalidated"])
def test_a_filter_by_time_is_refused(given: dict[str, Any], chat: Chat) -> None:
    drift, filter = chat.drift("2020-01-01"), StatementFilter(**given)
    for ask in (drift.contested, drift.stale, drift.flip_flops, lambda filter: drift.retro_edits(0, filter)):
        with pytest.raises(InvalidInput, match="looks at `validAt`"):
            ask(filter)


def test_a_negative_lag_is_refused(chat: Chat) -> None:
    with pytest.raises(InvalidInput, match="0 or more, not -1"):
        chat.drift("2020-01-01").retro_edits(-1)


def test_more_claims_than_the_budget_are_refused_and_few_still_answered(chat: Chat, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(survey, "BUDGET", 3)
    monkeypatch.setattr(surveys, "FEW", 2)
    for number in range(4):
        chat.say("2020-01-01", f"Person {number}", "lives_in", "Oslo")
        chat.say("2020-01-01", f"Person {number}", "lives_in", "Rome")
    drift = chat.drift("2020-06-01")
    with pytest.raises(QueryTooComplex, match="more than 3 claims"):
        drift.contested()
    mine = StatementFilter(subjects=(chat.graph.keys.entity("main", "Person 2"),))
    assert sorted(objects(drift.contested(mine))) == ["Oslo", "Rome"]


def test_times_at_the_ends_of_the_calendar_are_measured_without_overflow(chat: Chat) -> None:
    chat.say("2020-01-01", "Ann", "lives_in", "Oslo", valid_from="Y-290000-01-01", valid_to="Y100000-01-01")
    chat.say("2020-01-01", "Ann", "lives_in", "Rome", valid_from="Y100000-01-01")
    last: Instant = 2**63 - 2
    drift = chat.graph.snapshot("main", valid_at=last).drift
    assert objects(drift.retro_edits(0)) == []
    assert objects(chat.drift("2020-06-01").retro_edits(2**31 - 1)) == ["Oslo"]
    [view] = drift.volatility()
    assert view.changes == 1 and view.median_seconds is not None and view.median_seconds > 0


def test_pages_of_slots_make_the_whole(chat: Chat) -> None:
    for person in ("Ann", "Bo", "Cy", "Di", "Ed"):
        for year, firm in ((2001, "Acme"), (2003, "Bravo"), (2005, "Acme"), (2007, "Bravo"))[: 4 if person == "Cy" else 3]:
            chat.say(f"{year}-01-01", person, "works_at", firm)
    drift = chat.drift("2010-01-01")
    assert [view.subject.name for view in pages(lambda after: drift.flip_flops(first=2, after=after))] == ["Cy", "Ann", "Bo", "Di", "Ed"]
