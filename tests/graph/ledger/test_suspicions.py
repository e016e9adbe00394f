"""Signs that one name denotes two: where there is one, and where there is none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from graph.service import LedgerGraph
from graph.views import SuspectedSplit
from ontology.loading import load_vocabulary
from tests.graph.ledger.conftest import EPOCH
from tests.graph.ledger.reading import episode, ids, read
from tests.graph.ledger.saying import claim, when
from tests.graph.ledger.talking import Talk

PAIRED = """predicates:
  owns:     {cardinality: many, inverse: owned_by}
  owned_by: {cardinality: one, inverse: owns}
  works_at: {cardinality: one}
"""


@pytest.fixture
def talk(ledger: LedgerGraph) -> Talk:
    return Talk(ledger)


def told(signs: tuple[SuspectedSplit, ...]) -> list[tuple[str, tuple[str, str], tuple[str, ...], tuple[str, ...]]]:
    return [(sign.predicate, sign.values, sign.groups, sign.sources) for sign in signs]


# ------------------------------------------------------------ what is a sign


def test_two_birth_dates_of_two_groups(talk: Talk) -> None:
    talk.say("2024-01-01", "Alex born_on 1980", group="team")
    talk.say("2024-02-01", "Alex born_on 1990", group="club")
    (sign,) = talk.signs(valid_at=when("2025"))
    assert told((sign,)) == [("born_on", ("1980", "1990"), ("club",), ())]
    assert (sign.at, sign.entity.name, sign.discriminator) == (when("2025"), "Alex", "club")
    assert talk.suspects() == ["Alex"]
    talk.follow(sign)
    assert (talk.signs(), talk.suspects()) == ((), [])


def test_states_whose_attested_spans_overlap(talk: Talk) -> None:
    talk.say("2024-06-01", claim("Alex works_at Acme", valid_from="2024-01-01T00:00:00Z"), group="team")
    talk.say("2024-03-01", claim("Alex works_at Globex", valid_from="2024-02-01T00:00:00Z"), group="club")
    (sign,) = talk.signs()
    assert sign.at == when("2024-03-01")
    assert talk.signs(valid_at=when("2024-02-15"))[0].at == when("2024-02-15")
    assert talk.signs(valid_at=when("2024-01-15"))[0].at == when("2024-02-01"), "the first instant that is still to come"


def test_the_value_that_is_told_more_often_stays_whatever_was_told_last(talk: Talk) -> None:
    for day, group, employer in ((1, "club", "Globex"), (2, "team", "Acme"), (3, "gym", "Acme"), (4, "club", "Globex"), (5, "bar", "Acme")):
        talk.say(f"2024-01-0{day}", claim(f"Alex works_at {employer}", valid_from="2023"), group=group)
    assert told(talk.signs()) == [("works_at", ("Acme", "Globex"), ("club",), ())]


def test_every_group_that_attests_the_weaker_value_meanwhile_is_named(talk: Talk) -> None:
    talk.say("2024-06-01", claim("Alex works_at Acme", valid_from="2024-01-01"), group="team")
    talk.say("2024-05-01", claim("Alex works_at Acme", valid_from="2024-01-01"), group="team")
    talk.say("2024-04-01", claim("Alex works_at Acme", valid_from="2024-01-01"), group="team")
    talk.say("2024-02-01", "Alex works_at Globex", group="club")
    talk.say("2024-03-01", "Alex works_at Globex", group="gym")
    talk.say("2022-03-01", "Alex works_at Globex", group="school")
    (sign,) = talk.signs()
    assert sign.groups == ("club", "gym")
    talk.follow(sign)
    assert talk.suspects() == []


def test_a_qualifier_makes_a_slot_of_its_own(talk: Talk) -> None:
    for group, tune, film in (("team", "waltz", "noir"), ("club", "tango", "noir")):
        talk.say(
            "2024-01-01", claim(f"Alex favorite {tune}", qualifier="tune"), claim(f"Alex favorite {film}", qualifier="film"), group=group
        )
    assert [(sign.qualifier, sign.values) for sign in talk.signs()] == [("tune", ("tango", "waltz"))]


# ------------------------------------------------------------ what is none


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Alex works_at Acme", "Alex works_at Acme"),
        ("Alex likes tea", "Alex likes coffee"),
        ("Alex visited Rome", "Alex visited Oslo"),
        ("Alex works_at Acme", "not Alex works_at Acme"),
        ("Alex works_at Acme", "not Alex works_at Globex"),
        ("Alex works_at Acme", "Sam works_at Globex"),
        ("Alex works_at Acme", "Alex lives_in Oslo"),
    ],
)
def test_what_can_both_be_is_no_sign(one: str, other: str, talk: Talk) -> None:
    talk.say("2024-01-01", one, group="team")
    talk.say("2024-01-01", other, group="club")
    assert (talk.signs(), talk.suspects()) == ((), [])


def test_spans_that_follow_each_other_are_none(talk: Talk) -> None:
    talk.say("2023-06-01", claim("Alex works_at Acme", valid_from="2022-01-01"), group="team")
    talk.say("2024-06-01", claim("Alex works_at Globex", valid_from="2023-07-01"), group="club")
    assert (talk.signs(), talk.suspects()) == ((), [])


def test_values_that_one_group_tells_both_are_none(talk: Talk) -> None:
    talk.say("2024-01-01", "Alex born_on 1980", "Alex born_on 1990", group="team")
    talk.say("2024-01-02", "Alex born_on 1990", group="club")
    assert (talk.signs(), talk.suspects()) == ((), [])


def test_a_value_beside_another_is_none(talk: Talk) -> None:
    talk.say("2024-01-01", "Alex works_at Acme", group="team")
    talk.say("2024-01-01", claim("Alex works_at Globex", additive=True), group="club")
    assert (talk.signs(), talk.suspects()) == ((), [])


def test_joined_names_of_one_value_are_none(talk: Talk) -> None:
    talk.say("2024-01-01", "Alex works_at Acme", group="team")
    talk.say("2024-01-01", "Alex works_at AcmeCorp", group="club")
    assert talk.suspects() == ["Alex"]
    talk.join("Acme", "AcmeCorp")
    assert (talk.signs(), talk.suspects()) == ((), [])


def test_candidates_and_rejected_claims_are_none(talk: Talk) -> None:
    talk.say("2024-01-01", "Alex works_at Acme", group="team")
    talk.say("2024-01-01", claim("Alex works_at Globex", confidence=0.4), group="club")
    assert talk.suspects() == []
    talk.say("2024-01-01", "Alex works_at Initech", group="club")
    assert talk.suspects() == ["Alex"]
    talk.graph.reject(talk.namespace, ids(talk.graph, "Alex works_at Initech", namespace=talk.namespace), reason="misread")
    assert (talk.signs(), talk.suspects()) == ((), [])


# ------------------------------------------------------------ sides


@pytest.mark.parametrize(("one", "other"), [("Alex partner_of Bea", "Alex partner_of Zoe"), ("Alex partner_of Abe", "Zoe partner_of Alex")])
def test_a_symmetric_relation_from_either_side(one: str, other: str, talk: Talk) -> None:
    talk.say("2024-01-01", one, group="team")
    talk.say("2024-01-01", other, group="club")
    assert [sign.predicate for sign in talk.signs()] == ["partner_of"]
    assert talk.suspects() == ["Alex"]
    talk.follow(talk.signs()[0])
    assert (talk.signs(), talk.suspects()) == ((), [])


def test_the_one_valued_side_of_an_inverse_pair(open_graph: Callable[..., LedgerGraph], tmp_path: Path) -> None:
    overlay = tmp_path / "paired.yaml"
    overlay.write_text(PAIRED, encoding="utf-8")
    talk = Talk(open_graph(load_vocabulary(overlay)))
    talk.say("2024-01-01", "Ann owns Rex", "Ann owns Tom", "Bea works_at Acme", group="team")
    talk.say("2024-01-01", "Rex owned_by Bea", "Ben works_at Acme", group="club")
    assert told(talk.signs("Rex")) == [("owned_by", ("Ann", "Bea"), ("club",), ())]
    assert talk.signs("Ann") == talk.signs("Acme") == ()
    assert talk.suspects() == ["Rex"]
    talk.follow(talk.signs("Rex")[0])
    assert talk.suspects() == []


# ------------------------------------------------------------ groups and sources


def test_without_groups_the_sources_are_told_apart(talk: Talk) -> None:
    talk.say("2024-01-01", "Alex born_on 1980", source="chat")
    talk.say("2024-02-01", "Alex born_on 1990", source="mail")
    (sign,) = talk.signs()
    assert told((sign,)) == [("born_on", ("1980", "1990"), (), ("mail",))]
    talk.follow(sign)
    assert (talk.signs(), talk.suspects()) == ((), [])


def test_a_group_and_a_source_of_one_name_are_two(talk: Talk) -> None:
    talk.say("2024-01-01", "Alex born_on 1980", source="chat")
    talk.say("2024-02-01", "Alex born_on 1990", group="chat", source="mail")
    assert talk.suspects() == ["Alex"]


def test_a_source_that_would_take_the_other_value_along_is_not_named(talk: Talk) -> None:
    talk.say("2024-01-01", "Alex born_on 1980", group="team", source="chat")
    talk.say("2024-01-02", "Alex born_on 1980", group="team", source="chat")
    talk.say("2024-02-01", "Alex born_on 1990", source="chat")
    (sign,) = talk.signs()
    assert told((sign,)) == [("born_on", ("1990", "1980"), ("team",), ())]
    talk.follow(sign)
    assert (talk.signs(), talk.suspects()) == ((), [])


# ------------------------------------------------------------ names that are one


def test_a_name_that_is_one_with_another_in_a_group_is_looked_at_with_it(talk: Talk) -> None:
    read(talk.graph, episode("1", group="team"), "Robert also_known_as Bob", "Bob works_at Acme", namespace=talk.namespace)
    talk.say("2024-01-01", "Robert works_at Globex", group="club")
    assert [sign.groups for sign in talk.signs("Robert")] == [("club",)]
    assert talk.signs("Bob") == talk.signs("Robert")
    assert talk.suspects() == ["Robert"]


def test_a_join_of_two_people_is_a_sign_that_parts_them(talk: Talk) -> None:
    talk.say("2024-01-01", "Bob born_on 1980", group="team")
    talk.say("2024-01-02", "Robert born_on 1990", group="club")
    assert talk.suspects() == []
    joined = talk.join("Bob", "Robert")
    (sign,) = talk.signs("Bob")
    assert sign.groups == ("club",)
    talk.follow(sign)
    assert talk.suspects() == []
    assert len(talk.suspects(transaction=joined.transaction)) == 1


# ------------------------------------------------------------ bases, pages, namespaces


def test_signs_are_of_a_basis(talk: Talk) -> None:
    first = talk.say("2024-01-01", "Alex born_on 1980", group="team")
    second = talk.say("2024-02-01", "Alex born_on 1990", group="club")
    split = talk.follow(talk.signs()[0])
    bases: list[tuple[dict[str, int], int]] = [
        ({"transaction": first}, 0),
        ({"transaction": second}, 1),
        ({"transaction": split.transaction}, 0),
        ({"evidence_until": when("2024-01-15")}, 0),
        ({"evidence_until": when("2024-03")}, 1),
        ({"recorded_at": EPOCH}, 0),
    ]
    for basis, signs in bases:
        assert len(talk.signs("Alex", **basis)) == len(talk.suspects(**basis)) == signs, basis


def test_suspects_are_paged_by_name(talk: Talk) -> None:
    for name in ("sam", "Alex", "Zoë", "Élan"):
        talk.say("2024-01-01", f"{name} born_on 1980", group="team")
        talk.say("2024-01-01", f"{name} born_on 1990", group="club")
    assert talk.suspects() == ["Alex", "sam", "Zoë", "Élan"]
    page = talk.graph.snapshot(talk.namespace).suspects(first=3)
    assert ([view.name for view in page.items], page.has_next) == (["Alex", "sam", "Zoë"], True)
    assert len(page.positions) == 3


def test_namespaces_know_nothing_of_each_other(talk: Talk, ledger: LedgerGraph) -> None:
    other = Talk(ledger)
    talk.say("2024-01-01", "Alex born_on 1980", group="team")
    other.say("2024-01-01", "Alex born_on 1990", group="club")
    assert talk.suspects() == other.suspects() == []
    talk.say("2024-01-01", "Alex born_on 1990", group="club")
    assert (talk.suspects(), other.suspects()) == (["Alex"], [])
    assert ledger.snapshot(other.namespace).suspected_splits(talk.key("Alex")) == ()
    assert ledger.snapshot(other.namespace).suspected_splits("nobody") == ()
