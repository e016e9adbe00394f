"""A data folder with a small chat in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.api.cli.running import Ran, chat, erstwhile


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
