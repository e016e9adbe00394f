"""The one place where the parts of a process are put together."""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from api.settings import Settings
from ontology.errors import InvalidInput
from ontology.loading import load_vocabulary
from ontology.vocabulary import Vocabulary

# The command line names what is here before it knows whether a server answers in its place: parts are loaded when they are made.
if TYPE_CHECKING:
    from api.service import Service
    from graph.facade import Graph
    from graph.recall.dense import DenseFactory
    from graph.recall.embedding.choosing import Choice, EmbedderSettings
    from workers.broker.settings import BrokerSettings
    from workers.dispatching import Dispatch
    from workers.embedding import Embedding


def read_vocabulary(settings: Settings) -> Vocabulary:
    """The vocabulary with the overlay that the settings name. Raises InvalidInput naming file, key and line."""
    return load_vocabulary(settings.ontology)


def rest_the_collector() -> None:
    """Keep the garbage collector from walking all that is loaded for good again and again.

    A commit makes tens of thousands of rows and drops them at once; at the default thresholds a quarter of its time went
    into looking for cycles that they do not have.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def vocabulary_in_force(settings: Settings) -> Vocabulary | None:
    """The vocabulary that the ledger of the data folder was last resolved by; None where there is none yet."""
    from graph.opening import vocabulary_of

    return vocabulary_of(settings.data)


def dense_of(settings: Settings) -> Callable[[str, str], DenseFactory] | None:
    """What opens the place of the vectors; None for memory. Raises InvalidInput."""
    if settings.qdrant_url is None:
        return None
    if not settings.qdrant_url.startswith(("http://", "https://")):
        # The value is not shown: a URL may hold a password.
        raise InvalidInput("ERSTWHILE_QDRANT_URL is no address of a server; it is http(s)://HOST:PORT")
    # Only who has such a server waits until its client is loaded.
    from graph.recall.qdrant import open_qdrant

    key = settings.qdrant_key.get_secret_value() if settings.qdrant_key else None
    return open_qdrant(settings.qdrant_url, key, exact=settings.qdrant_exact)


def open_service(
    settings: Settings, vocabulary: Vocabulary | None = None, embedder: EmbedderSettings | None = None, *, niceness: int = 0
) -> Service:
    """Everything that a process that owns the data folder runs. `vocabulary`, `embedder`: others than the settings name.

    `niceness`: by how much the processes that extract and embed stand back behind what else wants the processor.
    """
    from api.metrics import Metrics
    from api.service import Service
    from extraction.hygiene import load_hygiene
    from graph.opening import open_graph
    from graph.recall.embedding.choosing import EmbedderSettings, choose
    from workers.broker.settings import read_settings
    from workers.extracting import spacy_extractor
    from workers.ingestion import Ingestion
    from workers.pool import ExtractionPool

    rest_the_collector()
    vocabulary = vocabulary or read_vocabulary(settings)
    hygiene, broker = load_hygiene(settings.hygiene), read_settings()
    # One thread: a second makes a question's vector in two thirds of the time, and then keeps the core from what runs beside it.
    choice = choose(embedder or EmbedderSettings())
    graph = open_graph(settings.data, vocabulary, kind=settings.graph_engine, embedder=choice, dense=dense_of(settings))
    # With a broker it reads what somebody waits for and no worker takes, and dry runs.
    pool = ExtractionPool(partial(spacy_extractor, vocabulary), workers=settings.extraction_workers, niceness=niceness)
    embedding = None
    if choice is not None:
        embedding = _embedding(graph, choice, settings, broker, niceness)
        graph.when_indexed(embedding.notify)
    dispatch = None if broker.broker_url is None else _dispatch(graph, vocabulary, broker)
    metrics = Metrics()
    scrubber, scan = hygiene.scrubber(graph.scrub_key), hygiene.scanner().scan
    ingestion = Ingestion(graph, pool, scrubber, scan, dispatch=dispatch, meters=metrics, workers=settings.extraction_workers)
    return Service(graph, ingestion, embedding, metrics)


def _dispatch(graph: Graph, vocabulary: Vocabulary, broker: BrokerSettings) -> Dispatch:
    # Celery takes a fifth of a second.
    from workers.broker.dispatch import RedisDispatch

    return RedisDispatch(broker, vocabulary, graph.backlog.find)


def _embedding(graph: Graph, choice: Choice, settings: Settings, broker: BrokerSettings, niceness: int) -> Embedding:
    from workers.embedding import Embedding

    if broker.broker_url is None:
        return Embedding(graph, choice.load, workers=settings.embedding_workers, niceness=niceness)
    from workers.broker.vectors import AT_ONCE, CHUNK, RemoteVectors

    return Embedding(graph, choice.load, workers=AT_ONCE, chunk=CHUNK, remote=RemoteVectors(broker, choice.id))
