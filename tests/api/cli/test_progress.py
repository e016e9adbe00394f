"""What an import shows while it runs."""

from __future__ import annotations

import io
import re

from rich.console import Console

from api.cli.progress import Bar, Lines, counts, summary, summary_lines
from workers.bulk import Tally
from workers.readers import ReadReport


class Time:
    """Seconds that the test lets pass."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_log_gets_a_line_every_ten_seconds_with_what_is_left() -> None:
    time, written = Time(), list[str]()
    lines = Lines(200_000_000, written.append, time)
    tally = Tally(accepted=90, known=10)
    for _ in range(35):
        time.now += 1
        lines.advance(2_000_000)
        lines.update(tally)
    assert len(written) == 3
    assert written[0] == ("reading: 20.0 of 200.0 MB  100 episodes (10/s)  accepted 90  known 10  held back 0  failed 0  about 1:30 left")
    lines.stage("the service extracts")
    time.now += 10
    lines.update(Tally(accepted=100, pending=60))
    assert written[3].startswith("the service extracts: ") and "waiting 60" in written[3]


def test_what_is_waited_for_is_told_at_once_and_not_each_time() -> None:
    time, written = Time(), list[str]()
    lines = Lines(0, written.append, time)
    for _ in range(12):
        lines.say("the server is full; again in 1 s")
        lines.say(None)
        time.now += 1
    assert written == ["the server is full; again in 1 s"] * 2
    lines.update(Tally())
    assert written[2] == "reading: 0 episodes (0/s)  accepted 0  known 0  held back 0  failed 0"


def test_a_terminal_gets_a_bar_with_counts_and_what_is_waited_for() -> None:
    bar = Bar(200_000_000)
    bar.advance(50_000_000)
    bar.update(Tally(accepted=1200, known=3, held_back=2, failed=1))
    bar.say("the server is full; again in 2 s")
    console = Console(file=io.StringIO(), width=100, force_terminal=False)
    console.print(bar.rendered())
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert "50.0/200.0 MB" in shown
    assert re.search(r"1,206 episodes.*accepted 1,200  known 3  held back 2  failed 1", shown)
    assert "the server is full" in shown
    bar.say(None)
    bar.stage("the service extracts")
    console.print(bar.rendered())
    assert console.file.getvalue()[len(shown) :].count("full") == 0  # type: ignore[attr-defined]


def test_the_summary_adds_up() -> None:
    tally = Tally(accepted=7, known=5, held_back=2, failed=1, empty=3, pending=2, failures=["chat 1: no"])
    told = summary(tally, ReadReport())
    assert sum(told["outcomes"][name] for name in ("committed", "deduplicated", "quarantined", "failed", "pending")) == tally.done
    assert list(summary_lines(told)) == [
        "accepted 7  known before 5  held back 2  failed 1",
        "of the accepted 3 hold nothing worth keeping, 2 wait to be extracted",
        "  chat 1: no",
    ]
    assert "(" not in counts(tally, 0.5)
