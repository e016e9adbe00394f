"""All formats, imported twice: the second time adds nothing, whether the journal knows of the first or the ledger alone does."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.api.cli.importing_process import open_inline
from tests.canonical import canonical_export, differences
from tests.workers.readers.writing import SAMPLES
from workers.bulk import Tally, import_drafts
from workers.feed import FedSink, Feed
from workers.readers import ReadOptions, ReadReport
from workers.sink import LocalSink

SOURCES = {"claude-code", "codex", "chatgpt", "slack", "whatsapp", "meeting", "mcp-memory", "chat", "locomo", "notes"}
"""Every format, each of which the samples and examples hold."""


class Settings:
    def __init__(self, data: Path) -> None:
        self.data = data


@pytest.fixture(scope="module")
def twice(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Tally], list[dict[str, dict[str, list[str]]]], set[str]]:
    """The counts of both runs, what the graph held after each, and the sources."""
    folder = tmp_path_factory.mktemp("twice")
    root = Path(__file__).parents[2]
    for name, path in {"samples": SAMPLES, "examples": root / "examples"}.items():
        shutil.copytree(path, folder / "texts" / name)
    (folder / "data").mkdir()
    tallies, exports, sources = [], [], set()
    service = open_inline(Settings(folder / "data"))
    try:
        for _ in range(2):
            tally = Tally()
            options = ReadOptions(speaker="Maya", date_order="dmy", include_sidechains=True, include_bots=True)
            feed = Feed([folder / "texts"], options, ReadReport(), tally)
            sink = LocalSink(service.graph, service.ingestion, service.ingestion.pool, "default")
            import_drafts(feed.items(), FedSink(sink, feed), threads=2, tally=tally)
            tallies.append(tally)
            exports.append(canonical_export(folder / "data"))
        page = service.graph.snapshot("default").episodes(first=5000)
        sources = {row.source for row in page.items}
    finally:
        service.close()
    return tallies, exports, sources


def test_the_second_time_adds_nothing(twice: tuple[list[Tally], list[dict[str, dict[str, list[str]]]], set[str]]) -> None:
    (first, second), (before, after), _ = twice
    assert (second.accepted, second.held_back) == (0, 0)
    assert second.known == first.accepted + first.known + first.held_back > 200
    assert sorted(second.failures) == sorted(first.failures)
    assert differences(before, after) == []


def test_every_format_is_among_them(twice: tuple[list[Tally], list[dict[str, dict[str, list[str]]]], set[str]]) -> None:
    assert twice[2] >= SOURCES
