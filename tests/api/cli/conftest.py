"""A data folder with a small chat in it, and one that a stand-in answers for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path

import httpx
import pytest

from api.app import create_app
from api.folder import owned
from api.service import Service
from graph.service import LedgerGraph
from tests.api.cli.faced import Faced
from tests.api.cli.running import Ran, chat, erstwhile
from tests.api.clients import OverHttp, served
from tests.api.conftest import Borrowed
from tests.api.standing_in import StandIn, as_graph
from tests.workers.extracting import OneSecret, scan
from workers.ingestion import Ingestion
from workers.pool import ExtractionPool

_numbers = count()


@pytest.fixture(scope="session")
def transcript(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return chat(tmp_path_factory.mktemp("transcripts"))


@pytest.fixture(scope="session")
def ingested(tmp_path_factory: pytest.TempPathFactory, transcript: Path) -> tuple[Path, Ran]:
    """The folder, and what ingesting said."""
    folder = tmp_path_factory.mktemp("ingested")
    return folder, erstwhile("ingest", transcript, "--data", folder, "--workers", "1")


@pytest.fixture
def data(ingested: tuple[Path, Ran]) -> Path:
    """The folder, to read."""
    return ingested[0]


@pytest.fixture(scope="session")
def stood_in(service: Service, telling: ExtractionPool, http: httpx.Client, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Faced]:
    """A folder that this process owns and a server of it answers for."""
    assert isinstance(service.graph, LedgerGraph)
    stand_in = StandIn(service.graph)
    graph = as_graph(stand_in)
    folder = tmp_path_factory.mktemp("faced")
    with served(create_app(partial(Borrowed, graph, Ingestion(graph, telling, OneSecret(), scan)))) as url, owned(folder, url):
        yield Faced(folder, stand_in, OverHttp(http, url))


@pytest.fixture
def faced(stood_in: Faced) -> Faced:
    """The same with nothing said, in a namespace of the test's own."""
    stood_in.graph.calls.clear()
    stood_in.graph.rejected.clear()
    stood_in.graph.splits = {}
    stood_in.graph.undeclared = []
    return replace(stood_in, client=stood_in.client.at(f"cli-{next(_numbers)}"))
