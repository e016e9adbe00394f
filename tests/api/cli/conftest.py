"""A data folder with a small chat in it, and one that a server of the tests answers for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

import httpx
import pytest

from api.app import create_app
from api.folder import owned
from api.service import Service
from tests.api.cli.faced import Faced
from tests.api.cli.running import Ran, chat, erstwhile
from tests.api.clients import OverHttp, served

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
def answered(told: Service, http: httpx.Client, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Faced]:
    """A folder that this process owns and a server of it answers for."""
    folder = tmp_path_factory.mktemp("faced")
    with served(create_app(lambda: told)) as url, owned(folder, url):
        yield Faced(folder, OverHttp(http, url))


@pytest.fixture
def faced(answered: Faced) -> Faced:
    """The same with nothing said, in a namespace of the test's own."""
    return replace(answered, client=answered.client.at(f"cli-{next(_numbers)}"))
