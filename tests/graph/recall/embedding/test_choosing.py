"""Settings choose the embedder."""

from __future__ import annotations

import pickle
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
from pydantic import SecretStr

from graph.recall.embedding import fast, minilm
from graph.recall.embedding.choosing import EmbedderSettings, choose
from graph.recall.embedding.hashing import HashingEmbedder
from graph.recall.embedding.port import EmbedderUnavailable
from ontology.errors import InvalidInput
from tests.graph.recall.embedding.serving import serving


def test_without_a_setting_it_is_minilm(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("", "_MODEL", "_KEY"):
        monkeypatch.delenv(f"ERSTWHILE_EMBEDDER{name}", raising=False)
    found = choose(EmbedderSettings())
    assert found is not None
    assert found.id == minilm.ID


def test_the_environment_chooses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ERSTWHILE_EMBEDDER", "https://example.org/v1")
    monkeypatch.setenv("ERSTWHILE_EMBEDDER_MODEL", "small")
    monkeypatch.setenv("ERSTWHILE_EMBEDDER_KEY", "sesame")
    found = choose(EmbedderSettings())
    assert found is not None
    assert found.id == "endpoint/small@https://example.org/v1/embeddings"
    assert "sesame" not in repr(found) + repr(EmbedderSettings())


def test_none_is_none() -> None:
    assert choose(EmbedderSettings(embedder="none")) is None


def test_the_name_is_known_before_loading_and_the_choice_goes_to_another_process(folder: Path) -> None:
    with serving() as server:
        for embedder in ("hash", f"onnx:{folder}", server.url):
            settings = EmbedderSettings(embedder=embedder, embedder_model="small", embedder_key=SecretStr("sesame"))
            found = pickle.loads(pickle.dumps(choose(settings, threads=2)))
            loaded = found.load()
            assert loaded.id == found.id
            if hasattr(loaded, "close"):
                loaded.close()
        assert server.keys == ["Bearer sesame"]
    assert isinstance(choose(EmbedderSettings(embedder="hash")).load(), HashingEmbedder)  # type: ignore[union-attr]


@pytest.mark.parametrize("value", ["minilmm", "onnx:", "onnx", "fastembed:", "ftp://ada:pass@example.org", "MiniLM"])
def test_a_value_that_chooses_nothing_is_answered_with_the_choices(value: str) -> None:
    with pytest.raises(
        InvalidInput, match=r"ERSTWHILE_EMBEDDER chooses .*minilm, none, hash, onnx:FOLDER, fastembed:NAME or http"
    ) as caught:
        choose(EmbedderSettings(embedder=value))
    assert "pass" not in str(caught.value)


def test_a_folder_without_a_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=rf"ERSTWHILE_EMBEDDER names a folder .*{tmp_path}/model has no model\.onnx"):
        choose(EmbedderSettings(embedder=f"onnx:{tmp_path}/model"))


def test_a_server_needs_an_address_and_a_model() -> None:
    with pytest.raises(InvalidInput, match="ERSTWHILE_EMBEDDER_MODEL"):
        choose(EmbedderSettings(embedder="http://localhost:1234/v1"))
    for broken in ("http://", "http://[::1", "https:"):
        with pytest.raises(InvalidInput, match="ERSTWHILE_EMBEDDER is no address of a server"):
            choose(EmbedderSettings(embedder=broken, embedder_model="small"))


def test_a_library_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(fast, "version", missing)
    with pytest.raises(EmbedderUnavailable, match="install erstwhile"):
        choose(EmbedderSettings(embedder="fastembed:BAAI/bge-small-en-v1.5"))
