"""Commands about the vocabulary."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml

from api.cli.overlay import overlay_lines
from api.folder import owned
from ontology.loading import load_vocabulary
from ontology.vocabulary import Cardinality
from tests.api.cli.faced import Faced
from tests.api.cli.running import erstwhile
from tests.api.stating import state


def test_undeclared_predicates_are_printed_as_an_overlay_that_loads(faced: Faced, tmp_path: Path) -> None:
    quoted = {"subject": {"name": "Ada"}, "predicate": "mentors", "object": {"name": "Bo"}, "quote": "Ada mentors Bo:\n- daily"}
    state(faced.client, "1", "2024-01-01", content="Ada mentors Bo:\n- daily", statements=[quoted])
    mentors = [(teacher, "mentors", pupil) for teacher in ("Ada", "Cy", "Di", "Ed") for pupil in ("Flo", "Gus")]
    told = [claim for claim in mentors if claim not in (("Cy", "mentors", "Gus"), ("Di", "mentors", "Gus"), ("Ed", "mentors", "Gus"))]
    state(faced.client, "2", "2024-01-01", *told, ("Ada", "hums", "tunes"))
    state(faced.client, "3", "2024-01-01", *((f"lamp {number}", "on", "desk") for number in range(5)))
    out = faced.run("ontology", "review").out
    assert "  # 6 claims on 4 subjects; 1 of them with several values at a time" in out
    assert '  #   "Ada mentors Bo: - daily"' in out
    path = tmp_path / "overlay.yaml"
    path.write_text(out, encoding="utf-8")
    known = load_vocabulary(path)
    assert (known.predicate("mentors").declared, known.predicate("on").declared, known.predicate("hums").declared) == (True, True, False)
    assert known.predicate("mentors").cardinality is Cardinality.MANY
    assert [row["name"] for row in faced.run("ontology", "review", "--least", "1", "--json").json] == ["mentors", "on", "hums"]


def test_where_nothing_is_undeclared_the_overlay_is_empty_and_loads(faced: Faced, tmp_path: Path) -> None:
    out = faced.run("ontology", "review").out
    assert out.startswith("# no undeclared predicate has 5 claims or more\n")
    path = tmp_path / "overlay.yaml"
    path.write_text(out, encoding="utf-8")
    assert load_vocabulary(path).version == load_vocabulary().version


@pytest.mark.parametrize("name", ["on", "no", "null", "y", "true", "plain", "e1"])
def test_names_that_yaml_reads_as_something_else_stay_names(name: str) -> None:
    row = {"name": name, "claims": 5, "subjects": 1, "several": 0, "examples": [], "cardinality": "MANY", "temporal": "STATE"}
    assert list(yaml.safe_load("\n".join(overlay_lines([row], 5)))["predicates"]) == [name]


def test_an_overlay_is_put_in_force_and_the_way_to_keep_it_is_said(tmp_path: Path) -> None:
    overlay, data = tmp_path / "overlay.yaml", tmp_path / "data"
    overlay.write_text("predicates:\n  mentors: {cardinality: one}\n", encoding="utf-8")
    ran = erstwhile("ontology", "check", overlay, "--data", data)
    assert f"set ERSTWHILE_ONTOLOGY={overlay}" in ran.out
    assert "is in force already" in erstwhile("ontology", "check", overlay, "--data", data).out
    assert "is in force already" in erstwhile("ontology", "check", overlay, "--dry-run", "--data", data).out


def test_a_vocabulary_is_not_changed_while_somebody_reads(faced: Faced, tmp_path: Path) -> None:
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text("predicates: {}\n", encoding="utf-8")
    ran = erstwhile("ontology", "check", overlay, "--dry-run", "--data", faced.folder)
    assert (ran.status, ran.out) == (1, "")
    assert "the server at http://127.0.0.1:" in ran.err
    assert "stop it" in ran.err
    with owned(tmp_path / "busy"):
        assert f"process {os.getpid()} owns" in erstwhile("ontology", "check", overlay, "--data", tmp_path / "busy").err


def test_a_mistake_in_an_overlay_is_named_with_its_line(tmp_path: Path) -> None:
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text("predicates:\n  mentors: {cardinality: few}\n", encoding="utf-8")
    ran = erstwhile("ontology", "check", overlay, "--data", tmp_path / "data")
    assert (ran.status, "line 2" in ran.err) == (1, True)
