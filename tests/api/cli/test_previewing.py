"""`erstwhile preview`: words and files, with nothing stored."""

from __future__ import annotations

import json
from pathlib import Path

from tests.api.cli.faced import Faced
from tests.workers.extracting import SECRET


def test_words_are_tried_out(faced: Faced) -> None:
    ran = faced.run("preview", "Ada likes tea (she says)", "--speaker", "Ada", "--said-at", "2024-01-01")
    lines = ran.out.splitlines()
    assert lines[:3] == ["Ada likes tea (she says)", "  Ada | likes | tea   (confidence 1.00, triple)", '      "Ada likes tea"']
    assert '  left out (in brackets): "(she says)"' in lines
    assert lines[-1] == "messages 1  claims 1  of these candidates 0  (nothing was stored)"
    assert "  + Ada | likes | tea   2024-01-01 .. now" in lines
    assert faced.client.ok("{ stats { episodes } }") == {"stats": {"episodes": 0}}
    assert "nothing would be noted" in faced.run("preview", "Hello there").out


def test_a_file_is_tried_out_message_by_message(faced: Faced, tmp_path: Path) -> None:
    rows = [
        {"id": str(place), "said": "2024-01-01T00:00:00Z", "speaker": "Ada", "text": text}
        for place, text in enumerate(("Ada likes tea (now)", "nothing", f"{SECRET} Bo likes jazz"))
    ]
    path = tmp_path / "turns.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    out = faced.run("preview", path).out
    assert "messages 3  claims 2" in out
    assert "nothing would be noted" not in out
    assert "left out" not in out
    assert "left out" in faced.run("preview", path, "--dropped").out
    assert "[REDACTED:test:0] Bo likes jazz" in out
    assert "found by the scan: secret:test" in out
    assert SECRET not in out
    assert [len(each["claims"]) for each in faced.run("preview", path, "--json").json] == [1, 0, 1]


def test_a_file_that_is_not_there_is_not_taken_for_words(faced: Faced) -> None:
    ran = faced.run("preview", "missing/chat.json")
    assert (ran.status, ran.out) == (1, "")
    assert "there is no such file" in ran.err


def test_what_steers_a_terminal_is_not_printed(faced: Faced) -> None:
    assert "\x1b" not in faced.run("preview", "\x1b]0;owned\x07 Ada likes tea").out
