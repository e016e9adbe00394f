"""The MCP memory server's file: relations are stated facts, observations are words about their entity."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from ontology.episode import EpisodeDraft
from tests.workers.readers.writing import read_all, write_lines
from workers.readers import ReadOptions, Speakers, StatedEpisode
from workers.readers.mcp_memory import predicate_of

ANN = {"type": "entity", "name": "Ann", "entityType": "person", "observations": ["Prefers dark mode", "Speaks Spanish"]}
WORKS = {"type": "relation", "from": "Ann", "to": "Acme", "relationType": "works_at"}


def triples(items: list[EpisodeDraft | StatedEpisode]) -> list[tuple[str, str, str]]:
    claims = [claim.draft for item in items if isinstance(item, StatedEpisode) for claim in item.claims]
    return [(claim.subject, claim.predicate, claim.object.text) for claim in claims]


def words(items: list[EpisodeDraft | StatedEpisode]) -> list[tuple[str | None, str]]:
    return [(item.speaker, item.content) for item in items if isinstance(item, EpisodeDraft)]


def test_types_and_relations_are_stated_and_observations_are_episodes_of_their_entity(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "memory.jsonl", [ANN, WORKS])
    os.utime(path, (1_760_000_000, 1_760_000_000))
    items, rejected, report = read_all(path)
    assert not rejected
    assert report.read == 4
    assert triples(items) == [("Ann", "is_a", "person"), ("Ann", "works_at", "Acme")]
    assert words(items) == [("Ann", "Prefers dark mode"), ("Ann", "Speaks Spanish")]
    drafts = [item.episode if isinstance(item, StatedEpisode) else item for item in items]
    assert {(draft.source, draft.group, draft.external_id, draft.said_at) for draft in drafts} == {
        ("mcp-memory", "Ann", None, "2025-10-09T08:53:20Z")
    }
    assert [draft.content for draft in drafts] == ["Ann (person)", "Prefers dark mode", "Speaks Spanish", "Ann works_at Acme"]
    assert drafts[1].metadata == {"about": "Ann", "entityType": "person", "saidAtFrom": "file"}
    assert all(draft.metadata["saidAtFrom"] == "file" for draft in drafts)


@pytest.mark.parametrize(
    ("relation", "predicate"),
    [
        ("works_at", "works_at"),
        ("worksAt", "works_at"),
        ("WORKS_AT", "works_at"),
        ("works at", "works_at"),
        ("is-managed--by", "is_managed_by"),
        (" uses ", "uses"),
        ("usesHTTP2Over", "uses_http2_over"),
        ("größer_als", "größer_als"),
        ("x" * 200, "x" * 64),
        ("x" * 63 + " y", "x" * 63),
        ("...", None),
        ("2nd_of", None),
        ("", None),
    ],
)
def test_the_type_of_a_relation_is_the_name_of_a_predicate(relation: str, predicate: str | None) -> None:
    assert predicate_of(relation) == predicate


def test_names_are_mapped_in_entities_and_relations(tmp_path: Path) -> None:
    options = ReadOptions(speakers=Speakers({"mcp-memory": {"default_user": "Maya Lind"}}))
    lines = [ANN | {"name": "default_user"}, WORKS | {"from": "default_user"}, WORKS | {"to": "default_user"}]
    items, _, _ = read_all(write_lines(tmp_path / "memory.jsonl", lines), options)
    assert triples(items) == [("Maya Lind", "is_a", "person"), ("Maya Lind", "works_at", "Acme"), ("Ann", "works_at", "Maya Lind")]
    assert words(items)[0] == ("Maya Lind", "Prefers dark mode")


@pytest.mark.parametrize(("name", "found"), [("default_user", "Maya"), ("user", "Maya"), ("Default_User", "Maya"), ("Ann", "Ann")])
def test_the_user_is_whom_the_option_names(tmp_path: Path, name: str, found: str) -> None:
    items, _, _ = read_all(write_lines(tmp_path / "memory.jsonl", [ANN | {"name": name}]), ReadOptions(speaker="Maya"))
    assert {speaker for speaker, _ in words(items)} == {found}
    items, _, _ = read_all(write_lines(tmp_path / "memory.jsonl", [ANN | {"name": name}]))
    assert {speaker for speaker, _ in words(items)} == {name}


BAD: list[tuple[Any, list[str]]] = [
    ({"type": "entity", "entityType": "person", "observations": ["x"]}, ["text"]),
    (ANN | {"name": 5}, ["text"]),
    (ANN | {"name": " \u200b"}, ["text"]),
    (ANN | {"name": "x" * 1001}, ["name"]),
    ({"type": "entity", "name": "Bob", "observations": "Prefers tea"}, ["text"]),
    ({"type": "entity", "name": "Bob", "observations": [5, None]}, ["text", "text"]),
    ({"type": "relation", "from": "Ann", "to": "Acme"}, ["text"]),
    (WORKS | {"relationType": "..."}, ["text"]),
    (WORKS | {"to": ["Acme"]}, ["text"]),
    (WORKS | {"from": "x" * 1001}, ["name"]),
    (b'{"type": "entity", "na', ["json"]),
    (b"[]", ["not-an-object"]),
]


@pytest.mark.parametrize(("bad", "kinds"), BAD, ids=lambda value: str(value)[:60])
def test_a_bad_line_or_observation_costs_itself_alone(tmp_path: Path, bad: Any, kinds: list[str]) -> None:
    path = write_lines(tmp_path / "memory.jsonl", [ANN, bad, WORKS])
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    items, rejected, _ = read_all(path)
    assert len(items) == 4
    assert [(item.line, item.kind) for item in rejected] == [(2, kind) for kind in kinds]


def test_what_is_of_no_known_type_or_empty_is_counted(tmp_path: Path) -> None:
    lines = [
        ANN,
        {"type": "from the future"},
        {},
        {"type": "entity", "name": "Bob", "observations": [" "]},
        {"type": "entity", "name": "Cy"},
    ]
    items, rejected, report = read_all(write_lines(tmp_path / "memory.jsonl", lines))
    assert len(items) == 3
    assert not rejected
    assert report.skipped == {"unknown record: from the future": 1, "unknown record: None": 1, "no text": 1}
