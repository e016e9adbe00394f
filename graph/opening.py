"""Opening the graph of a data folder: the ledger, and the projection that follows it."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from sqlalchemy import select

from graph.ledger.database import open_database
from graph.ledger.details import VocabularyAt
from graph.ledger.schema import vocabularies
from graph.service import LedgerGraph
from graph.store.projection import GraphProjection
from ontology.vocabulary import Vocabulary, restored

LEDGER = "ledger.db"
GRAPH = "graph"


def open_graph(folder: Path, vocabulary: Vocabulary, *, kind: Literal["kuzu", "sql"] = "kuzu", url: str | None = None) -> LedgerGraph:
    """The graph of a folder. `url` names another database than the folder's SQLite file; `sql` leaves the graph files alone."""
    folder.mkdir(parents=True, exist_ok=True)
    engine = open_database(url or f"sqlite:///{folder / LEDGER}")

    def projection(vocabulary_at: VocabularyAt) -> GraphProjection:
        return GraphProjection(engine, folder / GRAPH, kind, vocabulary_at=vocabulary_at)

    return LedgerGraph(engine, vocabulary, projection)


def vocabulary_of(folder: Path) -> Vocabulary | None:
    """The vocabulary that the ledger of a folder was last resolved by; None where there is none yet."""
    if not (folder / LEDGER).exists():
        return None
    engine = open_database(f"sqlite:///{folder / LEDGER}")
    try:
        with engine.connect() as connection:
            query = select(vocabularies.c.content).order_by(vocabularies.c.number.desc()).limit(1)
            content = connection.execute(query).scalar()
    finally:
        engine.dispose()
    return None if content is None else restored(content)
