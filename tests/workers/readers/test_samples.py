"""The samples of all formats: each is one reader's, the same again adds nothing, and broken copies of them bring nothing down."""

from __future__ import annotations

import random
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from ontology.episode import EpisodeDraft
from ontology.instant import parse_instant
from tests.workers.readers.writing import SAMPLES, drafts_of, read, source_file
from workers.readers import ReadOptions, built_in_readers

FILES = sorted(path for path in SAMPLES.rglob("*") if path.is_file())
NAMES = [path.relative_to(SAMPLES).as_posix() for path in FILES]
TOPS = sorted(SAMPLES.iterdir())
EVERYTHING = ReadOptions(date_order="dmy", start=parse_instant("2026-05-20T15:00:00Z"), include_bots=True)


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_each_sample_is_recognised_by_one_reader(path: Path) -> None:
    # The notes take any text, and are asked last.
    *specific, notes = built_in_readers()
    file = source_file(path)
    takers = [reader.source for reader in specific if reader.recognises(file)]
    assert len(takers) == 1 or (not takers and notes.recognises(file))


@pytest.mark.parametrize("path", TOPS, ids=lambda path: path.name)
def test_a_second_reading_gives_the_same_episodes_and_ids_that_differ(path: Path) -> None:
    once, again = read(path, EVERYTHING)[0], read(path, EVERYTHING)[0]
    assert once == again
    keys = Counter((draft.source, draft.external_id) for draft in once)
    assert once and max(keys.values()) == 1


@pytest.mark.parametrize("path", [path for path in TOPS if path.is_dir()], ids=lambda path: path.name)
def test_a_folder_and_its_zip_hold_the_same_episodes(path: Path, tmp_path: Path) -> None:
    packed = zipped(path, tmp_path / f"{path.name}.zip")
    assert drafts_of(packed, EVERYTHING) == drafts_of(path, EVERYTHING)


@pytest.mark.parametrize("path", TOPS, ids=lambda path: path.name)
def test_a_zip_of_a_sample_is_read_in_a_folder_too(path: Path, tmp_path: Path) -> None:
    (tmp_path / "all").mkdir()
    zipped(path, tmp_path / "all" / f"{path.stem}.zip")
    drafts, _, report = read(tmp_path / "all", EVERYTHING)
    assert len(drafts) == len(drafts_of(path, EVERYTHING)) == report.read


@pytest.mark.parametrize("path", FILES, ids=NAMES)
@pytest.mark.parametrize("make", [lambda data: b"\xef\xbb\xbf" + data, lambda data: data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")])
def test_a_mark_of_byte_order_and_other_ends_of_lines_change_nothing(path: Path, tmp_path: Path, make: object) -> None:
    copy = tmp_path / path.parent.name / path.name
    copy.parent.mkdir(exist_ok=True)
    copy.write_bytes(path.read_bytes())
    plain = drafts_of(copy, EVERYTHING)
    assert callable(make)
    copy.write_bytes(make(path.read_bytes().removeprefix(b"\xef\xbb\xbf")))
    assert [draft.external_id for draft in drafts_of(copy, EVERYTHING)] == [draft.external_id for draft in plain]


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_broken_copies_are_read_or_reported(path: Path, tmp_path: Path) -> None:
    chance = random.Random(path.name)
    good = path.read_bytes()
    for round in range(25):
        target = tmp_path / path.parent.name / path.name
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(mutated(good, chance))
        check(target, ReadOptions() if round % 2 else EVERYTHING)


@pytest.mark.parametrize("path", TOPS, ids=lambda path: path.name)
def test_broken_archives_are_read_or_reported(path: Path, tmp_path: Path) -> None:
    chance = random.Random(path.name)
    good = zipped(path, tmp_path / "good.zip").read_bytes()
    for _ in range(25):
        target = tmp_path / "bad.zip"
        target.write_bytes(mutated(good, chance))
        check(target, EVERYTHING)


def check(path: Path, options: ReadOptions) -> None:
    drafts, _, report = read(path, options)
    for draft in drafts:
        assert isinstance(draft, EpisodeDraft) and draft.content.strip() and draft.external_id
        parse_instant(draft.said_at or "")
        repr(draft).encode()
    assert report.read or report.rejected or report.skipped or report.files or path.suffix == ".zip"


PIECES = [
    b"\n",
    b"\r",
    b"\0",
    b"\xff",
    b": ",
    b"[",
    b"]",
    b"{",
    b"}",
    b'"',
    b"<v ",
    b">",
    b"-->",
    b"99",
    b"\xe2\x80\x8e",
    b"\n\n",
    b"/",
    b".",
]


def mutated(data: bytes, chance: random.Random) -> bytes:
    """`data` with one to eight changes: bytes flipped, cut, doubled or put in, or its end cut off."""
    found = bytearray(data)
    for _ in range(chance.randint(1, 8)):
        at = chance.randrange(len(found) + 1)
        length = chance.choice((1, 2, 8, 60))
        match chance.randrange(5):
            case 0 if found:
                found[min(at, len(found) - 1)] = chance.randrange(256)
            case 1:
                del found[at : at + length]
            case 2:
                found[at:at] = found[at : at + length]
            case 3:
                found[at:at] = chance.choice(PIECES)
            case _ if chance.random() < 0.2:
                del found[at:]
    return bytes(found)


def zipped(path: Path, archive: Path) -> Path:
    """A zip of a file or of what is in a folder."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as opened:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file():
                opened.write(file, file.relative_to(path if path.is_dir() else path.parent))
    return archive
