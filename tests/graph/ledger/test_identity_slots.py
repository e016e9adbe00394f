"""Splits, and the slots of joined and parted entities, case by case: asked of the brute-force oracle and of a ledger."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from graph.service import LedgerGraph
from ontology.claim import ObjectDraft
from ontology.instant import UNBOUNDED_FUTURE
from ontology.vocabulary import Vocabulary
from tests.graph.ledger.identity_operations import Name
from tests.graph.ledger.identity_saying import Case
from tests.graph.ledger.saying import claim, when

OTHER_BOB: Name = ("bob", "2")
JOIN = "Robert also_known_as Bob"
OPEN = UNBOUNDED_FUTURE


@pytest.fixture(params=["oracle", "ledger"])
def case(request: pytest.FixtureRequest, vocabulary: Vocabulary, open_graph: Callable[[], LedgerGraph]) -> Case:
    return Case(vocabulary, open_graph() if request.param == "ledger" else None)


# ------------------------------------------------------------ splits


def _two_bobs(case: Case) -> None:
    case.told("2024-01-01", "Bob works_at Acme", group="one", source="chat")
    case.told("2024-02-01", "Bob works_at Globex", group="two", source="chat")
    case.told("2024-03-01", "Bob works_at Initech", group="one", source="notes")
    assert case.now() == ["Bob works_at Initech"]


def test_a_split_by_group(case: Case) -> None:
    _two_bobs(case)
    case.split("Bob", groups=["two"])
    assert case.now() == ["Bob works_at Globex", "Bob works_at Initech"]
    assert (case.ask("Bob works_at Initech"), case.ask("Bob works_at Globex")) == ("YES", "NO")
    assert case.entity("Bob") == case.entity(OTHER_BOB) == ("Bob", set())
    assert not case.same("Bob", OTHER_BOB)


def test_a_split_by_source(case: Case) -> None:
    _two_bobs(case)
    case.split("Bob", sources=["chat"])
    assert case.now() == ["Bob works_at Globex", "Bob works_at Initech"]
    case.told("2024-04-01", "Bob works_at Umbrella", group="one", source="chat")
    assert case.now() == ["Bob works_at Initech", "Bob works_at Umbrella"]


def test_of_a_split_by_group_and_source_both_must_match(case: Case) -> None:
    _two_bobs(case)
    split = case.split("Bob", groups=["one"], sources=["chat"])
    assert case.now("2024-01-15") == ["Bob works_at Acme"]
    assert case.ask("Bob works_at Acme", "2024-01-15") == "UNKNOWN"
    assert case.now() == ["Bob works_at Acme", "Bob works_at Initech"]
    case.reject(split)
    assert case.now() == ["Bob works_at Initech"]


def test_each_combination_of_groups_and_sources_is_one_claim(case: Case) -> None:
    _two_bobs(case)
    split = case.split("Bob", groups=["one", "two"], sources=["chat", "notes"])
    assert case.entity("Bob") == ("Bob", set()) and case.ask("Bob works_at Initech") == "YES"
    # Every mention is split off by now, so the name finds the other Bob. Claims 0 to 3: one/chat, one/notes, two/chat, two/notes.
    assert case.same("Bob", OTHER_BOB)
    case.reject(split, 2)
    assert case.now() == ["Bob works_at Globex", "Bob works_at Initech"] and case.ask("Bob works_at Globex") == "YES"


def test_a_merge_after_a_split_makes_one_of_both_again(case: Case) -> None:
    _two_bobs(case)
    before = case.spans()
    case.split("Bob", groups=["two"])
    assert case.spans() != before
    case.merge("Bob", OTHER_BOB)
    assert case.spans() == before and case.same("Bob", OTHER_BOB)


def test_a_split_of_a_joined_name_leaves_its_other_names_alone(case: Case) -> None:
    case.stated("2024-01-01", JOIN)
    case.told("2024-01-02", "Robert likes tea", "Bob likes beer", group="one")
    case.told("2024-01-02", "Bob likes milk", group="two")
    case.split("Bob", groups=["one"])
    assert case.ask("Robert likes tea") == case.ask("Robert likes milk") == "YES"
    assert case.ask("Robert likes beer") == "UNKNOWN"
    assert len(case.now()) == 3 and case.same("Bob", "Robert")


def test_the_ends_of_joins_are_read_by_splits_first(case: Case) -> None:
    case.told("2024-01-01", "Bob likes tea", group="one")
    case.told("2024-01-01", "Bob likes beer", group="two")
    case.split("Bob", groups=["one"])
    case.stated("2024-01-02", JOIN, group="one")
    assert case.same("Robert", OTHER_BOB) and not case.same("Robert", "Bob")
    assert (case.ask("Robert likes tea"), case.ask("Robert likes beer"), case.ask("Bob likes beer")) == ("YES", "UNKNOWN", "YES")


def test_of_two_splits_that_hold_an_episode_the_later_acts(case: Case) -> None:
    case.told("2024-01-01", "Bob likes tea", group="one", source="chat")
    case.told("2024-01-01", "Bob likes beer", group="two", source="notes")
    case.split("Bob", "2", groups=["one"])
    later = case.split("Bob", "3", sources=["chat"])
    third: Name = ("bob", "3")
    assert case.entity(third) == ("Bob", set())
    case.stated("2024-01-02", "Robert likes milk")
    case.merge("Robert", third)
    assert case.ask("Robert likes tea") == "YES"
    case.reject(later)
    assert case.ask("Robert likes tea") == "UNKNOWN"


def test_homonyms_never_meet_in_a_slot(case: Case) -> None:
    case.told("2024-01-01", "Bob born_on 1990", group="one")
    case.told("2024-01-02", "Bob born_on 1970", group="two")
    assert case.ask("Bob born_on 1990") == "NO"
    case.split("Bob", groups=["two"])
    assert case.ask("Bob born_on 1990") == "YES"
    assert case.now() == ["Bob born_on 1970", "Bob born_on 1990"]


# ------------------------------------------------------------ slots of joined entities, joined objects


def test_slots_of_joined_entities_are_resolved_together(case: Case) -> None:
    case.stated("2024-01-01", "Robert works_at Acme")
    case.stated("2024-03-01", "Bob works_at Globex")
    case.stated("2024-04-01", JOIN)
    assert case.timeline("Robert", "works_at") == [
        (when("2024-01-01"), when("2024-03-01"), {"Acme"}),
        (when("2024-03-01"), OPEN, {"Globex"}),
    ]
    assert case.timeline("Bob", "works_at") == case.timeline("Robert", "works_at")


def test_joined_objects_of_a_one_valued_predicate_agree(case: Case) -> None:
    case.stated("2024-01-01", "Anna works_at Acme")
    case.stated("2024-03-01", "Anna works_at Acme Corp")
    assert case.ask("Anna works_at Acme") == "NO"
    case.stated("2024-04-01", "Acme also_known_as Acme Corp")
    assert case.spans() == {"Anna works_at Acme": [(when("2024-01-01"), OPEN)]}
    assert case.ask("Anna works_at Acme Corp", "2024-02-01") == "YES"


def test_joined_objects_of_a_many_valued_predicate_are_one_value(case: Case) -> None:
    case.stated("2024-01-01", "Anna likes Acme")
    case.stated("2024-03-01", "not Anna likes Acme Corp")
    assert case.ask("Anna likes Acme") == "YES"
    case.stated("2024-04-01", "Acme also_known_as Acme Corp")
    assert case.spans() == {
        "Anna likes Acme": [(when("2024-01-01"), when("2024-03-01"))],
        "not Anna likes Acme": [(when("2024-03-01"), OPEN)],
    }


def test_literals_are_never_joined(case: Case) -> None:
    word = replace(claim("Anna likes bob"), object=ObjectDraft("bob", "xsd:string"))
    case.stated("2024-01-01", word, "Anna likes Robert", JOIN)
    case.stated("2024-03-01", "not Anna likes Bob")
    assert case.now() == ["Anna likes bob", "not Anna likes Bob"]


def test_a_correction_reaches_across_joined_names(case: Case) -> None:
    case.stated("2024-01-01", "Robert works_at Acme")
    case.stated("2024-02-01", claim("Bob works_at Globex", kind="CORRECTION", replaces="Acme Corp"))
    case.stated("2024-03-01", JOIN, "Acme also_known_as Acme Corp")
    assert case.timeline("Bob", "works_at") == [(when("2024-01-01"), OPEN, {"Globex"})]


# ------------------------------------------------------------ relations with two sides


def test_a_symmetric_relation_with_either_name_is_one(case: Case) -> None:
    case.stated("2024-01-01", "Robert spouse_of Anna")
    case.stated("2024-02-01", "Anna spouse_of Bob")
    assert case.ask("Robert spouse_of Anna") == "NO"
    case.stated("2024-03-01", JOIN)
    assert case.spans() == {"Anna spouse_of Bob": [(when("2024-01-01"), OPEN)]}


def test_two_who_are_married_and_become_one_are_married_to_themselves(case: Case) -> None:
    case.stated("2024-01-01", "Robert spouse_of Bob", "Robert likes tea")
    case.stated("2024-02-01", JOIN)
    # Absurd, but it is what was said: the relation stays and shows that the join is wrong.
    assert case.spans()["Robert spouse_of Robert"] == [(when("2024-01-01"), OPEN)]
    assert case.ask("Bob spouse_of Robert") == "YES"


def test_an_inverse_pair_across_a_join(case: Case) -> None:
    case.stated("2024-01-01", "Anna reports_to Bob")
    case.stated("2024-03-01", "Robert manager_of Anna")
    assert case.ask("Anna reports_to Bob") == "NO"
    case.stated("2024-04-01", JOIN)
    assert case.spans() == {"Anna reports_to Bob": [(when("2024-01-01"), OPEN)]}
    assert case.ask("Robert manager_of Anna", "2024-02-01") == case.ask("Anna reports_to Robert", "2024-02-01") == "YES"


def test_another_slot_of_a_name_that_one_group_uses_for_the_subject_is_not_its_slot(case: Case) -> None:
    """Also where claims are looked up by all names that may mean the subject."""
    case.told("2024-01-01", "Bob reports_to Ann", group="one")
    case.told("2024-01-01", "Ann also_known_as Bob", "Ann reports_to Carl", group="two")
    for basis in ({}, {"until": OPEN}):
        assert case.timeline("Ann", "reports_to", **basis) == [(when("2024-01-01"), OPEN, {"Carl"})]


def test_what_a_correction_of_a_name_calls_wrong_is_not_lost_under_a_said_time_limit(case: Case) -> None:
    case.stated("2024-01-02", claim("Ann also_known_as Bob", kind="CORRECTION", replaces="Cy"))
    case.stated("2024-01-01", claim("Di likes Cy", kind="CORRECTION", replaces="Bob"))
    assert case.now() == case.now(until=OPEN) == ["Di likes Cy"]
