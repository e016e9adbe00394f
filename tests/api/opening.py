"""Opens a service on a folder: the real ledger, which answers what walks too, and the tests' extractor. Importable by spawned processes."""

from __future__ import annotations

from pathlib import Path

from api.metrics import Metrics
from api.service import Service
from graph.ledger.database import open_database
from graph.service import LedgerGraph
from graph.store.projection import GraphProjection
from ontology.loading import load_vocabulary
from tests.workers.extracting import OneSecret, TripleExtractor, scan
from workers.ingestion import Ingestion
from workers.pool import ExtractionPool

OVERLAY = Path(__file__).parents[1] / "spec" / "vectors_ontology.yaml"


def open_test_service(folder: Path) -> Service:
    """The service of a folder."""
    engine = open_database(f"sqlite:///{folder / 'ledger.db'}")
    graph = LedgerGraph(engine, load_vocabulary(OVERLAY), lambda _: GraphProjection(engine, folder, "sql"))
    metrics = Metrics()
    return Service(graph, Ingestion(graph, ExtractionPool(TripleExtractor), OneSecret(), scan, meters=metrics), metrics=metrics)
