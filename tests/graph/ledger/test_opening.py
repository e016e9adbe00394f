"""Opening a ledger: migrations from nothing, kills in the middle, a changed vocabulary, several threads."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine

from graph.ledger.database import open_database
from graph.ledger.schema import metadata
from graph.service import LedgerGraph
from graph.views import EpisodeView, Positions, Reason, StatementFilter
from ontology.claim import ClaimDraft, ObjectDraft
from ontology.episode import EpisodeDraft
from ontology.vocabulary import Cardinality, Vocabulary
from tests.graph.ledger.conftest import NoProjection
from tests.graph.ledger.saying import ALWAYS, now, one, say, spans, views, when, words

WRITER = """
import sys
from graph.ledger.database import open_database
from graph.service import LedgerGraph
from ontology.claim import ClaimDraft, ObjectDraft
from ontology.episode import EpisodeDraft
from ontology.loading import load_vocabulary
from tests.graph.ledger.conftest import NoProjection

graph = LedgerGraph(open_database(sys.argv[1]), load_vocabulary(), lambda _: NoProjection())
for number in range(100_000):
    claims = [ClaimDraft("Anna", "works_at", ObjectDraft(f"Firm{number}")), ClaimDraft("Anna", "likes", ObjectDraft(f"tea{number}"))]
    draft = EpisodeDraft(f"text {number}", "chat", external_id=str(number), said_at=f"{2000 + number}")
    graph.record_extracted("n", [(draft, claims, ())], extractor="test")
    print(number, flush=True)
"""


def test_a_killed_writer_leaves_whole_transactions(tmp_path: Path, vocabulary: Vocabulary) -> None:
    url = f"sqlite:///{tmp_path / 'ledger.db'}"
    root = Path(__file__).parents[3]
    confirmed = -1
    for rounds in (3, 20):
        process = subprocess.Popen([sys.executable, "-c", WRITER, url], cwd=root, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        for _ in range(rounds):
            confirmed = max(confirmed, int(process.stdout.readline()))
        time.sleep(0.003 * rounds)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        graph = LedgerGraph(open_database(url), vocabulary, lambda _: NoProjection())
        found = {int(view.external_id or "") for page in _episodes(graph) for view in page}
        assert found == set(range(len(found))) and len(found) > confirmed
        ends = spans(graph, valid_at=when("2000-01-01"))
        assert {text for text in ends if "works_at" in text} <= {f"Anna works_at Firm{number}" for number in found}
        stats = graph.stats("n")
        assert (stats.transactions, stats.episodes) == (len(found), len(found))
        (last,) = graph.snapshot("n", valid_at=when("9000-01-01")).statements(StatementFilter(predicates=("works_at",))).items
        assert words(last) == f"Anna works_at Firm{max(found)}"
        graph.close()


def _episodes(graph: LedgerGraph) -> list[tuple[EpisodeView, ...]]:
    snapshot = graph.snapshot("n")
    after: Positions | None = None
    found: list[tuple[EpisodeView, ...]] = []
    while True:
        page = snapshot.episodes(first=100, after=after)
        found.append(page.items)
        if not page.has_next:
            return found
        after = page.positions[-1]


def test_a_ledger_comes_to_be_in_an_empty_file_and_is_what_the_tables_say(tmp_path: Path) -> None:
    path = tmp_path / "a folder with 100% spaces" / "ledger.db"
    path.parent.mkdir()
    path.touch()
    open_database(f"sqlite:///{path}").dispose()
    engine = open_database(f"sqlite:///{path}")
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2
    engine.dispose()
    plain = create_engine(f"sqlite:///{path}")
    with plain.connect() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM alembic_version").scalar() == 1
    plain.dispose()


def test_the_secret_stays_and_so_do_keys(open_graph: Callable[..., LedgerGraph]) -> None:
    first = open_graph()
    key = say(first, "2024-01-01", "Anna works_at Acme").episode_key
    second = open_graph()
    assert second.snapshot("n").episode(key) is not None
    assert second.scrub_key == first.scrub_key


def with_traits(vocabulary: Vocabulary, name: str, **traits: object) -> Vocabulary:
    """The vocabulary with one predicate changed."""
    changed = replace(vocabulary.predicate(name), **traits)  # type: ignore[arg-type]
    return Vocabulary(f"{vocabulary.version}-{name}", {**vocabulary.predicates, name: changed}, vocabulary.entity_types)


def test_a_changed_vocabulary_resolves_again_in_one_transaction_and_the_past_keeps_its_own(
    open_graph: Callable[..., LedgerGraph], vocabulary: Vocabulary
) -> None:
    graph = open_graph()
    say(graph, "2024-01-01", "Anna speaks German", "Anna likes tea")
    number = say(graph, "2025-01-01", "Anna speaks Danish").transaction
    before = views(graph, ALWAYS, transaction=number)
    graph.close()
    again = open_graph(with_traits(vocabulary, "speaks", cardinality=Cardinality.ONE))
    assert [row.kind for row in again.transactions("n").items] == ["ontology", "assert", "assert"]
    assert now(again, "2025-06-01") == ["Anna likes tea", "Anna speaks Danish"]
    assert now(again, "2025-06-01", transaction=number) == ["Anna likes tea", "Anna speaks Danish", "Anna speaks German"]
    assert [str(view) for view in views(again, ALWAYS, transaction=number)] == [str(view) for view in before]
    ended = one(again, "Anna speaks German")
    assert ended.invalidation is not None and ended.invalidation.reason is Reason.SUPERSEDED
    again.close()
    third = open_graph(with_traits(vocabulary, "speaks", cardinality=Cardinality.ONE))
    assert len(third.transactions("n").items) == 3


def test_the_traits_of_an_inverse_count_too(open_graph: Callable[..., LedgerGraph], vocabulary: Vocabulary) -> None:
    graph = open_graph()
    say(graph, "2024-01-01", "Anna reports_to Bob")
    say(graph, "2025-01-01", "Carl reports_to Bob")
    graph.close()
    again = open_graph(with_traits(vocabulary, "manager_of", cardinality=Cardinality.ONE))
    assert now(again, "2025-06-01") == ["Carl reports_to Bob"]


def test_each_namespace_that_a_vocabulary_touches_has_its_transaction(
    open_graph: Callable[..., LedgerGraph], vocabulary: Vocabulary
) -> None:
    graph = open_graph()
    for namespace in ("a", "b"):
        say(graph, "2024-01-01", "Anna speaks German", namespace=namespace)
    say(graph, "2024-01-01", "Anna likes tea", namespace="c")
    graph.close()
    again = open_graph(with_traits(vocabulary, "speaks", cardinality=Cardinality.ONE))
    assert [len(again.transactions(namespace).items) for namespace in "abc"] == [2, 2, 1]


def test_threads_write_and_read_at_once(graph: LedgerGraph) -> None:
    def write(writer: int) -> None:
        for number in range(8):
            claims = [ClaimDraft(f"Writer{writer}", "works_at", ObjectDraft(f"Firm{number}"))]
            draft = EpisodeDraft("text", "chat", external_id=f"{writer}-{number}", said_at=f"20{number + 10}-01-01")
            graph.record_extracted("n", [(draft, claims, ())], extractor="test")

    def read(_: int) -> None:
        for _ in range(15):
            snapshot = graph.snapshot("n", valid_at=when("2030-01-01"))
            for _ in range(2):
                items = snapshot.statements(StatementFilter(), first=100).items
                assert len({view.subject.name for view in items}) == len(items)
                # The snapshot stays as it is, whatever is committed meanwhile.
                assert snapshot.statements(StatementFilter(), first=100).items == items

    with ThreadPoolExecutor(6) as pool:
        for future in [*(pool.submit(write, n) for n in range(3)), *(pool.submit(read, n) for n in range(3))]:
            future.result()
    assert graph.stats("n").transactions == 24
    assert now(graph, "2030-01-01") == [f"Writer{n} works_at Firm7" for n in range(3)]


def test_the_file_is_sound_after_use(open_graph: Callable[..., LedgerGraph], tmp_path: Path) -> None:
    graph = open_graph()
    say(graph, "2024-01-01", "Anna works_at Acme")
    graph.close()
    connection = sqlite3.connect(tmp_path / "ledger.db")
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
