"""LoCoMo files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.workers.readers.writing import read, texts


def sample(**more: Any) -> dict[str, Any]:
    return {
        "qa": [{"question": "When?", "answer": "7 May 2023", "evidence": ["D1:1"], "category": 2}],
        "conversation": {
            "speaker_a": "Ana",
            "speaker_b": "Ben",
            "session_10_date_time": "10:05 am on 3 July, 2023",
            "session_10": [{"speaker": "Ben", "dia_id": "D10:1", "text": "I left Acme."}],
            "session_2_date_time": "1:56 pm on 8 May, 2023",
            "session_2": [
                {"speaker": "Ana", "dia_id": "D2:1", "text": "I adopted a cat yesterday.", "img_url": ["x"], "blip_caption": "a cat"},
                {"speaker": "Ben", "dia_id": "D2:2", "text": "Lovely!"},
            ],
        }
        | more,
        "sample_id": "s1",
    }


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("whole", [[sample()], sample()], ids=["array", "object"])
def test_turns_come_in_the_order_of_the_sessions(tmp_path: Path, whole: Any, indent: int | None) -> None:
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps(whole, indent=indent))
    drafts, rejected, report = read(path)
    assert not rejected
    assert [(draft.external_id, draft.speaker, draft.addressee, draft.said_at) for draft in drafts] == [
        ("s1/D2:1", "Ana", "Ben", "2023-05-08T13:56:00Z"),
        ("s1/D2:2", "Ben", "Ana", "2023-05-08T13:56:00.000001Z"),
        ("s1/D10:1", "Ben", "Ana", "2023-07-03T10:05:00Z"),
    ]
    assert {(draft.source, draft.group, draft.project) for draft in drafts} == {("locomo", "s1", None)}
    assert report.skipped == {"image": 1}


@pytest.mark.parametrize("stamp", ["1:56 pm on 31 April, 2023", "garbage", 5])
def test_a_session_with_a_bad_date_is_refused_alone(tmp_path: Path, stamp: Any) -> None:
    path = tmp_path / "l.json"
    path.write_text(json.dumps([sample(session_2_date_time=stamp)]))
    drafts, rejected, _ = read(path)
    assert texts(drafts) == ["I left Acme."]
    assert [item.kind for item in rejected] == ["timestamp"]


@pytest.mark.parametrize(
    ("change", "kind"),
    [({"session_2": "text"}, "not-an-object"), ({"session_2": [5]}, "text"), ({"session_2": [{"speaker": "Ana"}]}, "text")],
)
def test_a_bad_session_or_turn_is_refused_alone(tmp_path: Path, change: dict[str, Any], kind: str) -> None:
    path = tmp_path / "l.json"
    path.write_text(json.dumps([sample(**change), sample() | {"conversation": 5}]))
    drafts, rejected, _ = read(path)
    assert texts(drafts) == ["I left Acme."]
    assert [item.kind for item in rejected] == [kind, "not-an-object"]


def test_long_questions_before_the_conversation_do_not_hide_the_format(tmp_path: Path) -> None:
    path = tmp_path / "l.json"
    path.write_text(json.dumps([{"qa": sample()["qa"] * 4000} | {key: value for key, value in sample().items() if key != "qa"}]))
    assert len(read(path)[0]) == 3
