"""What `ingest` sends to a server is what it records by itself: stated facts too, and what nobody said."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from threading import Event
from typing import Any

from api.cli.patience import Patience
from api.cli.sending import RemoteSink
from api.cli.sent_jobs import SentJobs
from graph.views import StatedClaim
from ontology.claim import ClaimDraft, ObjectDraft
from ontology.episode import EpisodeDraft
from tests.api.cli.faced import Faced
from tests.workers.readers.writing import record, write_lines
from workers.readers import StatedEpisode

ANN = {"type": "entity", "name": "Ann", "entityType": "person", "observations": ["Ann likes tea"]}
WORKS = {"type": "relation", "from": "Ann", "to": "Acme", "relationType": "works_at"}
EPISODES = "{ asOf { episodes(first: 50) { edges { node { content saidAt source status speaker metadata } } } } }"


def episodes(faced: Faced) -> list[dict[str, Any]]:
    return [edge["node"] for edge in faced.client.ok(EPISODES)["asOf"]["episodes"]["edges"]]


def test_a_memory_file_is_sent_with_its_relations_stated(faced: Faced, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "memory.jsonl", [ANN, WORKS])
    os.utime(path, (1_760_000_000, 1_760_000_000))
    assert faced.run("ingest", path, "--json").json["accepted"] == 3
    assert {"Acme", "person"} <= {claim["of"] for claim in faced.claims()}
    write_lines(path, [ANN, WORKS, WORKS | {"to": "Initech", "relationType": "knows"}])
    again = faced.run("ingest", path, "--json").json
    assert (again["accepted"], again["known"], again["failed"]) == (1, 3, 0)
    assert [node["saidAt"] for node in episodes(faced) if node["content"] == "Ann works_at Acme"] == ["2025-10-09T08:53:20Z"]


class Refusing:
    """A link to a server that is full once, and refuses then."""

    def __init__(self) -> None:
        self.asked: list[list[dict[str, object]]] = []

    def execute(self, document: str, variables: Mapping[str, Any] | None = None) -> dict[str, Any]:
        self.asked.append((variables or {})["input"])
        if len(self.asked) == 1:
            return {"made": {"__typename": "OverloadedError", "message": "full", "retryAfter": 0}}
        path = ["input", "0", "statements", "0", "predicate"]
        return {"made": {"__typename": "InvalidInputError", "code": "INVALID_INPUT", "message": "no such predicate", "path": path}}


def test_a_full_server_is_asked_again_and_a_refusal_is_named() -> None:
    link = Refusing()
    draft = ClaimDraft("Ann", "likes", ObjectDraft("5", "xsd:integer"), qualifier="q", valid_from="2024", replaces=ObjectDraft("tea"))
    stated = StatedEpisode(EpisodeDraft("Ann likes 5", "test", group="g"), (StatedClaim(draft, quote="likes 5"),))
    patience, stop = Patience(60, Event()), Event()
    tally = RemoteSink(link, patience, SentJobs(link, patience, stop)).take([stated])
    assert (tally.failed, tally.failures) == (1, ["test g: no such predicate"])
    assert (
        link.asked[0]
        == link.asked[1]
        == [
            {
                "source": "test",
                "group": "g",
                "rank": 0,
                "content": "Ann likes 5",
                "statements": [
                    {
                        "subject": {"name": "Ann"},
                        "predicate": "likes",
                        "qualifier": "q",
                        "object": {"literal": {"value": "5", "datatype": "xsd:integer"}},
                        "polarity": True,
                        "kind": "STATE",
                        "validFrom": "2024",
                        "replaces": {"name": "tea"},
                        "quote": "likes 5",
                        "additive": False,
                        "confidence": 1.0,
                    }
                ],
            }
        ]
    )


def test_artifacts_are_sent_and_make_no_claims(faced: Faced, tmp_path: Path) -> None:
    result = [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "Ann likes tea"}]
    path = write_lines(tmp_path / "s.jsonl", [record(1, "Ann lives_in Rome"), record(2, result)])
    found = faced.run("ingest", path, "--json").json
    assert (found["accepted"], found["artifacts"]) == (2, {"tool_result": 1})
    kept = {node["content"]: node for node in episodes(faced)}
    assert kept["Ann likes tea"]["status"] == "EXTRACTED"
    assert kept["Ann likes tea"]["metadata"]["artifact"] == "tool_result"
    assert not any(claim["of"] == "tea" for claim in faced.claims())
    assert faced.run("ingest", path, "--json").json["known"] == 2


def test_options_choose_subagents_and_artifacts(faced: Faced, tmp_path: Path) -> None:
    result = [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "db: postgres"}]
    lines = [record(1, "Hello there."), record(2, result), record(3, "Look it up.", isSidechain=True)]
    path = write_lines(tmp_path / "s.jsonl", lines)
    found = faced.run("ingest", path, "--no-artifacts", "--subagents", "--json").json
    assert (found["accepted"], found["artifacts"], found["skipped"]) == (2, {}, {"tool_result": 1})
