"""The measurement of recall: what it counts, and how it reads its sets."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benchmarks.recall.__main__ import main
from benchmarks.recall.measures import interval, measure, short, told
from benchmarks.recall.newest import comes_first, questions_of
from benchmarks.recall.questions import read_beam, read_locomo, read_pairs


def test_recall_is_the_share_of_the_wanted_among_the_first() -> None:
    ranking = [str(number) for number in range(20)]
    found = measure(ranking, {"2", "7", "15", "nowhere"})
    assert (found.recall_5, found.recall_10, found.reciprocal) == (0.25, 0.5, 1 / 3)
    assert measure(ranking, {"nowhere"}).reciprocal == 0


def test_an_interval_holds_the_mean_and_is_always_the_same() -> None:
    values = [float(number % 3 == 0) for number in range(300)]
    low, high = interval(values)
    assert low < 1 / 3 < high < low + 0.12
    assert interval(values) == (low, high)


def test_shares_are_told_without_a_leading_zero() -> None:
    assert (short(0.5), short(1.0), short(-0.02)) == (".500", "1.000", "-.020")
    assert told([1.0, 0.0], sure=False) == ".500"
    assert told([]) == ""


def test_the_newer_turn_comes_first_where_it_stands_before_the_older_one() -> None:
    assert comes_first(["x", "new", "old"], {"new"}, {"old"})
    assert not comes_first(["old", "new"], {"new"}, {"old"})
    assert not comes_first(["x"], {"new"}, {"old"})


def test_a_locomo_question_has_the_turns_that_it_names(tmp_path: Path) -> None:
    turns = [{"speaker": "Ada", "dia_id": f"D1:{n}", "text": f"I have {n} cats."} for n in (1, 2)]
    conversation = {"speaker_a": "Ada", "speaker_b": "Bo", "session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": turns}
    asked = [
        {"question": "How many?", "evidence": ["D1:2; D9:9"], "category": 4},
        {"question": "Why?", "evidence": [], "category": 3},
    ]
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps([{"sample_id": "conv-1", "conversation": conversation, "qa": asked}]), encoding="utf-8")
    (found,) = read_locomo(path)
    assert [turn.external_id for turn in found.turns] == ["conv-1/D1:1", "conv-1/D1:2"]
    (question,) = found.questions
    assert question.kind == "one turn"
    assert question.evidence == {"conv-1/D1:2"}


def test_of_a_beam_chat_the_user_turns_are_read_without_their_plan(tmp_path: Path) -> None:
    folder = tmp_path / "1"
    folder.mkdir()
    turns = [
        {"role": "user", "id": 0, "content": "The limit is 5. ->-> 1,1"},
        {"role": "assistant", "id": 1, "content": "Fine."},
        {"role": "user", "id": 2, "content": "It is 7 now."},
    ]
    asked = {"knowledge_update": [{"question": "What is the limit?", "source_chat_ids": {"original_info": [0], "updated_info": [[2], 1]}}]}
    (folder / "chat.json").write_text(json.dumps([{"turns": [turns]}]), encoding="utf-8")
    (folder / "questions.json").write_text(json.dumps(asked), encoding="utf-8")
    (found,) = read_beam(tmp_path)
    assert [turn.content for turn in found.turns] == ["The limit is 5.", "It is 7 now."]
    (question,) = found.questions
    assert question.older == {"beam-1/0"}
    assert question.newer == {"beam-1/2"}


def test_pairs_are_those_that_supersede(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    sides = {side: {"speaker": "Ada", "said": f"2024-0{n}-01T00:00:00Z", "text": f"rent is {n}"} for n, side in ((1, "a"), (2, "b"))}
    rows = [{"id": "one", "label": "supersedes", **sides}, {"id": "two", "label": "none", **sides}]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    (pair,) = read_pairs(path)
    assert pair.newer.said_at == "2024-02-01T00:00:00Z"
    assert questions_of(pair, None)["the words of both"] == "ada rent"


@pytest.mark.parametrize(
    ("given", "told_of"), [([], "name a set"), (["--beam", "nowhere"], "questions.json"), (["--pairs", "nowhere"], "supersedes")]
)
def test_what_is_missing_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], given: list[str], told_of: str
) -> None:
    monkeypatch.setattr(sys, "argv", ["recall", *given])
    with pytest.raises(SystemExit):
        main()
    assert told_of in capsys.readouterr().err
