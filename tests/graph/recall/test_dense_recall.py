"""Recall answers alike wherever its vectors lie: one story, told step by step to a server, and read again from memory."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from graph.opening import open_graph
from graph.recall import following, index, lives, points, qdrant, qdrant_dense
from graph.recall.admission import Point, admit
from graph.recall.dense import Around
from graph.recall.embedding.choosing import EmbedderSettings, choose
from graph.recall.views import Arm, Hit, Kind, RecallOptions
from graph.service import LedgerGraph
from graph.views import StatementFilter
from ontology.instant import UNBOUNDED_FUTURE, UNBOUNDED_PAST
from ontology.loading import load_vocabulary
from ontology.vocabulary import Vocabulary
from tests.graph.ledger.saying import claim, say, when
from tests.graph.recall.dense_places import LOCAL_WARNINGS, Local, emptied, on

pytestmark = [pytest.mark.filterwarnings(each) for each in LOCAL_WARNINGS]

HASH = choose(EmbedderSettings(embedder="hash"))
QUESTIONS = ("where does Ada live?", "does Bob like tea?")
TIMES = ("-9000-01-01", "2024-02-15", "2024-05-01")


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return load_vocabulary(Path(__file__).parents[2] / "spec" / "vectors_ontology.yaml")


@pytest.fixture(scope="module")
def client() -> Local:
    return Local()


@pytest.fixture(scope="module", autouse=True)
def narrow() -> Iterator[None]:
    """Limits that a short story reaches."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(qdrant, "_BACK_OFF", 0.0)
        patch.setattr(qdrant_dense, "FEW", 3)
        patch.setattr(qdrant_dense, "ROOM", 1)
        patch.setattr(qdrant_dense, "BATCH", 7)
        patch.setattr(lives, "MOST", 4)
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("told")


@pytest.fixture(scope="module")
def told(folder: Path, vocabulary: Vocabulary, client: Local) -> Iterator[LedgerGraph]:
    """The story, with its vectors on a server that was told of every change."""
    graph = open_graph(folder, vocabulary, kind="sql", embedder=HASH, dense=partial(on, client))
    for number, step in enumerate(STORY):
        step(graph)
        embed(graph, leave=number % 3)
    embed(graph)
    yield graph
    graph.close()


@pytest.fixture(scope="module")
def remembered(told: LedgerGraph, folder: Path, vocabulary: Vocabulary) -> Iterator[LedgerGraph]:
    """The same ledger, its vectors in memory."""
    graph = open_graph(folder, vocabulary, kind="sql", embedder=HASH)
    yield graph
    graph.close()


def embed(graph: LedgerGraph, leave: int = 0) -> None:
    """Make the vectors of texts that wait, but for some."""
    assert HASH is not None
    texts = graph.unembedded()
    texts = texts[: len(texts) - leave]
    if texts:
        graph.record_vectors(texts, HASH.load().embed_documents(texts))


def tea_every_day(graph: LedgerGraph) -> None:
    for day in range(1, 8):
        say(graph, f"2024-04-{day:02}", "Ada likes tea", group=f"g{day}", content=f"Tea, day {day}.")


def left_acme(graph: LedgerGraph) -> None:
    say(graph, "2024-03-01", claim("Bob works_at Acme", kind="END"), "Bob likes wine", group="one", content="Bob left Acme.")
    # Of Cleo nothing is joined: the server knows that what ends is told of twice.
    say(graph, "2024-02-10", "Cleo works_at Initech", content="Cleo is with Initech.")
    say(graph, "2024-03-01", claim("Cleo works_at Initech", kind="END"), content="Cleo left Initech.")


def long_ago(graph: LedgerGraph) -> None:
    of_old = claim("Rome likes wolves", valid_from="Y-20000", valid_to="1100")
    for_ever = claim("Rome speaks Latin", valid_from="-0500", valid_to="Y170000")
    say(graph, "2024-04-10", of_old, for_ever, content="Rome is old. Rome speaks Latin.")


STORY: list[Callable[[LedgerGraph], object]] = [
    lambda graph: say(graph, "2024-01-01", "Ada lives_in Lisbon", "Ada likes tea", content="I live in Lisbon. I like tea."),
    lambda graph: say(graph, "2024-01-02", "Bob likes tea", "Bob works_at Acme", group="one", content="Bob likes tea at Acme."),
    lambda graph: say(graph, "2024-01-02", "Ada lives_in Rome", namespace="m", content="Another Ada lives in Rome."),
    lambda graph: say(graph, "2024-02-01", "Ada lives_in Porto", content="Ada moved to Porto.", external_id="porto"),
    left_acme,
    lambda graph: say(graph, "2024-03-02", "Robert also_known_as Bob", "Robert likes chess", content="Robert is Bob."),
    lambda graph: say(graph, "2024-03-03", "Bob likes coffee", "not Robert likes tea", group="two", content="No more tea."),
    tea_every_day,
    long_ago,
    lambda graph: say(graph, "2024-04-11", "Ada lives_in Paris", "helper listens_on 8080", content="helper.py listens on port 8080."),
    lambda graph: graph.retract("n", source="chat", external_id="porto", reason=None),
    lambda graph: say(graph, "2024-04-12", "not Robert also_known_as Bob", content="They are two."),
    lambda graph: say(graph, "2023-01-01", "Ada lives_in Faro", "Ada likes fado", content="Late news of Faro."),
]


def transactions(graph: LedgerGraph, namespace: str) -> list[int]:
    return sorted({view.number for view in graph.transactions(namespace, first=100).items})


class Asked(NamedTuple):
    """A basis and what is asked for on it."""

    namespace: str
    transaction: int
    at: str = "2024-05-01"
    until: str | None = None
    past: bool = False
    during: bool = False


def answers(graph: LedgerGraph, asked: Asked) -> list[tuple[tuple[Hit, ...], int]]:
    """The hits of all questions, and how many more there are of each."""
    until = when(asked.until) if asked.until else None
    snapshot = graph.snapshot(
        asked.namespace, valid_at=when(asked.at), transaction=asked.transaction, evidence_until=until, now=when("2026-01-01")
    )
    always = (UNBOUNDED_PAST, UNBOUNDED_FUTURE)
    filter = StatementFilter(include_invalidated=asked.past, valid_during=always if asked.during else None)
    found = []
    for question in QUESTIONS:
        recalled = snapshot.recall(question, options=OPTIONS, filter=filter, first=50)
        assert not recalled.degraded
        found.append((tuple(recalled.page.items), recalled.not_shown))
    return found


OPTIONS = RecallOptions(kinds=(Kind.STATEMENT, Kind.EPISODE), candidates=4)


@pytest.mark.parametrize("namespace", ["n", "m"])
@pytest.mark.parametrize(
    ("until", "past", "during"), [(None, False, False), ("2024-03-05", False, False), (None, True, False), (None, False, True)]
)
def test_hits_scores_and_order_are_the_same(
    told: LedgerGraph, remembered: LedgerGraph, namespace: str, until: str | None, past: bool, during: bool
) -> None:
    numbers = transactions(told, namespace)
    shown = 0
    for transaction in (*numbers[3::8], numbers[-1]):
        for at in TIMES[:: 2 if past or during else 1]:
            asked = Asked(namespace, transaction, at, until, past, during)
            expected = answers(remembered, asked)
            assert answers(told, asked) == expected
            shown += sum(len(hits) for hits, _ in expected)
    assert shown


def test_the_filter_lets_through_all_that_counts_and_not_much_else(told: LedgerGraph, client: Local) -> None:
    space = told._recall.index.space("n")
    assert space is not None
    state = space.indexed.state
    let_through = wrong = 0
    for transaction in transactions(told, "n"):
        for at in map(when, TIMES):
            admission = admit(space.readings.plain(state), Point(transaction, at, at + 1))
            for part, admitted in (("claims", admission.claims), ("episodes", admission.episodes)):
                mine = points.Space(f"{part}:n")
                (collection,) = client.get_collections().collections
                found, _ = client.scroll(collection.name, points.during(mine, Around(transaction, at, None)), limit=1000)
                docs = set(mine.docs(found).tolist())
                assert set(np.flatnonzero(admitted).tolist()) <= docs
                let_through += len(docs)
                wrong += len(docs - set(np.flatnonzero(admitted).tolist()))
    # Of propositions that were joined, or attested again and again, the server does not know when they hold.
    assert wrong < 0.5 * let_through


@pytest.mark.parametrize("kept", [False, True])
def test_an_index_that_is_opened_again_meets_its_points_and_sends_nothing(
    told: LedgerGraph, folder: Path, vocabulary: Vocabulary, client: Local, kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "KEEP_FROM", 1 if kept else 1000)
    asked = Asked("n", transactions(told, "n")[-1])
    expected = answers(told, asked)
    # A kept index begins where it ended, one that is made anew tells of every batch on the way.
    for sends in (True, not kept):
        client.asked.clear()
        graph = open_graph(folder, vocabulary, kind="sql", embedder=HASH, dense=partial(on, client))
        assert answers(graph, asked) == expected
        graph.close()
        assert sends or "batch_update_points" not in client.asked
        assert "delete_collection" not in client.asked


def test_a_rebuilt_index_begins_with_an_empty_collection(told: LedgerGraph, folder: Path, vocabulary: Vocabulary, client: Local) -> None:
    asked = Asked("n", transactions(told, "n")[-1])
    expected = answers(told, asked)
    graph = open_graph(folder, vocabulary, kind="sql", embedder=HASH, dense=partial(on, client))
    client.asked.clear()
    graph.rebuild_index()
    assert answers(graph, asked) == expected
    graph.close()
    assert client.asked.count("delete_collection") == 1


def test_what_waits_is_sent_without_a_question(tmp_path: Path, vocabulary: Vocabulary, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "_PAUSE", 0.02)
    client = emptied()
    graph = open_graph(tmp_path, vocabulary, kind="sql", embedder=HASH, dense=partial(on, client))
    client.down = True
    say(graph, "2024-01-01", "Ada lives_in Lisbon", content="I live in Lisbon.")
    embed(graph)
    say(graph, "2024-01-02", "Ada likes tea")
    assert graph._recall.index.behind == 2
    client.down = False
    until = time.monotonic() + 20
    while graph._recall.index.behind and time.monotonic() < until:
        time.sleep(0.01)
    assert graph._recall.index.behind == 0
    graph.close()


def test_a_server_that_is_down_stops_neither_ingestion_nor_the_other_arms(tmp_path: Path, vocabulary: Vocabulary) -> None:
    client = emptied()
    graph = open_graph(tmp_path, vocabulary, kind="sql", embedder=HASH, dense=partial(on, client))
    say(graph, "2024-01-01", "Ada lives_in Lisbon", content="I live in Lisbon.")
    embed(graph)
    client.down = True
    say(graph, "2024-02-01", "Ada lives_in Porto", content="I moved to Porto.")
    embed(graph)
    snapshot = graph.snapshot("n", valid_at=when("2024-03-01"))
    recalled = snapshot.recall("where does Ada live?", options=OPTIONS)
    assert recalled.page.items
    assert recalled.degraded == ("vector: the Qdrant server fails: ConnectionError",)
    assert Arm.VECTOR not in {said.arm for hit in recalled.page.items for said in hit.arms}
    health = {each.name: each for each in graph.health()}
    assert not health["recall.vector"].ok
    assert health["index"].ok
    client.down = False
    recalled = snapshot.recall("where does Ada live?", options=OPTIONS)
    assert not recalled.degraded
    assert Arm.VECTOR in {said.arm for hit in recalled.page.items for said in hit.arms}
    assert all(each.ok for each in graph.health() if each.name.startswith("recall"))
    graph.close()
