"""Who is meant: speaker, addressee, owners, names of relatives, pronouns within the turn only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

Say = Callable[..., list[dict[str, Any]]]
Triples = Callable[..., Sequence[tuple[str, str, str]]]


def test_i_is_the_speaker_and_you_the_addressee(triples: Triples) -> None:
    assert triples("I work at Siemens.") == [("Ada", "works_at", "Siemens")]
    assert triples("Your sister works at Siemens.") == [("Bob's sister", "works_at", "Siemens")]


def test_you_without_an_addressee_is_nobody(say: Say) -> None:
    assert say("You live in Turin.", addressee=None) == []


@pytest.mark.parametrize("text", ["We switched to Honeycomb for traces.", "We work at Initech.", "We are engineers."])
def test_a_project_is_no_person(say: Say, text: str) -> None:
    assert not {row["predicate"] for row in say(text, project="kiln")} & {"works_at", "has_role"}


def test_we_is_the_project_or_else_the_speaker(triples: Triples) -> None:
    assert triples("We use Terraform.") == [("Ada", "uses", "Terraform")]
    assert triples("We use Terraform.", project="kiln") == [("kiln", "uses", "Terraform")]


def test_a_relative_without_a_name_is_called_after_its_owner(triples: Triples) -> None:
    assert triples("My parents live in Cork.") == [("Ada's parents", "lives_in", "Cork")]
    assert triples("Grandma moved to Cork.") == [("Ada's grandma", "lives_in", "Cork")]


def test_a_named_relative_has_the_name_and_the_relation(triples: Triples) -> None:
    found = triples("My husband Lars works at Siemens.")
    assert ("Lars", "works_at", "Siemens") in found
    assert ("Ada", "spouse_of", "Lars") in found


@pytest.mark.parametrize(
    ("text", "triple"),
    [
        ("My boss is Karen.", ("Karen", "manager_of", "Ada")),
        ("Karen is my boss.", ("Karen", "manager_of", "Ada")),
        ("I have a daughter named Ines.", ("Ada", "parent_of", "Ines")),
        ("My colleague Rob hates Mondays.", ("Ada", "colleague_of", "Rob")),
        ("Hatsue, daughter of Kenzo Mori, grew up in Sapporo.", ("Hatsue", "child_of", "Kenzo Mori")),
        ("I'm friends with Dora.", ("Ada", "friend_of", "Dora")),
    ],
)
def test_relations_between_people(triples: Triples, text: str, triple: tuple[str, str, str]) -> None:
    assert triple in triples(text)


def test_a_pronoun_finds_its_antecedent_in_the_turn(triples: Triples) -> None:
    found = triples("Maria is a nurse. She works at St. Thomas Hospital.")
    assert ("Maria", "works_at", "St. Thomas Hospital") in found


@pytest.mark.parametrize(
    "text", ["She works at Shell.", "He likes jazz.", "They live in Rome.", "It is written in Rust.", "That works at Shell."]
)
def test_a_pronoun_without_antecedent_makes_no_claim(say: Say, text: str) -> None:
    assert say(text) == []


def test_gender_keeps_pronouns_apart(triples: Triples) -> None:
    found = triples("My sister and my brother were here. She works at Shell.")
    assert ("Ada's sister", "works_at", "Shell") in found
    assert not any(subject == "Ada's brother" for subject, _, _ in found)


def test_a_dropped_subject_is_the_speaker(triples: Triples) -> None:
    assert triples("moved to oslo in jan") == [("Ada", "lives_in", "oslo")]


def test_identifiers_keep_their_spelling(triples: Triples) -> None:
    assert triples("payments-svc depends on Redis.") == [("payments-svc", "depends_on", "Redis")]


def test_ellipsis_repeats_what_was_said(say: Say) -> None:
    rows = {row["subject"]: row for row in say("I no longer maintain the docs site, Rohan does.")}
    assert rows["Ada"]["status"] == "PAST"
    assert (rows["Rohan"]["predicate"], rows["Rohan"]["object"], rows["Rohan"]["status"]) == ("maintains", "docs site", "NOW")


def test_coordinated_objects_are_split(triples: Triples) -> None:
    assert {o for _, _, o in triples("I speak Portuguese and Catalan.")} == {"Portuguese", "Catalan"}
