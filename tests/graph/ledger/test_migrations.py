"""A ledger of an earlier schema opens as one that was written today."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine, select, update

from graph.ledger import database
from graph.ledger.database import open_database
from graph.ledger.schema import claims, statements
from graph.service import LedgerGraph
from graph.views import EntityRef, StatementFilter, StatementView, Want
from ontology.episode import EpisodeDraft, EpisodeStatus
from ontology.vocabulary import Vocabulary
from tests.graph.ledger.conftest import EPOCH, NoProjection
from tests.graph.ledger.saying import claim, say


def _told(graph: LedgerGraph) -> list[tuple[Any, ...]]:
    snapshot = graph.snapshot("n", valid_at=EPOCH)
    page = snapshot.statements(StatementFilter(include_invalidated=True), first=100, want=frozenset({Want.PROVENANCE, Want.HISTORY}))
    return sorted(map(_content, page.items))


def _content(view: StatementView) -> tuple[Any, ...]:
    quotes = [one.episode.key for one in view.provenance]
    history = [(version.v_from, version.v_to) for version in view.history]
    return (view.key, view.subject.name, view.predicate, str(view.object), view.polarity, view.v_from, view.v_to, quotes, history)


def _alembic(path: Path, revision: str) -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(database.__file__).parent / "migrations").replace("%", "%%"))
    engine = create_engine(f"sqlite:///{path}")
    with engine.connect() as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, revision)
    engine.dispose()


def _with_keys_of_then(graph: LedgerGraph, path: Path) -> None:
    """Keys as they were: one proposition for each direction of a symmetric relation, a denial hashed from its slot."""
    engine = create_engine(f"sqlite:///{path}")

    def key(slot: str, object: str, sign: str) -> str:
        return graph.keys.digest("proposition", slot, object, sign)

    with engine.begin() as connection:
        for row in connection.execute(select(claims.c.row, claims.c.slot, claims.c.object)):
            values = {"proposition": key(row.slot, row.object, "+")}
            connection.execute(update(claims).where(claims.c.row == row.row).values(values))
        # Of the corrected claim and its correction the slot is one.
        replacing = select(claims.c.row, claims.c.slot, claims.c.replaces).where(claims.c.replaces.is_not(None))
        for row in connection.execute(replacing):
            values = {"replaces_proposition": key(row.slot, row.replaces, "+")}
            connection.execute(update(claims).where(claims.c.row == row.row).values(values))
        for one in connection.execute(select(statements.c.row, statements.c.slot, statements.c.object, statements.c.polarity)):
            values = {"base": key(one.slot, one.object, "+"), "proposition": key(one.slot, one.object, "+" if one.polarity else "-")}
            connection.execute(update(statements).where(statements.c.row == one.row).values(values))
    engine.dispose()


def test_a_ledger_from_before_joins_keeps_its_answers_and_learns_who_is_who(tmp_path: Path, vocabulary: Vocabulary) -> None:
    def opened(name: str) -> LedgerGraph:
        ticks = iter(range(EPOCH, EPOCH + 10**12, 1_000_000))
        return LedgerGraph(open_database(f"sqlite:///{tmp_path / name}"), vocabulary, lambda _: NoProjection(), clock=lambda: next(ticks))

    graph = opened("ledger.db")
    for day, said in enumerate(
        (
            "Anna works_at Acme",
            "Anna spouse_of Ben",
            "Zoe spouse_of Carl",
            "not Anna likes tea",
            "Ben born_on 1990",
            "Anna works_at Globex",
        ),
        start=1,
    ):
        say(graph, f"2024-01-0{day}", said)
    say(graph, "2024-02-01", claim("Ben born_on 1991", kind="CORRECTION", replaces="1990"))
    before = _told(graph)
    say(graph, "2024-03-01", "Anna also_known_as Annie")
    joined = _told(graph)
    key = graph.snapshot("n").key_of(EntityRef(name="Anna"))
    graph.close()

    _alembic(tmp_path / "ledger.db", "0001")
    _with_keys_of_then(graph, tmp_path / "ledger.db")
    again = opened("ledger.db")
    assert again.snapshot("n").key_of(EntityRef(name="Annie")) == key
    assert _told(again) == joined and len(joined) == len(before) + 1
    kinds = [row.kind for row in again.transactions("n").items]
    assert kinds[0] == "identity" and kinds.count("identity") == 1
    again.close()
    assert [row.kind for row in opened("ledger.db").transactions("n").items] == kinds


def test_opening_a_new_ledger_commits_nothing(open_graph: Callable[..., LedgerGraph]) -> None:
    assert open_graph().transactions("n").items == ()


def test_what_was_held_back_and_what_waited_before_there_were_deliveries_still_is_and_does(
    open_graph: Callable[..., LedgerGraph], tmp_path: Path
) -> None:
    graph = open_graph()
    held = graph.record_extracted("n", [(EpisodeDraft("bad", source="s", external_id="1"), [], ())], extractor="none", quarantined=[True])
    graph.accept("n", [(EpisodeDraft("good", source="s", external_id="2"), ())])
    (before,) = graph.backlog.unsent("live", 10)
    graph.close()
    _alembic(tmp_path / "ledger.db", "0002")
    graph = open_graph()
    assert graph.backlog.unsent("live", 10) == [before]
    assert [view.status for view in graph.snapshot("n").episodes(status=[EpisodeStatus.QUARANTINED]).items] == [EpisodeStatus.QUARANTINED]
    graph.release("n", held[0].episode_key, reason="fine")
    assert [each.draft.content for each in graph.backlog.unsent("live", 10)] == ["bad", "good"]
