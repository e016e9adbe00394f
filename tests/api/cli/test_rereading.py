"""Commands over a folder of their own, with the real extraction: an overlay tried, reading again, a preview.

What loads the extraction again is deep; the README's commands are run with it in any case.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.api.cli.running import Ran, erstwhile


@pytest.fixture(scope="module")
def kept(ingested: tuple[Path, Ran], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the folder of the small chat, to change."""
    data = tmp_path_factory.mktemp("kept")
    shutil.copytree(ingested[0], data, dirs_exist_ok=True)
    return data


@pytest.mark.deep
def test_reading_again_changes_nothing_and_keeps_rejections(kept: Path) -> None:
    claim = erstwhile("claims", "Ana", "--data", kept, "--json").json[0]["evidence"]["claim"]
    erstwhile("reject", claim, "--reason", "misread", "--data", kept)
    found = erstwhile("reextract", "--workers", "1", "--data", kept, "--json").json
    assert found["episodes"] == 4
    assert (found["changed"], found["added"], found["gone"], found["failures"]) == ([], 0, 0, [])
    assert claim in erstwhile("claims", "--rejected", "--data", kept).out
    erstwhile("restore", claim, "--data", kept)


@pytest.mark.deep
def test_a_changed_vocabulary_reads_other_claims_and_tells_them_in_words(
    kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text("predicates:\n  lives_in: {cardinality: one, range: Place, patterns: []}\n", encoding="utf-8")
    monkeypatch.setenv("ERSTWHILE_ONTOLOGY", str(overlay))
    gone = erstwhile("reextract", "--workers", "1", "--data", kept).out
    assert "  - Ana | lives_in | Lisbon" in gone
    monkeypatch.delenv("ERSTWHILE_ONTOLOGY")
    assert "  + Ana | lives_in | Lisbon" in erstwhile("reextract", "--workers", "1", "--data", kept).out


def test_an_overlay_is_tried_before_it_is_put_in_force(kept: Path, tmp_path: Path) -> None:
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text("predicates:\n  lives_in: {cardinality: many, range: Place}\n", encoding="utf-8")
    tried = erstwhile("ontology", "check", overlay, "--dry-run", "--data", kept, "--json").json
    assert (tried["inForce"], "changed: lives_in" in tried["predicates"]) == (False, True)
    assert tried["namespaces"]["default"]["opened"] > 0
    assert tried["namespaces"]["default"]["transaction"] is None
    done = erstwhile("ontology", "check", overlay, "--data", kept, "--json").json
    assert done["inForce"] is True
    assert done["namespaces"]["default"]["transaction"] > 0
    assert done["namespaces"]["default"]["opened"] == tried["namespaces"]["default"]["opened"]


@pytest.mark.deep
def test_a_preview_of_words_uses_the_real_extraction(kept: Path) -> None:
    out = erstwhile("preview", "I moved to Lisbon. It might rain.", "--speaker", "Zoe", "--data", kept).out
    assert "  Zoe | lives_in | Lisbon" in out
    assert "left out" in out
    assert erstwhile("entities", "Zoe", "--data", kept).out == "nothing is known by that name\n"
