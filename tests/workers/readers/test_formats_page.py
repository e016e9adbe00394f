"""The page on formats is true: its worked example reads its sample, and it names every kind of refusal."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from ontology.episode import EpisodeDraft
from workers.readers import ReadReport, Rejected, built_in_readers, read_path

PAGE = Path(__file__).parents[3] / "docs" / "formats.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_the_worked_example_reads_its_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("irc")
    monkeypatch.setitem(sys.modules, "irc", module)
    exec(compile(blocks("python")[0], str(PAGE), "exec", dont_inherit=True), module.__dict__)
    path = tmp_path / "log.txt"
    path.write_text(blocks("text")[0] + "nonsense\n2025-02-30 10:00:00 <ana> Hi.\n")
    report = ReadReport()
    items = list(read_path(path, None, report, [module.IrcReader(), *built_in_readers()]))
    drafts = [item for item in items if isinstance(item, EpisodeDraft)]
    assert [(draft.source, draft.speaker, draft.said_at) for draft in drafts] == [
        ("irc", "ana", "2025-03-01T18:02:10Z"),
        ("irc", "ben", "2025-03-01T18:02:31Z"),
    ]
    assert report.rejected == {"text": 1, "timestamp": 1}


def test_every_source_and_every_kind_of_refusal_is_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert all(f"| `{reader.source}` |" in page for reader in built_in_readers())
    kinds = set(re.findall(r"^ +`kind` is one of: (.*?)\.", Rejected.__doc__ or "", re.DOTALL | re.MULTILINE)[0].replace("\n", " ").split())
    for kind in kinds - {"(files);", "(lines)"}:
        assert f"`{kind.strip(',;')}`" in page
