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
from tests.api.clients import Client, InProcess, OverHttp, served
from tests.api.opening import open_test_service
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


@pytest.fixture(scope="session")
def telling() -> Iterator[ExtractionPool]:
    """Processes that say what they leave out."""
    pool = ExtractionPool(TellingExtractor)
    yield pool
    pool.close()


@pytest.fixture(scope="session")
def told(service: Service, telling: ExtractionPool) -> Service:
    """The shared graph with an extractor that says what it leaves out."""
    return Borrowed(service.graph, Ingestion(service.graph, telling, OneSecret(), scan))


@pytest.fixture(scope="session")
def telling_schema(told: Service) -> Iterator[InProcess]:
    """The schema over it, without HTTP."""
    with asyncio.Runner() as runner:
        yield InProcess(build_schema(), told, runner)


@pytest.fixture
def faced(telling_schema: InProcess) -> InProcess:
    """The same in a new namespace."""
    return telling_schema.at(f"faced-{next(_numbers)}")


@pytest.fixture(params=["schema", "http"])
def client(request: pytest.FixtureRequest) -> Client:
    """A client over each transport, in a new namespace."""
    namespace = f"test-{next(_numbers)}"
    if request.param == "http":
        return OverHttp(request.getfixturevalue("http"), request.getfixturevalue("url"), namespace)
    found = request.getfixturevalue("in_process").at(namespace)
    assert isinstance(found, InProcess)
    return found
