"""`erstwhile reextract`: what changed, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from api.cli.reextraction import report, report_lines, run
from api.service import Service
from tests.api.cli.faced import Faced
from tests.api.test_ingesting import ingest
from tests.workers.extracting import LaterExtractor, OneSecret, scan
from workers.ingestion import Ingestion
from workers.pool import ExtractionPool


@pytest.fixture(scope="module")
def later(told: Service) -> Iterator[Service]:
    """The shared graph with an extractor of a later version."""
    pool = ExtractionPool(LaterExtractor)
    yield Service(told.graph, Ingestion(told.graph, pool, OneSecret(), scan))
    pool.close()


@pytest.fixture
def changed(faced: Faced, later: Service) -> dict[str, Any]:
    """What the later one reads anew; the second text is too much for it."""
    for number, text in enumerate(("Ada works_at Acme, Ada joined Globex, Bo likes tea", "Bo works_at Acme, stumble later")):
        ingest(faced.client, text, externalId=str(number + 1))
    return report(run(later, faced.client.namespace, since=None, source=None, threads=1))


def test_claims_that_came_and_went_are_told_in_words(changed: dict[str, Any]) -> None:
    assert list(report_lines(changed)) == [
        "test 1, said 2023-01-01T00:00:00Z",
        "  + Ada | works_at | Globex   (confidence 1.00, joined)",
        "  - Ada | works_at | Acme   (confidence 1.00, triple)",
        "  test 2: extraction failed: told to stumble",
        "episodes 2  changed 1  added 1  gone 1  kept 1  failed 1",
    ]


def test_what_was_read_anew_holds_and_what_could_not_be_stays(changed: dict[str, Any], faced: Faced) -> None:
    rows = faced.run("as-of", "2023-06", "--json").json["statements"]
    held = {(row["subject"]["name"], row["predicate"]["name"], row["object"]["name"]) for row in rows}
    assert held == {("Ada", "works_at", "Globex"), ("Bo", "likes", "tea"), ("Bo", "works_at", "Acme")}


def test_the_same_as_json(changed: dict[str, Any], faced: Faced) -> None:
    assert (changed["episodes"], changed["added"], changed["gone"], changed["kept"]) == (2, 1, 1, 1)
    assert changed["changed"][0]["episode"] == "test 1"
    last = faced.client.ok("{ transactions(first: 1) { edges { node { kind number } } } }")["transactions"]["edges"][0]["node"]
    assert last == {"kind": "reextract", "number": changed["changed"][0]["transaction"]}


def test_where_a_server_owns_the_folder_what_to_do_is_said(faced: Faced) -> None:
    ran = faced.run("reextract", "--since", "2024")
    assert (ran.status, ran.out, ran.err.count("\n")) == (1, "", 1)
    assert "stop it, run `erstwhile reextract`, then start it again" in ran.err
