"""Opening the graph of a data folder: the ledger, and the projection that follows it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sqlalchemy import select

from graph.ledger.database import open_database
from graph.ledger.details import VocabularyAt
from graph.ledger.resolutions import Resolutions
from graph.ledger.schema import vocabularies
from graph.recall.dense import DenseFactory
from graph.recall.embedding.cache import VectorCache
from graph.recall.embedding.choosing import Choice
from graph.recall.feed import Feed
from graph.recall.index import Index, Shelf
from graph.recall.recalling import Recall
from graph.service import LedgerGraph
from graph.store.projection import GraphProjection
from graph.store.settings import Kind
from ontology.names import Keys
from ontology.vocabulary import Vocabulary, restored

LEDGER = "ledger.db"
GRAPH = "graph"
INDEX = "index"
VECTORS = "vectors.db"


def open_graph(
    folder: Path,
    vocabulary: Vocabulary,
    *,
    kind: Kind = "kuzu",
    url: str | None = None,
    embedder: Choice | None = None,
    dense: Callable[[str, str], DenseFactory] | None = None,
) -> LedgerGraph:
    """The graph of a folder. `url` names another database than the folder's SQLite file; `sql` leaves the graph files alone.

    Without an embedder recall finds by words and by the graph. `dense` opens the place of the vectors for a ledger and an embedder, by
    their IDs; without it they lie in memory.
    """
    folder.mkdir(parents=True, exist_ok=True)
    engine = open_database(url or f"sqlite:///{folder / LEDGER}")

    def projection(vocabulary_at: VocabularyAt) -> GraphProjection:
        return GraphProjection(engine, folder / GRAPH, kind, vocabulary_at=vocabulary_at)

    def recall(keys: Keys, resolutions: Resolutions) -> Recall:
        vectors = places = None
        ledger = keys.digest("ledger")
        if embedder is not None:
            places = dense(ledger, embedder.id) if dense is not None else None
            vectors = VectorCache(folder / VECTORS, secret=bytes.fromhex(keys.digest("vectors")), embedder=embedder.id)
        shelf = Shelf(folder / INDEX, ledger)
        index = Index(Feed(engine), embedder.id if embedder is not None else None, vectors, places, shelf=shelf)
        return Recall(index, embedder, resolutions)

    return LedgerGraph(engine, vocabulary, projection, recall)


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
