"""Messages carry everything of what they are made from."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

import pytest

from ontology.claim import ClaimDraft, ClaimKind, Modality, ObjectDraft
from ontology.episode import Turn
from workers.broker.messages import VERSION, ClaimMessage, ExtractTask, Malformed, TaskEpisode, packed, unpacked

FULL = ClaimDraft(
    subject="Ada",
    predicate="works_at",
    object=ObjectDraft("42", "xsd:integer"),
    qualifier="port",
    polarity=False,
    kind=ClaimKind.CORRECTION,
    modality=Modality.REPORTED,
    valid_from="2020-01",
    valid_to="2021~",
    replaces=ObjectDraft("Acme", "xsd:string"),
    additive=True,
    attributed_to="Bob",
    start=2,
    end=5,
    rule="a rule",
    confidence=0.25,
    subject_type="Person",
    object_type="Organization",
    act=True,
)


def test_every_field_of_a_claim_travels() -> None:
    plain = ClaimDraft("x", "y", ObjectDraft("z"))
    assert [field.name for field in fields(ClaimDraft) if getattr(FULL, field.name) == getattr(plain, field.name)] == []
    for claim in (FULL, plain):
        message = ClaimMessage.of(claim, "åéø😀ab")
        assert unpacked(ClaimMessage, packed(message)).draft == claim
    assert ClaimMessage.of(FULL, "åéø😀ab").quote == "ø😀a"


def test_every_field_of_a_turn_travels() -> None:
    turn = Turn("id", "text\u2028\x00 é", 5, "Ada", "Bob", "Europe/Oslo", "apollo", "Ann")
    row = TaskEpisode(row=1, round=2, begun=0, key="k", **asdict(turn))
    task = ExtractTask(v=VERSION, chunk="c", queue="bulk", vocabulary="v", episodes=[row])
    assert all(getattr(turn, field.name) for field in fields(Turn))
    assert unpacked(ExtractTask, packed(task)) == task
    assert unpacked(ExtractTask, packed(task)).episodes[0].turn == turn


@pytest.mark.parametrize("change", [{"row": -1}, {"row": 1.5}, {"row": "1"}, {"row": True}, {"text": None}, {"said": "now"}, {"more": 1}])
def test_a_message_of_another_form_is_none_and_is_not_quoted(change: dict[str, Any]) -> None:
    import json

    row = {"row": 1, "round": 2, "begun": 0, "key": "k", "id": "i", "text": "hidden", "said": 5} | change
    with pytest.raises(Malformed) as failure:
        unpacked(TaskEpisode, json.dumps(row).encode())
    assert "hidden" not in str(failure.value)
    assert "more" not in str(failure.value)
