"""Watching folders with real files: what is new is taken, once, and nothing is taken before it is whole."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, Thread

import pytest

from tests.workers.destinations import Destination
from tests.workers.readers.writing import record, write_lines
from workers import feed as module
from workers.bulk import Tally, import_drafts
from workers.feed import FedSink, Feed
from workers.journal import Journal
from workers.readers import ReadOptions, ReadReport
from workers.watching import occasions


class Watch:
    """A watch of a folder in a thread of its own."""

    def __init__(self, folder: Path, journal: Path) -> None:
        self.folder, self.destination = folder, Destination()
        self.tally, self.report, self.stop, self.rounds = Tally(), ReadReport(), Event(), 0
        self._journal = journal
        self._thread = Thread(target=self._run)
        self.failure: BaseException | None = None

    def start(self) -> None:
        self._thread.start()

    def _run(self) -> None:
        try:
            journal = Journal(self._journal, "default", self.destination)
            feed = Feed([self.folder], ReadOptions(), self.report, self.tally, journal=journal, stop=self.stop, watching=True)
            for _ in occasions([self.folder], feed, self.stop):
                import_drafts(feed.items(), FedSink(self.destination, feed), threads=1, stop=self.stop, tally=self.tally)
                self.rounds += 1
            journal.close()
        except BaseException as failure:
            self.failure = failure

    def until(self, condition: Callable[[], bool], patience: float = 60) -> None:
        end = time.monotonic() + patience
        while not condition():
            assert self._thread.is_alive(), self.failure
            assert time.monotonic() < end, (self.destination.texts, self.tally)
            time.sleep(0.01)

    def holds(self, *texts: str) -> None:
        """Wait until these are all that it took, each once."""
        self.until(lambda: len(self.destination.took) >= len(texts))
        assert self.destination.texts == sorted(texts)

    def looked(self) -> None:
        """Wait until it has looked again, with nothing to tell it but a file that it passes over."""
        before = self.rounds
        (self.folder / f".{before}").touch()
        self.until(lambda: self.rounds > before)

    def end(self) -> None:
        self.stop.set()
        self._thread.join(30)
        assert not self._thread.is_alive() and self.failure is None


@pytest.fixture
def watch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Watch]:
    monkeypatch.setattr(module, "QUIET", 0.3)
    folder = tmp_path / "sessions"
    folder.mkdir()
    made = Watch(folder, tmp_path / "imports.db")
    yield made
    made.end()


def line(number: int) -> str:
    return json.dumps(record(number, f"tea {number}")) + "\n"


def test_a_session_is_followed_from_its_first_line_to_its_new_name(watch: Watch) -> None:
    path = watch.folder / "a.jsonl"
    path.write_text(line(0))
    watch.start()
    watch.holds("tea 0")
    with path.open("a") as opened:
        opened.write(line(1) + line(2)[:40])
        opened.flush()
        watch.holds("tea 0", "tea 1")
        watch.looked()
        assert watch.tally.failures == []
        opened.write(line(2)[40:])
    watch.holds("tea 0", "tea 1", "tea 2")
    path.rename(watch.folder / "b.jsonl")
    watch.looked()
    with (watch.folder / "b.jsonl").open("a") as opened:
        opened.write(line(3))
    watch.holds("tea 0", "tea 1", "tea 2", "tea 3")
    watch.until(lambda: watch.tally == Tally(accepted=4))


def test_new_folders_links_deletions_and_bad_lines_are_taken_as_they_come(watch: Watch) -> None:
    (watch.folder / "loop").symlink_to(watch.folder)
    watch.start()
    inner = watch.folder / "project" / "deep"
    inner.mkdir(parents=True)
    write_lines(inner / "a.jsonl", [record(0, "tea 0"), b"{no json", record(1, "tea 1")])
    watch.holds("tea 0", "tea 1")
    watch.until(lambda: watch.tally.failed == 1)
    with (inner / "a.jsonl").open("a") as opened:
        opened.write(line(2))
    watch.holds("tea 0", "tea 1", "tea 2")
    (inner / "a.jsonl").unlink()
    watch.looked()
    write_lines(inner / "a.jsonl", [record(5, "pie 5")])
    watch.holds("pie 5", "tea 0", "tea 1", "tea 2")
    assert watch.tally.failed == 1


def test_a_file_that_is_cut_off_or_written_anew_is_read_from_its_start(watch: Watch) -> None:
    path = write_lines(watch.folder / "a.jsonl", [record(0, "tea 0"), record(1, "tea 1")])
    watch.start()
    watch.holds("tea 0", "tea 1")
    write_lines(path, [record(7, "pie 7"), b"{no json"])
    watch.holds("pie 7", "tea 0", "tea 1")
    watch.until(lambda: watch.tally.failed == 1)
    with path.open("r+") as opened:
        opened.truncate(0)
    write_lines(path, [record(7, "pie 7"), record(0, "tea 0"), record(8, "pie 8")])
    watch.holds("pie 7", "pie 8", "tea 0", "tea 1")


def test_what_is_no_lines_is_read_when_it_has_been_quiet(watch: Watch) -> None:
    watch.start()
    path = watch.folder / "standup.md"
    for part in range(4):
        with path.open("a") as opened:
            opened.write(f"Part {part} of a note.\n")
        time.sleep(0.1)
    watch.holds("".join(f"Part {part} of a note.\n" for part in range(4)))
    future = time.time() + 1e6
    other = watch.folder / "later.md"
    other.write_text("A note of tomorrow.")
    os.utime(other, (future, future))
    watch.until(lambda: len(watch.destination.took) == 2)


def test_a_burst_of_files_is_few_occasions(watch: Watch) -> None:
    watch.start()
    watch.until(lambda: watch.rounds > 0)
    for number in range(100):
        write_lines(watch.folder / f"{number}.jsonl", [record(number, f"tea {number}")])
    watch.holds(*(f"tea {number}" for number in range(100)))
    assert watch.rounds < 30


def test_a_second_watch_begins_with_what_came_in_between(watch: Watch, tmp_path: Path) -> None:
    path = write_lines(watch.folder / "a.jsonl", [record(0, "tea 0")])
    watch.start()
    watch.holds("tea 0")
    watch.end()
    with path.open("a") as opened:
        opened.write(line(1))
    other = Watch(watch.folder, tmp_path / "imports.db")
    other.destination = watch.destination
    other.start()
    other.holds("tea 0", "tea 1")
    other.until(lambda: other.tally == Tally(accepted=1, known=1))
    other.end()


def test_a_growing_file_is_not_read_all_the_time(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REST", 1e9)
    path = write_lines(watch.folder / "a.jsonl", [record(0, "tea 0")])
    watch.start()
    watch.holds("tea 0")
    with path.open("a") as opened:
        opened.write(line(1))
    watch.looked()
    watch.holds("tea 0")
