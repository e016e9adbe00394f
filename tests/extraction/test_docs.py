"""The worked example of docs/extraction.md is true."""

from __future__ import annotations

import re
from pathlib import Path

from extraction.extractor import SpacyExtractor
from extraction.rows import turn_from_row
from ontology.loading import load_vocabulary

PAGE = Path(__file__).parents[2] / "docs" / "extraction.md"


def test_the_example_of_the_page_yields_what_it_says(tmp_path: Path, extractor: SpacyExtractor) -> None:
    blocks = re.findall(r"```\w+\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    overlay, said, expected = blocks[:3]
    path = tmp_path / "ours.yaml"
    path.write_text(overlay, encoding="utf-8")
    ours = SpacyExtractor(load_vocabulary(path), extractor.model)
    turns = [turn_from_row({"id": line, "speaker": "Ada", "said": "2025-03-12T10:00:00Z", "text": line}) for line in said.splitlines()]
    lines = [
        f"{c.subject} | {c.predicate} | {c.object.text} | {c.kind} | {c.valid_to or ''}".strip()
        for found in ours.extract(turns)
        for c in found
    ]
    assert lines == expected.splitlines()


def test_every_module_that_the_page_names_is_there() -> None:
    text = PAGE.read_text(encoding="utf-8")
    root = PAGE.parents[1]
    for name in re.findall(r"`((?:extraction|ontology)/[\w/]+\.\w+)`", text):
        assert (root / name).is_file(), name
