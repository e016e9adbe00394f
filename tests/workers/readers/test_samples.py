"""The samples of all formats: each is one reader's, the same again adds nothing, and broken copies of them bring nothing down."""

from __future__ import annotations

import json
import random
import zipfile
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ontology.episode import EpisodeDraft
from ontology.instant import parse_instant
from tests.workers.readers.writing import SAMPLES, read_all, source_file
from workers.readers import Draft, ReadOptions, StatedEpisode, built_in_readers

FILES = sorted(path for path in SAMPLES.rglob("*") if path.is_file())
NAMES = [path.relative_to(SAMPLES).as_posix() for path in FILES]
TOPS = sorted(SAMPLES.iterdir())
EVERYTHING = ReadOptions(date_order="dmy", start=parse_instant("2026-05-20T15:00:00Z"), include_bots=True, include_sidechains=True)


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_each_sample_is_recognised_by_one_reader(path: Path) -> None:
    file = source_file(path)
    takers = [reader.source for reader in built_in_readers() if reader.recognises(file)]
    assert len(takers) == 1
    # A folder of samples may say whose they are.
    top = path.relative_to(SAMPLES).parts[0]
    assert top not in [reader.source for reader in built_in_readers()] or takers == [top]


def episode(item: Draft) -> EpisodeDraft:
    return item.episode if isinstance(item, StatedEpisode) else item


def episodes(path: Path) -> list[EpisodeDraft]:
    return [episode(item) for item in read_all(path, EVERYTHING)[0]]


def timeless(drafts: list[EpisodeDraft]) -> list[EpisodeDraft]:
    """Without the times that only their files give."""
    return [replace(draft, said_at=None) if draft.metadata.get("saidAtFrom") == "file" else draft for draft in drafts]


@pytest.mark.parametrize("path", TOPS, ids=lambda path: path.name)
def test_a_second_reading_gives_the_same_episodes_and_ids_that_differ(path: Path) -> None:
    once, again = read_all(path, EVERYTHING)[0], read_all(path, EVERYTHING)[0]
    assert once and once == again
    texts: dict[tuple[str, ...], set[str]] = {}
    for draft in map(episode, once):
        name = (draft.external_id,) if draft.external_id is not None else (draft.group or "", draft.content)
        texts.setdefault((draft.source, *name), set()).add(draft.content)
    # Copies of one message have its ID, and nothing else has.
    assert all(len(each) == 1 for each in texts.values())


@pytest.mark.parametrize("path", [path for path in TOPS if path.is_dir()], ids=lambda path: path.name)
def test_a_folder_and_its_zip_hold_the_same_episodes(path: Path, tmp_path: Path) -> None:
    packed = zipped(path, tmp_path / f"{path.name}.zip")
    assert timeless(episodes(packed)) == timeless(episodes(path))


@pytest.mark.parametrize("path", TOPS, ids=lambda path: path.name)
def test_a_zip_of_a_sample_is_read_in_a_folder_too(path: Path, tmp_path: Path) -> None:
    (tmp_path / "all").mkdir()
    zipped(path, tmp_path / "all" / f"{path.stem}.zip")
    items, _, report = read_all(tmp_path / "all", EVERYTHING)
    assert len(items) == len(episodes(path)) == report.read


@pytest.mark.parametrize("path", FILES, ids=NAMES)
@pytest.mark.parametrize("make", [lambda data: b"\xef\xbb\xbf" + data, lambda data: data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")])
def test_a_mark_of_byte_order_and_other_ends_of_lines_change_nothing(path: Path, tmp_path: Path, make: object) -> None:
    copy = tmp_path / path.parent.name / path.name
    copy.parent.mkdir(exist_ok=True)
    copy.write_bytes(path.read_bytes())
    plain = episodes(copy)
    assert callable(make)
    copy.write_bytes(make(path.read_bytes().removeprefix(b"\xef\xbb\xbf")))
    assert [draft.external_id for draft in episodes(copy)] == [draft.external_id for draft in plain]


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_broken_copies_are_read_or_reported(path: Path, tmp_path: Path) -> None:
    chance = random.Random(path.name)
    good = path.read_bytes()
    for round in range(25):
        target = tmp_path / path.parent.name / path.name
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(mutated(good, chance))
        check(target, ReadOptions() if round % 2 else EVERYTHING)


JSONS = [path for path in FILES if path.suffix in (".json", ".jsonl")]


@pytest.mark.parametrize("path", JSONS, ids=lambda path: path.relative_to(SAMPLES).as_posix())
def test_records_of_other_shapes_are_read_or_reported(path: Path, tmp_path: Path) -> None:
    chance = random.Random(path.name)
    text = path.read_text(encoding="utf-8")
    lines = path.suffix == ".jsonl"
    good = [json.loads(line) for line in text.splitlines()] if lines else json.loads(text)
    for round in range(40):
        target = tmp_path / path.parent.name / path.name
        target.parent.mkdir(exist_ok=True)
        value = json.loads(json.dumps(good))
        for _ in range(chance.randint(1, 6)):
            reshape(value, chance)
        rows = (json.dumps(row) for row in value)
        target.write_text("\n".join(rows) if lines else json.dumps(value), encoding="utf-8")
        check(target, ReadOptions() if round % 2 else EVERYTHING)


VALUES: list[Any] = [
    None,
    True,
    0,
    -1,
    1e300,
    10**30,
    "",
    "x",
    "\0",
    "\ud800",
    "2026-02-30",
    "x" * 2000,
    [],
    {},
    [[]],
    [None, 5, "x", {}],
    {"type": []},
]


def reshape(value: Any, chance: random.Random) -> None:
    """Change one thing inside a JSON array or object: drop it, double it, put something else there, or swap two."""
    while isinstance(value, (list, dict)) and value:
        keys = list(range(len(value))) if isinstance(value, list) else list(value)
        key = chance.choice(keys)
        inner = value[key]
        if isinstance(inner, (list, dict)) and inner and chance.random() < 0.8:
            value = inner
            continue
        match chance.randrange(4):
            case 0:
                del value[key]
            case 1:
                value[key] = deepcopy(chance.choice(VALUES))
            case 2:
                other = chance.choice(keys)
                value[key], value[other] = value[other], value[key]
            case _:
                value[key] = [inner, inner] if isinstance(value, dict) else {"type": "text", "text": inner, "content": inner}
        return


@pytest.mark.parametrize("path", TOPS, ids=lambda path: path.name)
def test_broken_archives_are_read_or_reported(path: Path, tmp_path: Path) -> None:
    chance = random.Random(path.name)
    good = zipped(path, tmp_path / "good.zip").read_bytes()
    for _ in range(25):
        target = tmp_path / "bad.zip"
        target.write_bytes(mutated(good, chance))
        check(target, EVERYTHING)


def check(path: Path, options: ReadOptions) -> None:
    items, _, report = read_all(path, options)
    for draft in map(episode, items):
        assert draft.content.strip() and (draft.external_id or draft.source == "mcp-memory")
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
