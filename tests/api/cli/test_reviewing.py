"""`erstwhile review`, with answers piped in and at a terminal."""

from __future__ import annotations

import io
import os
import pty
import re
import select
import subprocess
import sys
import time
from typing import Any

import pytest

from api.cli.review import sentence
from tests.api.cli.faced import Faced
from tests.api.cli.running import Ran
from tests.api.stating import state

TEXT = "Hello all. On Monday Ada works at Acme, she says! More later."


def said(faced: Faced) -> None:
    """One sure claim, one candidate, newest first in this order."""
    quoted = {"subject": {"name": "Ada"}, "predicate": "works_at", "object": {"name": "Acme"}, "quote": "Ada works at Acme"}
    unsure = {"subject": {"name": "Bo"}, "predicate": "likes", "object": {"name": "tea"}, "confidence": 0.4}
    state(faced.client, "1", "2023-01-01", statements=[unsure])
    state(faced.client, "2", "2024-01-01", content=TEXT, statements=[quoted], speaker="Ada", group="team")


@pytest.fixture
def reviewed(faced: Faced, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs a review with lines as answers."""

    def run(answers: str, *options: str) -> Ran:
        monkeypatch.setattr(sys, "stdin", io.StringIO(answers))
        return faced.run("review", *options)

    return run


def objects(faced: Faced) -> list[tuple[str, bool]]:
    """Claims as they are now: object, and whether it is rejected."""
    return [(row["of"], row["rejected"]) for row in faced.claims()]


def test_nothing_to_review_is_said(faced: Faced, reviewed: Any) -> None:
    ran = reviewed("")
    assert ran.out == "nothing to review: there are no candidates, contested claims, claims of a confidence below 0.7, new claims\n"
    said(faced)
    ran = reviewed("", "--below", "0.2", "--source", "elsewhere")
    assert ran.out == "nothing to review: there are no claims of a confidence below 0.2 in that time or source\n"


def test_a_claim_is_shown_in_its_sentence_with_the_reading_under_it(faced: Faced, reviewed: Any) -> None:
    said(faced)
    lines = reviewed("k\ns\n").out.splitlines()
    assert lines[0].startswith("2 to review")
    at = lines.index("1/2")
    assert lines[at + 1] == '  "On Monday [Ada works at Acme], she says!" - Ada, 2024-01-01'
    assert lines[at + 2] == "  Ada | works_at | Acme   (confidence 1.00, client)"
    assert "  (stated without words) - test, 2023-01-01" in lines
    assert lines[-1] == "kept 1  rejected 0  corrected 0  skipped 1  left 0"


def test_a_quote_that_is_all_there_is_stands_without_a_mark(faced: Faced, reviewed: Any) -> None:
    whole = {"subject": {"name": "Ada"}, "predicate": "likes", "object": {"name": "tea"}, "quote": "Ada likes tea."}
    state(faced.client, "1", "2024-01-01", content="Hello. Ada likes tea.", statements=[whole], speaker="Ada\x1b[2J")
    assert '  "Ada likes tea." - Ada\N{REPLACEMENT CHARACTER}[2J, 2024-01-01' in reviewed("").out.splitlines()


def test_rejecting_takes_a_reason_or_its_default(faced: Faced, reviewed: Any) -> None:
    said(faced)
    reviewed("r\nnot Ada\nr\n\n")
    assert faced.claims() == [{"of": "Acme", "rejected": True, "why": "not Ada"}, {"of": "tea", "rejected": True, "why": "misread"}]


def test_correcting_states_the_claim_as_the_person_says_and_rejects_the_reading(faced: Faced, reviewed: Any) -> None:
    said(faced)
    out = reviewed("c\nGlobex\n2023-05\n\nq\n").out
    assert "stated in transaction" in out
    assert out.splitlines()[-1] == "kept 0  rejected 0  corrected 1  skipped 0  left 1"
    assert ("Globex", False) in objects(faced)
    assert ("Acme", True) in objects(faced)
    parts = "validFrom saidAt evidence { quote episode { group speaker } }"
    stated = faced.client.ok(f'{{ asOf {{ claims(filter: {{source: "review"}}) {{ edges {{ node {{ {parts} }} }} }} }} }}')["asOf"][
        "claims"
    ]["edges"][0]["node"]
    assert (stated["validFrom"], stated["saidAt"]) == ("2023-05", "2024-01-01T00:00:00Z")
    assert stated["evidence"] == {"quote": "Ada works at Acme", "episode": {"group": "team", "speaker": "Ada"}}


def test_what_is_refused_is_said_and_asked_again(faced: Faced, reviewed: Any) -> None:
    said(faced)
    out = reviewed("c\nGlobex\n2023-02-30\n\nc\n\n\n\nx\nk\n").out
    assert "refused: " in out
    assert "nothing differs" in out
    assert "no such key" in out
    assert "kept 1" in out
    assert ("Acme", False) in objects(faced)


def test_a_candidate_that_was_read_well_is_stated(faced: Faced, reviewed: Any) -> None:
    said(faced)
    reviewed("c\n\n\n\n", "--candidates")
    assert objects(faced).count(("tea", False)) == 2
    assert ("tea", True) not in objects(faced)


def test_what_a_correction_leaves_as_it_was_stays_the_same_entity(faced: Faced, reviewed: Any) -> None:
    state(faced.client, "1", "2024-01-01", ("Bo", "likes", "Sam"), group="club")
    assert faced.run("split", "Sam", "--group", "club", "--as", "of the club").status == 0
    out = reviewed("c\n\n2023-05\n\n", "--since", "2024", "--source", "test").out
    assert "  Bo | likes | Sam (of the club)" in out
    assert "stated in transaction" in out
    (held,) = [line for line in faced.run("as-of", "2024-02", "Bo").out.splitlines() if "likes" in line]
    assert held.startswith("  Bo | likes | Sam (of the club)   2023-05 ..")


def test_the_last_decision_is_undone(faced: Faced, reviewed: Any) -> None:
    said(faced)
    out = reviewed("u\nr\n\nu\nc\nGlobex\n\n\nu\nk\nu\n").out
    assert "there is nothing to undo" in out
    assert [line.strip() for line in out.splitlines() if "undone" in line] == ["undone: rejected", "undone: corrected", "undone: kept"]
    assert not any(row["rejected"] for row in faced.claims())
    held = faced.client.ok("{ asOf { statements { edges { node { object { ... on Entity { name } } } } } } }")["asOf"]["statements"][
        "edges"
    ]
    assert sorted(edge["node"]["object"]["name"] for edge in held) == ["Acme"]
    assert out.splitlines()[-1] == "kept 0  rejected 0  corrected 0  skipped 0  left 2"


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        (["--candidates"], ["tea"]),
        (["--below", "0.6"], ["tea"]),
        (["--since", "2023-06"], ["Acme"]),
        (["--since", "2023-06", "--candidates"], []),
        (["--contested"], []),
        (["--first", "1"], ["Acme"]),
        (["--source", "test"], ["Acme", "tea"]),
    ],
)
def test_what_is_walked_is_chosen(options: list[str], shown: list[str], faced: Faced, reviewed: Any) -> None:
    said(faced)
    out = reviewed("", *options).out
    # The input ends at the first question.
    assert ("nothing to review" in out) is not bool(shown)
    if shown:
        assert out.startswith(f"{len(shown)} to review")
        assert f"| {shown[0]}" in out


def test_contested_slots_are_walked_with_all_their_claims(faced: Faced, reviewed: Any) -> None:
    state(faced.client, "1", "2023-01-01", ("Ada", "works_at", "Acme"), ("Ada", "works_at", "Globex"), ("Ada", "likes", "tea"))
    assert reviewed("", "--contested").out.startswith("2 to review: contested claims")


def test_the_sentence_around_a_quote() -> None:
    start = TEXT.index("Ada")
    assert sentence(TEXT, start, start + 3) == ("On Monday ", "Ada", " works at Acme, she says!")
    assert sentence("one\ntwo three\nfour", 8, 13) == ("two ", "three", "")
    assert sentence("All of it.", 0, 10) == ("", "All of it.", "")


def test_single_keys_are_enough_at_a_terminal(faced: Faced) -> None:
    said(faced)
    ours, theirs = pty.openpty()
    code = "from api.cli import main; main()"
    command = [sys.executable, "-c", code, "review", *faced.options]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True) as child:
        os.close(theirs)
        try:
            screen = Screen(ours)
            screen.until("quit > ")
            assert "\x1b[1mAda works at Acme\x1b[0m" in screen.text
            # The arrow to the right ends with a C, and is no key.
            screen.press("\x1b[C")
            screen.press("r")
            screen.until("why [misread]: ")
            screen.press("not sp\x7f\x7fAda\n")
            screen.until("2/2")
            screen.until("quit > ")
            screen.press("q")
            assert "rejected 1" in screen.until("left 1")
            assert child.wait(10) == 0
        finally:
            # Where the test has failed it still waits for a key.
            child.kill()
    os.close(ours)
    assert [row["why"] for row in faced.claims()] == ["not Ada", None]


class Screen:
    """What a terminal shows, and its keyboard."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.text = ""
        self._seen = 0

    def press(self, keys: str) -> None:
        os.write(self._descriptor, keys.encode())

    def until(self, words: str, patience: float = 15) -> str:
        """All that was shown, when `words` come after what was waited for before."""
        end = time.monotonic() + patience
        while (at := self.text.find(words, self._seen)) < 0:
            ready, _, _ = select.select([self._descriptor], [], [], max(end - time.monotonic(), 0))
            assert ready, re.sub(r"\s+", " ", self.text)
            self.text += os.read(self._descriptor, 4096).decode()
        self._seen = at + len(words)
        return self.text
