"""The worked examples of CONTRIBUTING.md work."""

from __future__ import annotations

import re
from pathlib import Path

from extraction.extractor import SpacyExtractor
from extraction.rows import claim_row, turn_from_row
from ontology.loading import load_vocabulary
from ontology.vocabulary import Cardinality

PAGE = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
PREDICATE, RULE = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)


def test_the_predicate_loads(tmp_path: Path) -> None:
    overlay = tmp_path / "ontology.yaml"
    overlay.write_text(PREDICATE, encoding="utf-8")
    found = load_vocabulary(overlay).predicate("volunteers_at")
    assert (found.cardinality, found.inverse, found.range) == (Cardinality.MANY, "has_volunteer", "Organization")


def test_the_rule_reads_its_sentences(tmp_path: Path) -> None:
    overlay = tmp_path / "ontology.yaml"
    overlay.write_text(RULE, encoding="utf-8")
    vocabulary = load_vocabulary(overlay)
    rows = [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in PAGE.splitlines() if line.startswith("| ")][1:]
    assert len(rows) == 5
    turns = [turn_from_row({"id": row[0], "speaker": "Ana", "said": "2024-03-01T10:00:00Z", "text": row[0]}) for row in rows]
    for row, turn, drafts in zip(rows, turns, SpacyExtractor(vocabulary).extract(turns), strict=True):
        found = [claim for draft in drafts if (claim := claim_row(turn, draft, vocabulary))["predicate"] == "volunteers_at"]
        held = [(turn.id, each["object"], each["kind"], each["status"], each["validFrom"] or "") for each in found]
        assert held == ([row] if row[1] else []), row
