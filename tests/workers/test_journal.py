"""What an import remembers: it claims what was acknowledged and no more, and of the right destination."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from ontology.episode import EpisodeDraft
from tests.workers.destinations import Destination, Importer
from tests.workers.readers.writing import record, write_lines
from workers import journal as module
from workers.bulk import Tally
from workers.journal import FileState, Journal, digest_of
from workers.readers import ReadOptions


def session(path: Path, count: int, first: int = 0, text: str = "I like tea") -> Path:
    return write_lines(path, [record(number, f"{text} {number}.") for number in range(first, first + count)])


@pytest.fixture
def importer(tmp_path: Path) -> Iterator[Importer]:
    made = Importer(Destination(), tmp_path / "state" / "imports.db")
    yield made
    made.close()


def test_a_second_run_reads_and_sends_nothing_and_says_what_is_known(importer: Importer, tmp_path: Path) -> None:
    path = session(tmp_path / "a.jsonl", 10)
    assert importer.run(path).accepted == 10
    again = importer.run(path)
    assert (again.accepted, again.known, importer.report.skipped) == (0, 10, {"file read before": 1})
    assert len(importer.destination.took) == 10


def test_what_grew_is_sent_and_the_rest_is_known(importer: Importer, tmp_path: Path) -> None:
    path = session(tmp_path / "a.jsonl", 10)
    importer.run(path)
    session(path, 13)
    again = importer.run(path)
    assert (again.accepted, again.known) == (3, 10)
    assert len(importer.destination.took) == 13


def test_a_renamed_file_is_not_read_again(importer: Importer, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    path = tmp_path / "notes" / "monday.md"
    path.write_text("I like tea.", encoding="utf-8")
    importer.run(tmp_path / "notes")
    path.rename(path.with_name("tuesday.md"))
    assert importer.run(tmp_path / "notes") == Tally(known=1)
    assert len(importer.destination.took) == 1


@pytest.mark.parametrize("keeps_its_time", [True, False])
def test_a_file_that_was_written_anew_is_read_from_its_start(importer: Importer, tmp_path: Path, keeps_its_time: bool) -> None:
    path = session(tmp_path / "a.jsonl", 6)
    importer.run(path)
    before = path.stat()
    session(path, 6, text="I like pie")
    if keeps_its_time:
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size
    assert importer.run(path).accepted == 6
    session(path, 2, first=20)
    assert importer.run(path).accepted == 2


def test_other_options_are_another_reading(importer: Importer, tmp_path: Path) -> None:
    path = session(tmp_path / "a.jsonl", 3)
    importer.run(path)
    importer.options = ReadOptions(speaker="Maya")
    assert importer.run(path).accepted == 3


def test_what_was_refused_is_tried_again_and_nothing_of_its_file_is_passed_over(importer: Importer, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl", [record(number, "refuse this" if number == 2 else f"tea {number}") for number in range(8)])
    assert importer.run(path).failed == 1
    assert importer.run(path).failed == 1
    assert "file read before" not in importer.report.skipped


def test_a_bad_line_is_told_each_time(importer: Importer, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl", [record(0, "tea"), b"{no json", record(1, "more tea")])
    assert importer.run(path).failures == importer.run(path).failures != []


@pytest.mark.parametrize("most", range(0, 40, 3))
def test_a_run_that_is_cut_off_anywhere_is_completed_by_the_next(importer: Importer, tmp_path: Path, most: int, monkeypatch: Any) -> None:
    monkeypatch.setattr(module, "SECONDS", 0.0)
    path = session(tmp_path / "a.jsonl", 40)
    importer.destination.most = most
    with pytest.raises(Exception, match="power"):
        importer.run(path)
    sent = len(importer.destination.took)
    importer.destination.most = None
    again = importer.run(path)
    assert len({draft.external_id for draft in importer.destination.took}) == 40
    # Two batches may have been on their way.
    assert again.accepted <= 40 - sent + 8
    assert again.accepted + again.known == 40


def test_what_was_not_written_before_a_kill_is_sent_again(importer: Importer, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(module, "SECONDS", 1e9)
    path = session(tmp_path / "a.jsonl", 12)
    importer.journal().acknowledge([b"0" * 16])
    assert importer.run(path).accepted == 12


def test_a_destination_that_went_back_in_time_gets_everything_again(importer: Importer, tmp_path: Path) -> None:
    path = session(tmp_path / "a.jsonl", 8)
    importer.run(path, threads=1)
    saved = list(importer.destination.times)
    importer.run(session(tmp_path / "b.jsonl", 8, first=100), threads=1)
    importer.destination.took.clear()
    importer.destination.times = saved[:1]
    assert importer.run(path).accepted == 8


def test_another_destination_of_as_many_transactions_gets_everything(importer: Importer, tmp_path: Path) -> None:
    path = session(tmp_path / "a.jsonl", 8)
    importer.run(path)
    importer.destination.times = [time + 1 for time in importer.destination.times]
    assert importer.run(path).accepted == 8


def test_nothing_is_claimed_while_the_destination_does_not_answer(importer: Importer) -> None:
    journal = importer.journal()
    importer.destination.take([EpisodeDraft("tea", "chat")])
    importer.destination.asleep = True
    journal.acknowledge([b"0" * 16])
    journal.flush()
    assert journal.known([b"0" * 16]) == {b"0" * 16}
    importer.destination.asleep = False
    assert importer.journal().known([b"0" * 16]) == set()
    journal.flush()
    assert importer.journal().known([b"0" * 16]) == {b"0" * 16}
    journal.close()


def test_namespaces_do_not_know_of_each_other(importer: Importer, tmp_path: Path) -> None:
    importer.run(session(tmp_path / "a.jsonl", 2))
    digests = [digest_of(draft) for draft in importer.destination.took]
    other = Journal(importer.path, "other", importer.destination)
    assert (len(importer.journal().known(digests)), other.known(digests)) == (2, set())
    importer.journal().forget()
    assert importer.journal().known(digests) == set()
    other.close()


@pytest.mark.parametrize("content", [b"no database at all" * 100, b"SQLite format 3\0" + b"\xff" * 5000, None])
def test_a_journal_that_cannot_be_read_is_begun_anew(importer: Importer, tmp_path: Path, content: bytes | None) -> None:
    path = session(tmp_path / "a.jsonl", 4)
    importer.path.parent.mkdir()
    if content is None:
        with sqlite3.connect(importer.path) as connection:
            connection.execute("PRAGMA user_version = 99")
        connection.close()
    else:
        importer.path.write_bytes(content)
    assert importer.run(path).accepted == 4
    assert importer.run(path).known == 4


def test_an_import_does_without_a_journal_that_breaks_on_the_way(importer: Importer, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(module, "SECONDS", 0.0)
    path = session(tmp_path / "a.jsonl", 12)
    take, breaking = importer.destination.take, [True]

    def take_and_break(drafts: Any) -> Tally:
        if breaking:
            breaking.clear()
            with sqlite3.connect(importer.path) as connection:
                connection.executescript("DROP TABLE drafts; DROP TABLE files;")
            connection.close()
        return take(drafts)

    monkeypatch.setattr(importer.destination, "take", take_and_break)
    assert importer.run(path, threads=1).accepted == 12
    assert "no such table" in str(importer.opened[-1].problem)


def test_the_journal_holds_no_text(importer: Importer, tmp_path: Path) -> None:
    importer.run(session(tmp_path / "diary.jsonl", 4, text="my password is hunter2"))
    for file in importer.path.parent.iterdir():
        data = file.read_bytes()
        assert not any(text in data for text in (b"hunter2", b"password", b"diary", b"claude-code", record(0, "")["uuid"].encode()))
    assert importer.path.stat().st_mode & 0o077 == 0


def test_a_digest_tells_drafts_apart_by_everything_that_they_state() -> None:
    draft = EpisodeDraft("tea", "chat", "1", "g", "Ana", "Ben", "2024", "UTC", 0, {"a": 1}, "2025", True, "acme")
    others: dict[str, Any] = {"rank": 1, "metadata": {"a": 2}, "speech": False}
    changed = [replace(draft, **{each.name: others.get(each.name, "another")}) for each in fields(draft)]
    moved = [replace(draft, group=None, speaker="g"), replace(draft, metadata={"b": 1})]
    assert len({digest_of(each) for each in [draft, *changed, *moved]}) == len(changed) + len(moved) + 1
    assert digest_of(replace(draft, metadata={"b": 2, "a": 1})) == digest_of(replace(draft, metadata={"a": 1, "b": 2}))
    assert digest_of(EpisodeDraft("\ud800", "chat"))


def test_a_file_is_known_only_as_it_was(importer: Importer) -> None:
    importer.destination.take([EpisodeDraft("tea", "chat")])
    journal = importer.journal()
    state = FileState(1, 2**63 - 1, b"", 10, 20, b"head", b"options")
    journal.finish(state, 5)
    for _ in range(2):
        assert journal.drafts_of(state) == 5
        for change in ({"size": 11}, {"modified": 21}, {"head": b"other"}, {"options": b"x"}, {"inode": 3}, {"entry": b"e"}, {"device": 2}):
            assert journal.drafts_of(replace(state, **change)) is None
        journal.flush()
    journal.close()
