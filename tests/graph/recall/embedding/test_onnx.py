"""Folders with a model of one's own."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from graph.recall.embedding.minilm import TOKENIZER
from graph.recall.embedding.onnx import TOGETHER, OnnxEmbedder, folder_id, load_folder
from graph.recall.embedding.port import EmbedderUnavailable
from ontology.errors import InvalidInput


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """A folder whose model is none."""
    (tmp_path / "model.onnx").write_bytes(b"no model")
    shutil.copy(TOKENIZER, tmp_path / "tokenizer.json")
    return tmp_path


def pooling(folder: Path, **ways: bool) -> None:
    """Say how the folder's model pools."""
    (folder / "1_Pooling").mkdir(exist_ok=True)
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"word_embedding_dimension": 384, **ways}), encoding="utf-8")


def test_the_same_files_make_the_same_vectors_in_any_folder(folder: Path, minilm: OnnxEmbedder) -> None:
    assert load_folder(folder).embed_query("Ada drinks tea").tobytes() == minilm.embed_query("Ada drinks tea").tobytes()


def test_the_name_follows_from_what_the_files_hold(broken: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    before = folder_id(broken)
    copy = tmp_path_factory.mktemp("copy") / "elsewhere"
    shutil.copytree(broken, copy)
    assert folder_id(copy) == before
    (copy / "model.onnx").write_bytes(b"another")
    (broken / "model.onnx_data").write_bytes(b"weights")
    names = {before, folder_id(copy), folder_id(broken)}
    pooling(broken, pooling_mode_cls_token=True)
    assert len(names | {folder_id(broken)}) == 4


def test_the_folder_says_how_its_model_pools(folder: Path, tmp_path: Path, minilm: OnnxEmbedder) -> None:
    for path in folder.iterdir():
        (tmp_path / path.name).symlink_to(path.resolve())
    pooling(tmp_path, pooling_mode_cls_token=True, pooling_mode_mean_tokens=False)
    first = load_folder(tmp_path)
    assert first.embed_query("tea").tobytes() != minilm.embed_query("tea").tobytes()
    assert first.id == folder_id(tmp_path)


def test_a_way_of_pooling_that_is_not_known_is_refused(broken: Path) -> None:
    pooling(broken, pooling_mode_max_tokens=True)
    with pytest.raises(InvalidInput, match="pooling_mode_max_tokens; mean_tokens and cls_token are known"):
        folder_id(broken)
    (broken / "1_Pooling" / "config.json").write_text("[]", encoding="utf-8")
    with pytest.raises(InvalidInput, match="cannot be read"):
        folder_id(broken)


def test_missing_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"has no model\.onnx and no tokenizer\.json"):
        folder_id(tmp_path)


def test_a_model_that_cannot_be_loaded_is_named(broken: Path) -> None:
    with pytest.raises(EmbedderUnavailable, match=r"the model in .* cannot be loaded"):
        load_folder(broken)


def test_a_tokenizer_that_cannot_be_loaded_is_named(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "model.onnx").symlink_to((folder / "model.onnx").resolve())
    (tmp_path / "tokenizer.json").write_text("{}", encoding="utf-8")
    with pytest.raises(EmbedderUnavailable, match="put a whole copy there"):
        load_folder(tmp_path)


def test_where_a_batch_changes_a_bit_texts_run_one_by_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = load_folder(folder)
    run = embedder._run
    sizes: list[int] = []

    def touchy(given: Mapping[str, Sequence[Sequence[int]]]) -> NDArray[np.float64]:
        sizes.append(len(given["input_ids"]))
        return run(given) + (1e-12 if len(given["input_ids"]) > 1 else 0)

    monkeypatch.setattr(embedder, "_run", touchy)
    texts = ["tea and rum", "gin and ale", "jam and oil"]
    alone = np.concatenate([embedder.embed_documents([text]) for text in texts])
    assert (sizes, embedder._together) == ([1, 1, 1], None)
    sizes.clear()
    assert embedder.embed_documents(texts).tobytes() == alone.tobytes()
    # It was tried first, and then not done.
    assert sizes[-3:] == [1, 1, 1] and max(sizes) > 1
    assert embedder._together is False


def test_where_it_does_not_they_run_together(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = load_folder(folder)
    assert embedder._runs_together()
    run = embedder._run
    sizes: list[int] = []

    def noted(given: Mapping[str, Sequence[Sequence[int]]]) -> NDArray[np.float64]:
        sizes.append(len(given["input_ids"]))
        return run(given)

    monkeypatch.setattr(embedder, "_run", noted)
    embedder.embed_documents(["tea and rum"] * (TOGETHER + 3) + ["one more text"])
    assert sorted(sizes) == [1, 3, TOGETHER] or sorted(sizes) == [4, TOGETHER]
