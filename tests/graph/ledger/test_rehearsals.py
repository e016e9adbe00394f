"""Rehearsals: what a write would do, with nothing of it left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from graph.ledger.schema import metadata
from graph.service import LedgerGraph
from graph.views import Reason, Rehearsal, StatedClaim, StatementView, Want
from ontology.claim import ClaimDraft
from ontology.episode import EpisodeDraft, EpisodeStatus
from ontology.errors import InvalidInput
from ontology.vocabulary import Cardinality, Vocabulary
from tests.graph.ledger.reading import episode, ids, listed, read, told
from tests.graph.ledger.saying import claim, now, say, words

WHOLE = frozenset({Want.INVALIDATION, Want.HISTORY, Want.PROVENANCE})
# When the service wrote it: what a rehearsal cannot know.
_WRITTEN = ("tx_from_at", "tx_to_at", "decided_at", "recorded_at")


def timeless(value: Any) -> Any:
    """Views as plain data, without the times of transactions."""
    if isinstance(value, dict):
        return {name: timeless(part) for name, part in value.items() if name not in _WRITTEN}
    return [timeless(part) for part in value] if isinstance(value, list | tuple) else value


def shape(rehearsal: Rehearsal) -> Any:
    return timeless(asdict(replace(rehearsal, warnings=())))


def happened(graph: LedgerGraph, episode_key: str, transaction: int, namespace: str = "n") -> Any:
    """What a transaction did, put as a rehearsal of it would."""
    claims = [view for view in listed(graph, namespace=namespace) if view.evidence.episode.key == episode_key]
    opened: list[StatementView] = graph.opened_by(namespace, transaction, want=WHOLE)
    return shape(Rehearsal(tuple(claims), tuple(opened), tuple(graph.closed_by(namespace, transaction, want=WHOLE))))


def everything(graph: LedgerGraph) -> dict[str, list[Any]]:
    with graph._engine.connect() as connection:
        tables = {table.name: list(connection.execute(select(table))) for table in metadata.sorted_tables}
        known = connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE name = 'sqlite_sequence'").first()
        return tables | {"sequences": list(connection.exec_driver_sql("SELECT * FROM sqlite_sequence")) if known else []}


def rehearse(graph: LedgerGraph, draft: EpisodeDraft, *texts: str | ClaimDraft) -> Rehearsal:
    return graph.rehearse_extracted("n", draft, [claim(one) if isinstance(one, str) else one for one in texts], (), extractor="test 1")


def test_a_rehearsal_says_what_then_happens(graph: LedgerGraph) -> None:
    read(graph, episode("one", "2024-01-01"), "Anna works_at Acme", "Anna likes tea")
    drafts = [claim("Anna works_at Initech", start=0, end=3), claim("not Anna likes tea"), claim("Zoe likes milk", confidence=0.2)]
    found = rehearse(graph, episode("two", "2024-05-01"), *drafts)
    assert [words(view) for view in found.asserted] == ["Anna works_at Initech", "not Anna likes tea"]
    assert sorted(words(view) for view in found.invalidated) == ["Anna likes tea", "Anna works_at Acme"]
    reasons = {view.invalidation.reason for view in found.invalidated if view.invalidation is not None}
    assert reasons == {Reason.SUPERSEDED, Reason.CONTRADICTED}
    receipt = read(graph, episode("two", "2024-05-01"), *drafts)
    assert shape(found) == happened(graph, receipt.episode_key, receipt.transaction)


def test_stated_claims_are_rehearsed_alike(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Anna works_at Acme")
    draft, stated = episode("two", "2024-05-01"), [StatedClaim(claim("Anna works_at Initech", valid_from="no date"))]
    found = graph.rehearse_stated("n", draft, stated, drop_bad_dates=True)
    receipt = graph.record_stated("n", draft, stated, drop_bad_dates=True)
    assert found.warnings == receipt.warnings != ()
    assert shape(found) == happened(graph, receipt.episode_key, receipt.transaction)


def test_nothing_of_a_rehearsal_stays(graph: LedgerGraph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read(graph, episode("one"), "Anna works_at Acme")
    notified: list[int] = []
    monkeypatch.setattr(graph._projection, "notify", notified.append)
    before, files = everything(graph), {path: path.read_bytes() for path in tmp_path.glob("ledger.db*")}
    rehearse(graph, episode("secret words", "2024-05-01"), "Anna works_at Initech")
    graph.rehearse_stated("n", episode("secret words"), [StatedClaim(claim("Anna works_at Initech"))])
    rehearse(graph, replace(episode("secret words"), group="fresh"), "Anna works_at Initech")
    assert everything(graph) == before and notified == []
    assert {path: path.read_bytes() for path in files if path.name != "ledger.db-shm"} == {
        path: content for path, content in files.items() if path.name != "ledger.db-shm"
    }
    assert now(graph, "2024-06-01") == ["Anna works_at Acme"]


def test_what_is_known_would_do_nothing(graph: LedgerGraph) -> None:
    read(graph, episode("one"), "Anna works_at Acme")
    assert rehearse(graph, episode("one"), "Anna works_at Acme") == Rehearsal((), (), ())


def test_rejected_claims_would_be_recorded_and_assert_nothing(graph: LedgerGraph) -> None:
    read(graph, episode("one", external_id="e"), "Anna works_at Acme")
    graph.reject("n", ids(graph, "Anna works_at Acme"), reason="a joke")
    found = rehearse(graph, episode("two", external_id="e", revised_at="2024-02-01"), "Anna works_at Acme", "Anna likes tea")
    assert sorted(map(told, found.claims)) == ["(Anna works_at Acme)", "Anna likes tea"]
    assert [words(view) for view in found.asserted] == ["Anna likes tea"]


def test_claims_of_a_revision_that_is_not_the_greatest_would_assert_nothing(graph: LedgerGraph) -> None:
    read(graph, episode("one", external_id="e", revised_at="2024-02-01"), "Anna works_at Acme")
    found = rehearse(graph, episode("older", external_id="e"), "Anna works_at Initech")
    assert (list(map(told, found.claims)), found.asserted, found.invalidated) == (["Anna works_at Initech"], (), ())


def test_a_waiting_episode_is_rehearsed_as_if_it_were_completed(graph: LedgerGraph) -> None:
    graph.accept("n", [(episode("one"), ())])
    found = rehearse(graph, episode("one"), "Anna works_at Acme")
    assert [words(view) for view in found.asserted] == ["Anna works_at Acme"]
    assert found.claims[0].evidence.episode.status is EpisodeStatus.EXTRACTED
    assert [one.draft.content for one in graph.backlog.unsent("live", 10)] == ["one"]


def test_a_quarantined_episode_would_assert_nothing(graph: LedgerGraph) -> None:
    found = graph.rehearse_extracted("n", episode("one"), [claim("Anna likes tea")], (), extractor="test 1", quarantined=True)
    assert found == Rehearsal((), (), ())


def test_what_would_be_refused_is_refused(graph: LedgerGraph) -> None:
    with pytest.raises(InvalidInput):
        graph.rehearse_stated("n", episode("one"), [])
    assert rehearse(graph, episode("one"), claim("Anna likes tea", valid_from="no date")).warnings != ()


def test_a_vocabulary_is_rehearsed_as_it_would_be_put_in_force(open_graph: Callable[..., LedgerGraph], vocabulary: Vocabulary) -> None:
    graph = open_graph()
    for namespace in ("a", "b"):
        say(graph, "2024-01-01", "Anna likes tea", namespace=namespace)
        say(graph, "2024-02-01", "Anna likes milk", namespace=namespace)
    say(graph, "2024-02-01", "Anna works_at Acme", namespace="c")
    likes = replace(vocabulary.predicate("likes"), cardinality=Cardinality.ONE)
    changed = replace(vocabulary, version="other", predicates={**vocabulary.predicates, "likes": likes})
    before = everything(graph)
    found = graph.rehearse_vocabulary(changed)
    assert everything(graph) == before and found.keys() == {"a", "b"} and found["a"] != (0, 0)
    assert graph.rehearse_vocabulary(vocabulary) == {}
    graph.close()
    graph = open_graph(changed)
    for namespace, counts in found.items():
        number = graph.snapshot(namespace).basis.transaction
        assert counts == (len(graph.opened_by(namespace, number)), len(graph.closed_by(namespace, number)))
