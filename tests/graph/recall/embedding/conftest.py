"""Every embedder, loaded once."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from graph.recall.embedding.endpoint import EndpointEmbedder
from graph.recall.embedding.hashing import HashingEmbedder
from graph.recall.embedding.minilm import TOKENIZER, load_minilm, model_file
from graph.recall.embedding.onnx import OnnxEmbedder, load_folder
from graph.recall.embedding.port import Embedder
from tests.graph.recall.embedding.serving import serving


@pytest.fixture(scope="session")
def minilm() -> OnnxEmbedder:
    """The default embedder."""
    return load_minilm()


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model as somebody might have it."""
    found = tmp_path_factory.mktemp("model")
    (found / "model.onnx").symlink_to(model_file())
    shutil.copy(TOKENIZER, found / "tokenizer.json")
    return found


@pytest.fixture(scope="session", params=["hash", "minilm", "folder", "endpoint"])
def embedder(request: pytest.FixtureRequest) -> Iterator[Embedder]:
    """Each embedder in its turn."""
    if request.param == "hash":
        yield HashingEmbedder()
    elif request.param == "minilm":
        yield request.getfixturevalue("minilm")
    elif request.param == "folder":
        yield load_folder(request.getfixturevalue("folder"))
    else:
        with serving() as server:
            remote = EndpointEmbedder(server.url, "small", key="sesame")
            yield remote
            remote.close()
