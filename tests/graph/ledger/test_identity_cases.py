"""Who is who, case by case: each with the answer that docs/identity.md gives, asked of the brute-force oracle and of a ledger."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from graph.service import LedgerGraph
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


# ------------------------------------------------------------ told joins and their groups


def test_a_told_join_counts_in_its_own_group_alone(case: Case) -> None:
    case.told("2024-01-01", JOIN, "Bob likes tea", group="one")
    case.told("2024-01-02", "Bob likes beer", group="two")
    assert case.now() == ["Bob likes beer", "Robert likes tea"]
    assert case.entity("Robert") == ("Robert", {"Bob"})
    assert case.entity("Bob") == ("Bob", set())
    assert (case.ask("Robert likes tea"), case.ask("Bob likes tea"), case.ask("Bob likes beer")) == ("YES", "UNKNOWN", "YES")


def test_a_second_group_that_tells_the_same_makes_it_count_everywhere(case: Case) -> None:
    case.told("2024-01-01", JOIN, "Robert likes tea", group="one")
    case.told("2024-01-02", "Bob likes beer", group="two")
    assert not case.same("Bob", "Robert")
    case.told("2024-01-03", "Bob also_known_as Robert", group="two")
    assert case.same("Bob", "Robert")
    assert case.ask("Robert likes beer") == case.ask("Bob likes tea") == "YES"


def test_a_person_who_states_it_makes_it_count_everywhere(case: Case) -> None:
    case.told("2024-01-01", JOIN, "Bob likes tea", group="one")
    case.told("2024-01-02", "Bob likes beer", group="two")
    case.stated("2024-01-03", JOIN, group="three")
    assert case.now() == ["Bob likes beer", "Bob likes tea"]
    assert case.same("Bob", "Robert")


def test_a_poisoned_line_joins_nobody_however_often_it_is_told(case: Case) -> None:
    case.told("2024-01-01", "Bob likes tea", group="two")
    for day in range(1, 6):
        case.told(f"2024-02-0{day}", JOIN, group="one", source=f"source {day}")
    case.told("2024-02-10", "Robert likes beer", group="two")
    assert not case.same("Bob", "Robert")
    assert case.now() == ["Bob likes tea", "Robert likes beer"]


def test_without_a_group_the_source_is_the_group(case: Case) -> None:
    case.told("2024-01-01", JOIN, "Bob likes tea", source="chat")
    case.told("2024-01-02", JOIN, "Bob likes milk", source="chat")
    case.told("2024-01-03", "Bob likes beer", source="notes")
    assert case.now() == ["Bob likes beer", "Robert likes milk", "Robert likes tea"]
    case.told("2024-01-04", JOIN, source="notes")
    assert case.same("Bob", "Robert")


def test_a_group_and_a_source_of_one_name_are_two_groups(case: Case) -> None:
    case.told("2024-01-01", JOIN, "Bob likes tea", group="chat", source="app")
    case.told("2024-01-02", "Bob likes beer", source="chat")
    assert case.now() == ["Bob likes beer", "Robert likes tea"]
    case.told("2024-01-03", JOIN, source="chat")
    assert case.same("Bob", "Robert")


def test_a_name_that_one_group_alone_uses_finds_whom_it_denotes_there(case: Case) -> None:
    case.told("2024-01-01", JOIN, "Bob likes tea", group="one")
    assert case.entity("Bob") == case.entity("Robert") == ("Robert", {"Bob"})
    assert case.ask("Bob likes tea") == "YES"


def test_of_names_that_are_aliases_of_each_other_the_least_told_one_is_the_root(case: Case) -> None:
    case.told("2024-01-01", JOIN, "Bob also_known_as Robert", "Robert likes tea", group="one")
    case.told("2024-01-02", "Robert likes beer", group="two")
    # The keys stand in the order Bob, Bobby, Robert.
    assert case.now() == ["Bob likes tea", "Robert likes beer"]


def test_in_a_group_everything_reaches_the_root_also_through_what_is_joined_everywhere(case: Case) -> None:
    case.told("2024-01-01", "Robert also_known_as Bobby", "Bob likes tea", group="one")
    case.told("2024-01-02", "Bob likes beer", "Bobby likes milk", group="two")
    case.stated("2024-01-03", "Bobby also_known_as Bob")
    assert case.ask("Robert likes tea") == "YES"
    assert (case.ask("Bob likes tea"), case.ask("Bob likes beer"), case.ask("Bob likes milk")) == ("UNKNOWN", "YES", "YES")


# ------------------------------------------------------------ joins by persons


def test_a_chain_of_joins_is_one_entity(case: Case) -> None:
    case.stated("2024-01-01", "Robert likes tea", "Bobby likes milk", "Bob likes beer")
    first = case.stated("2024-01-02", "Robert also_known_as Bobby")
    case.stated("2024-01-03", "Bobby also_known_as Bob")
    assert case.same("Robert", "Bob")
    assert case.entity("Robert") == ("Bobby", {"Bob", "Robert"})
    case.reject(first)
    assert case.same("Bobby", "Bob") and not case.same("Robert", "Bob")


def test_a_denial_of_a_pair_that_a_third_joins_parts_nobody(case: Case) -> None:
    case.stated("2024-01-01", "Robert also_known_as Bobby", "Bobby also_known_as Bob", "Robert likes tea")
    case.stated("2024-02-01", "not Robert also_known_as Bob")
    assert case.same("Robert", "Bob") and case.ask("Bob likes tea") == "YES"


def test_a_merge_is_taken_back_by_rejecting_it_and_comes_again_when_restored(case: Case) -> None:
    case.stated("2024-01-01", "Robert works_at Acme")
    case.stated("2024-02-01", "Bob works_at Globex")
    apart = case.spans()
    merged = case.merge("Robert", "Bob")
    assert case.same("Robert", "Bob") and case.ask("Robert works_at Acme") == "NO"
    joined = case.spans()
    case.reject(merged)
    assert case.spans() == apart and not case.same("Robert", "Bob")
    case.restore(merged)
    assert case.spans() == joined


def test_a_denial_said_after_a_merge_parts_it_and_one_said_before_does_not(case: Case) -> None:
    case.stated("2024-01-01", "Robert likes tea", "Bob likes beer")
    case.merge("Robert", "Bob")
    case.stated("2025-01-01", "not Robert also_known_as Bob")
    assert case.same("Robert", "Bob")
    case.stated("2027-01-01", "not Robert also_known_as Bob")
    assert not case.same("Robert", "Bob")


def test_a_join_may_be_retracted_before_it_arrives(case: Case) -> None:
    case.stated("2024-01-01", "Robert likes tea", "Bob likes beer")
    case.retract("withdrawn")
    case.stated("2024-01-02", JOIN, source="chat", label="withdrawn")
    case.stated("2024-01-02", JOIN, source="chat", label="other")
    assert case.same("Robert", "Bob")
    case.retract("other")
    assert not case.same("Robert", "Bob")


@pytest.mark.parametrize(
    "weak",
    [
        claim(JOIN, confidence=0.4),
        claim(JOIN, modality="HYPOTHETICAL"),
        claim(JOIN, modality="PLANNED"),
    ],
    ids=["candidate", "hypothetical", "planned"],
)
def test_a_join_that_makes_no_belief_counts_nowhere(case: Case, weak: object) -> None:
    case.told("2024-01-01", "Robert likes tea", "Bob likes beer", group="one")
    case.told("2024-01-02", weak, "Bob likes milk", group="one")  # type: ignore[arg-type]
    case.stated("2024-01-03", weak)  # type: ignore[arg-type]
    assert not case.same("Robert", "Bob")
    assert case.now() == ["Bob likes beer", "Bob likes milk", "Robert likes tea"]


# ------------------------------------------------------------ denials and corrections


def test_text_against_text_the_later_wins_and_a_tie_holds(case: Case) -> None:
    case.told("2024-01-01", JOIN, "Bob likes tea", group="one")
    case.told("2024-01-01", "Bob likes beer", group="two")
    case.told("2024-02-01", "not Robert also_known_as Bob", group="one")
    assert case.now() == ["Bob likes beer", "Bob likes tea"]
    case.told("2024-02-01", JOIN, group="one")
    assert case.now() == ["Bob likes beer", "Robert likes tea"]


def test_one_groups_denial_does_not_part_what_a_person_joined_but_two_groups_later_words_do(case: Case) -> None:
    case.stated("2024-01-01", JOIN, "Robert likes tea")
    case.told("2024-02-01", "not Bob also_known_as Robert", "Bob likes beer", group="one")
    assert case.same("Robert", "Bob") and case.ask("Robert likes beer") == "YES"
    case.told("2024-02-02", "not Robert also_known_as Bob", group="two")
    assert not case.same("Robert", "Bob") and case.ask("Bob likes beer") == "YES"
    case.stated("2024-03-01", JOIN)
    assert case.same("Robert", "Bob")


def test_a_person_denies_what_two_groups_told(case: Case) -> None:
    for group in ("one", "two"):
        case.told("2024-01-01", JOIN, "Bob likes tea", "Robert likes beer", group=group)
    assert case.same("Robert", "Bob")
    case.stated("2024-02-01", "not Bob also_known_as Robert")
    assert not case.same("Robert", "Bob")
    assert case.now() == ["Bob likes tea", "Robert likes beer"]


def test_a_correction_moves_an_alias(case: Case) -> None:
    case.told("2024-01-01", JOIN, group="one")
    case.told("2024-01-02", "Bob likes tea", "Bobby likes beer", group="one")
    assert case.now() == ["Bobby likes beer", "Robert likes tea"]
    case.told("2024-01-03", claim("Robert also_known_as Bobby", kind="CORRECTION", replaces="Bob"), group="one")
    assert case.now() == ["Bob likes tea", "Robert likes beer"]


def test_a_person_corrects_an_alias_everywhere(case: Case) -> None:
    case.stated("2024-01-01", JOIN, "Bob likes tea", "Bobby likes beer", "Robert likes milk")
    case.stated("2024-01-03", claim("Robert also_known_as Bobby", kind="CORRECTION", replaces="Bob"))
    assert case.same("Robert", "Bobby") and not case.same("Robert", "Bob")
    assert case.ask("Robert likes beer") == "YES" and case.ask("Robert likes tea") == "UNKNOWN"


def test_a_group_that_denies_leaves_what_two_others_told(case: Case) -> None:
    for group in ("one", "two"):
        case.told("2024-01-01", JOIN, "Bob likes tea", group=group)
    case.told("2024-02-01", "not Robert also_known_as Bob", "Robert likes beer", group="three")
    assert case.same("Robert", "Bob") and case.ask("Bob likes beer") == "YES"


def test_an_end_of_a_name_is_a_denial(case: Case) -> None:
    case.stated("2024-01-01", JOIN, "Robert likes tea")
    case.stated("2024-02-01", claim(JOIN, kind="END"))
    assert not case.same("Robert", "Bob")


def test_a_greater_rank_outweighs_what_is_said_later(case: Case) -> None:
    case.stated("2024-01-01", JOIN, "Robert likes tea", rank=1)
    case.stated("2024-02-01", "not Robert also_known_as Bob")
    assert case.same("Robert", "Bob")
    case.stated("2024-01-15", "not Robert also_known_as Bob", rank=1)
    assert not case.same("Robert", "Bob")


# ------------------------------------------------------------ times of belief and of speech


def test_a_join_counts_from_when_it_was_said_under_evidence_until(case: Case) -> None:
    case.stated("2024-01-01", "Robert likes tea", "Bob likes beer")
    case.stated("2024-03-01", JOIN)
    before, after = when("2024-02-29"), when("2024-03-01")
    assert not case.same("Robert", "Bob", until=before) and case.same("Robert", "Bob", until=after)
    assert case.ask("Bob likes tea", until=before) == "UNKNOWN"
    assert case.ask("Bob likes tea", until=after) == "YES"
    assert case.entity("Bob", until=before) == ("Bob", set())


def test_a_second_groups_word_counts_from_when_it_was_said(case: Case) -> None:
    case.told("2024-01-01", JOIN, "Bob likes tea", group="one")
    case.told("2024-03-01", JOIN, "Bob likes beer", group="two")
    assert case.same("Robert", "Bob")
    assert case.entity("Robert", until=when("2024-02-01")) == ("Robert", {"Bob"})
    assert case.ask("Robert likes beer", until=when("2024-02-01")) == "UNKNOWN"


def test_earlier_transactions_do_not_know_a_later_join_whenever_it_was_said(case: Case) -> None:
    case.stated("2024-03-01", "Robert works_at Acme")
    case.stated("2024-04-01", "Bob works_at Globex")
    then = case.moment
    case.stated("2024-01-01", JOIN)
    assert case.now(back=then) == ["Bob works_at Globex", "Robert works_at Acme"]
    assert not case.same("Robert", "Bob", back=then)
    assert case.ask("Robert works_at Acme") == "NO"


# ------------------------------------------------------------ names


def test_the_name_is_the_most_attested_and_of_equal_ones_the_smallest(case: Case) -> None:
    case.stated("2024-01-01", JOIN)
    assert case.entity("Robert") == case.entity("BOB") == ("Bob", {"Robert"})
    case.stated("2024-01-02", "Robert likes tea")
    assert case.entity("Bob") == ("Robert", {"Bob"})
    case.stated("2024-01-03", "BOB likes tea", "BOB likes beer", "BOB likes milk")
    assert case.entity("bob") == ("BOB", {"Bob", "Robert"})


def test_what_a_group_calls_somebody_is_an_alias_and_never_the_name(case: Case) -> None:
    case.told("2024-01-01", "Bobby also_known_as Bob", "Bob likes tea", "Bob likes beer", "Bob likes milk", group="one")
    case.stated("2024-01-02", "Bob likes water")
    assert case.entity("Bobby") == ("Bobby", {"Bob"})
    assert case.entity("Bob") == ("Bob", set())


def test_any_member_finds_the_entity(case: Case) -> None:
    case.stated("2024-01-01", JOIN, "Bob also_known_as Bobby", "Robert likes tea")
    assert case.same(("robert", ""), "Bobby") and case.same(("bobby", ""), "BOB")
    assert case.timeline("Bobby", "likes") == [(when("2024-01-01"), OPEN, {"tea"})]
