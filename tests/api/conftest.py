"""A service with a small extractor, and a client for it over each transport, in a namespace of the test's own."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import partial
from itertools import count
from pathlib import Path

import httpx
import pytest

from api.app import create_app
from api.schema.build import build_schema
from api.service import Service
from graph.service import LedgerGraph
from tests.api.clients import Client, InProcess, OverHttp, served
from tests.api.opening import open_test_service
from tests.api.standing_in import StandIn, as_graph
from tests.workers.extracting import OneSecret, TellingExtractor, scan
from workers.ingestion import Ingestion
from workers.pool import ExtractionPool

_numbers = count()


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder of the shared service."""
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="session")
def service(folder: Path) -> Iterator[Service]:
    """One service for all tests of a process; each has a namespace of its own."""
    opened = open_test_service(folder)
    opened.start()
    yield opened
    opened.close()


class Borrowed(Service):
    """The shared service: the application of the tests neither starts nor closes it."""

    def start(self) -> None:
        """Started already."""

    def close(self) -> None:
        """Closed by its fixture."""


@pytest.fixture(scope="session")
def url(service: Service) -> Iterator[str]:
    """The address of the shared service."""
    with served(create_app(partial(Borrowed, service.graph, service.ingestion))) as address:
        yield address


@pytest.fixture(scope="session")
def http() -> Iterator[httpx.Client]:
    """Connections to servers on loopback."""
    with httpx.Client(timeout=30) as connections:
        yield connections


@pytest.fixture(scope="session")
def in_process(service: Service) -> Iterator[InProcess]:
    """The schema without HTTP."""
    with asyncio.Runner() as runner:
        yield InProcess(build_schema(), service, runner)


@pytest.fixture
def stand_in(service: Service) -> StandIn:
    """A graph that answers plainly about identity, rejections and rehearsals."""
    assert isinstance(service.graph, LedgerGraph)
    return StandIn(service.graph)


@pytest.fixture(scope="session")
def telling() -> Iterator[ExtractionPool]:
    """Processes that say what they leave out."""
    pool = ExtractionPool(TellingExtractor)
    yield pool
    pool.close()


@pytest.fixture
def faced(stand_in: StandIn, telling: ExtractionPool) -> Iterator[InProcess]:
    """The schema over the stand-in, in a new namespace."""
    graph = as_graph(stand_in)
    ingestion = Ingestion(graph, telling, OneSecret(), scan)
    with asyncio.Runner() as runner:
        yield InProcess(build_schema(), Service(graph, ingestion), runner, f"faced-{next(_numbers)}")


@pytest.fixture(params=["schema", "http"])
def client(request: pytest.FixtureRequest) -> Client:
    """A client over each transport, in a new namespace."""
    namespace = f"test-{next(_numbers)}"
    if request.param == "http":
        return OverHttp(request.getfixturevalue("http"), request.getfixturevalue("url"), namespace)
    found = request.getfixturevalue("in_process").at(namespace)
    assert isinstance(found, InProcess)
    return found
