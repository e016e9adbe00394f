"""The one place where the parts of a process are put together."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from api.settings import Settings
from ontology.loading import load_vocabulary
from ontology.vocabulary import Vocabulary

# The command line names what is here before it knows whether a server answers in its place: parts are loaded when they are made.
if TYPE_CHECKING:
    from api.pool import Extractor
    from api.service import Service

Opener = Callable[[], "Service"]
"""Opens the service; picklable, since the worker process that calls it is spawned."""


def read_vocabulary(settings: Settings) -> Vocabulary:
    """The vocabulary with the overlay that the settings name. Raises InvalidInput naming file, key and line."""
    return load_vocabulary(settings.ontology)


def make_extractor(vocabulary: Vocabulary) -> Extractor:
    """The extractor of a worker process."""
    # Loaded here: spaCy belongs in the processes that extract; the one that opens the service, and every reading command, does without.
    from extraction.extractor import SpacyExtractor

    return SpacyExtractor(vocabulary)


def open_service(settings: Settings) -> Service:
    """Everything that a process that owns the data folder runs."""
    from api.ingestion import Ingestion
    from api.pool import ExtractionPool
    from api.service import Service
    from extraction.scrubbing import Scrubber
    from extraction.threats import ThreatScanner
    from graph.opening import open_graph

    vocabulary = read_vocabulary(settings)
    graph = open_graph(settings.data, vocabulary, kind=settings.graph_engine)
    pool = ExtractionPool(partial(make_extractor, vocabulary), workers=settings.extraction_workers)
    return Service(graph, Ingestion(graph, pool, Scrubber(graph.scrub_key), ThreatScanner().scan))


def opener(settings: Settings) -> Opener:
    """How the worker process opens the service. Raises InvalidInput now where the vocabulary has a mistake."""
    read_vocabulary(settings)
    return partial(open_service, settings)
