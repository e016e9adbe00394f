"""Names and copies that people reported of like products, from the file to the answer: real readers, extraction and ledger."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from extraction.extractor import SpacyExtractor
from graph.service import LedgerGraph
from graph.views import EntityRef, StatementFilter
from ontology.episode import EpisodeDraft
from ontology.loading import load_vocabulary
from tests.workers.readers.writing import record, uuid, write_lines
from workers.readers import ReadOptions, read_path
from workers.turns import said_at, turn_of


@pytest.fixture(scope="module")
def extractor() -> SpacyExtractor:
    return SpacyExtractor(load_vocabulary())


class Files:
    """A ledger that files are read into, as the user Maya says them."""

    def __init__(self, graph: LedgerGraph, extractor: SpacyExtractor, folder: Path) -> None:
        self.graph, self.extractor, self.folder = graph, extractor, folder
        self._names = itertools.count()

    def take(self, *lines: dict[str, Any] | bytes) -> None:
        """Write a session and read it in."""
        path = write_lines(self.folder / f"{next(self._names)}.jsonl", lines)
        drafts = [item for item in read_path(path, ReadOptions(speaker="Maya")) if isinstance(item, EpisodeDraft)]
        claims = self.extractor.extract([turn_of(draft, said_at(draft)) for draft in drafts])
        for draft, found in zip(drafts, claims, strict=True):
            self.graph.record_extracted("n", [(draft, found, ())], extractor=self.extractor.id)

    def statements(self) -> set[tuple[str, str, str]]:
        """Subject's key, predicate and object of what is believed."""
        page = self.graph.snapshot("n").statements(StatementFilter(), first=100)
        return {(view.subject.key, view.predicate, str(view.object)) for view in page.items}

    def episodes(self) -> list[str | None]:
        """The texts that are evidence."""
        return [view.content for view in self.graph.snapshot("n").episodes(first=100).items]

    def entity(self, name: str) -> str | None:
        """The key that a name finds."""
        found = self.graph.snapshot("n").entity(EntityRef(name=name))
        return None if found is None else found.key


@pytest.fixture
def files(open_graph: Callable[..., LedgerGraph], extractor: SpacyExtractor, tmp_path: Path) -> Files:
    return Files(open_graph(load_vocabulary()), extractor, tmp_path)


def said(*texts: str) -> list[dict[str, Any]]:
    return [record(place, text) for place, text in enumerate(texts, 1)]


def test_spellings_of_one_name_in_texts_are_one_entity(files: Files) -> None:
    files.take(*said("Zo\u00eb lives in Rome.", "Zoe\u0308 works at Acme.", "Al\u200bice works at Acme.", "Alice\u00a0lives in Rome."))
    assert files.entity("Zo\u00eb") == files.entity("Zoe\u0308") is not None
    assert files.entity("Alice") == files.entity("Al\u200bice") == files.entity("Alice\u00a0") is not None
    assert len({subject for subject, _, _ in files.statements()}) == 2


def test_a_name_behind_a_direction_override_is_not_the_one_that_it_shows(files: Files) -> None:
    files.take(*said("\u202eecilA works at Acme.", "Alice lives in Rome."))
    assert files.entity("\u202eecilA") != files.entity("Alice")
    assert files.entity("\u202eecilA") is not None
    assert "\u202eecilA works at Acme." in files.episodes()


def test_names_in_other_scripts_stay_apart(files: Files) -> None:
    names = ["\u5f20\u4f1f", "\u5f35\u5049", "\u0410\u043d\u043d\u0430", "Anna", "\u0623\u062d\u0645\u062f", "\u0627\u062d\u0645\u062f"]
    # As speakers: the parser does not know every name.
    files.take(*({"speaker": name, "text": "I work at Acme.", "timestamp": 1_740_000_000 + place} for place, name in enumerate(names)))
    assert len({files.entity(name) for name in names} - {None}) == len(names)


def test_a_lone_surrogate_is_mended_and_emoji_stay_whole(files: Files) -> None:
    line = json.dumps(record(1, "I live in Rome. X \U0001f469\u200d\U0001f4bb"), ensure_ascii=False).replace("X", "\\ud800").encode()
    files.take(line)
    (text,) = files.episodes()
    assert text is not None
    assert "\ufffd" in text and "\U0001f469\u200d\U0001f4bb" in text
    assert files.entity("Maya") is not None


def test_history_that_a_compaction_wrote_again_adds_nothing(files: Files) -> None:
    cities = ["Rome", "Oslo", "Bern", "Turin"]
    lines = [record(place, f"Person{place} lives in {cities[place % 4]}.", uuid=uuid(place)) for place in range(20)]
    files.take(*lines)
    before = files.statements(), sorted(map(str, files.episodes()))
    files.take(*lines, *lines[:15])
    files.take(*lines[:15])
    assert (files.statements(), sorted(map(str, files.episodes()))) == before
    assert len(before[1]) == 20


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_copy_that_differs_in_metadata_is_nothing_new_and_one_that_differs_in_text_a_revision(
    files: Files, order: tuple[int, int]
) -> None:
    one = [record(1, "Ana lives in Rome.", gitBranch="main"), record(2, "Ben lives in Oslo.")]
    two = [record(1, "Ana lives in Rome.", gitBranch="dev"), record(2, "Ben lives in Bern.")]
    for place in order:
        files.take(*(one, two)[place])
    assert sorted(map(str, files.episodes())) == ["Ana lives in Rome.", "Ben lives in Oslo."]
    key = files.entity("Ben")
    assert [found for found in files.statements() if found[0] == key and "Bern" in found[2]] == []
