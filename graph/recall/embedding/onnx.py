"""Sentence encoders as ONNX files, run by ONNX Runtime on the CPU."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from graph.recall.embedding.port import EmbedderUnavailable, Vectors, readable, unit_rows
from graph.recall.embedding.telemetry import keep_quiet
from ontology.errors import InvalidInput

TOKENS = 256
"""The most tokens of a text that are read, as all-MiniLM-L6-v2 was trained to."""

Pooling = Literal["mean", "first"]
"""How the vectors of the tokens make one: their mean, or that of the first token (CLS)."""

_KNOWN_INPUTS = {"input_ids", "attention_mask", "token_type_ids"}
_INTEGERS: dict[str, type[np.int64] | type[np.int32]] = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}


class OnnxEmbedder:
    """A model and its tokenizer. `threads`: those that one text may use; processes side by side do better with one each.

    Texts run one by one and without padding. A batch pads its texts to the longest, and a model that quantises as it runs scales
    by the whole batch, so either would let a text's neighbours change its vector.
    """

    def __init__(self, model: Path, tokenizer: Path, *, id: str, pooling: Pooling = "mean", threads: int = 1) -> None:
        """Load both. Raises EmbedderUnavailable where ONNX Runtime or the tokenizers library refuses its file."""
        keep_quiet()
        # Loaded here: the two libraries take longer than a command that embeds nothing.
        import onnxruntime
        from tokenizers import Tokenizer

        self.id = id
        self._pooling = pooling
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
        options.log_severity_level = 3
        try:
            self._session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
            self._tokenizer = Tokenizer.from_file(str(tokenizer))
        except Exception as failure:
            # Both libraries raise bare exceptions of many kinds.
            raise EmbedderUnavailable(f"the model in {model.parent} cannot be loaded ({failure}); put a whole copy there") from failure
        # A tokenizer's file also carries the padding and the length of whoever saved it.
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(TOKENS)
        self._inputs: dict[str, type[np.int64] | type[np.int32]] = {}
        for each in self._session.get_inputs():
            if each.name not in _KNOWN_INPUTS or each.type not in _INTEGERS:
                raise EmbedderUnavailable(
                    f"the model {model} asks for {each.name} ({each.type}), which no tokenizer gives; choose a BERT-like sentence encoder"
                )
            self._inputs[each.name] = _INTEGERS[each.type]
        self._output = self._session.get_outputs()[0].name
        self.dim = len(self._pooled("a"))

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Vectors (n, dim) of texts."""
        rows = np.zeros((len(texts), self.dim), dtype=np.float64)
        for row, text in enumerate(texts):
            rows[row] = self._pooled(text)
        return unit_rows(rows)

    def embed_query(self, text: str) -> Vectors:
        """The vector (dim,) of a question."""
        found: Vectors = self.embed_documents([text])[0]
        return found

    def _pooled(self, text: str) -> NDArray[np.floating]:
        encoding = self._tokenizer.encode(readable(text))
        if all(encoding.special_tokens_mask):
            return np.zeros(self.dim)
        given = {"input_ids": encoding.ids, "attention_mask": encoding.attention_mask, "token_type_ids": encoding.type_ids}
        try:
            answer = self._session.run([self._output], {name: np.array([given[name]], dtype=kind) for name, kind in self._inputs.items()})
        except Exception as failure:
            raise EmbedderUnavailable(f"the model cannot run ({failure}); choose another") from failure
        states = np.asarray(answer[0])
        if states.ndim == 2:
            # The model pools by itself.
            pooled = states[0]
        elif self._pooling == "first":
            pooled = states[0, 0]
        else:
            # Without padding the attention mask is all ones, so the mean over it is that of all tokens.
            pooled = states[0].mean(axis=0, dtype=np.float64)
        return np.asarray(pooled, dtype=np.float64)


def digest_of(*files: Path) -> str:
    """The sha256, in hex, of what files hold, one after the other, each with its length."""
    whole = hashlib.sha256()
    for path in files:
        with path.open("rb") as file:
            whole.update(hashlib.file_digest(file, "sha256").digest())
    return whole.hexdigest()


def _files(folder: Path) -> list[Path]:
    """What makes the output of a folder's model: the model with the weights that large ones keep beside it, and the tokenizer."""
    return [*sorted(folder.glob("model.onnx*")), folder / "tokenizer.json"]


def _pooling_of(folder: Path) -> Pooling:
    """What the folder says in the layout of sentence-transformers, else the mean. Raises InvalidInput for what is not known here."""
    path = folder / "1_Pooling" / "config.json"
    if not path.exists():
        return "mean"
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        ways = [key for key, value in told.items() if key.startswith("pooling_mode_") and value is True]
    except (ValueError, AttributeError) as failure:
        raise InvalidInput(f"{path} cannot be read: {failure}") from failure
    if ways == ["pooling_mode_mean_tokens"]:
        return "mean"
    if ways == ["pooling_mode_cls_token"]:
        return "first"
    raise InvalidInput(f"{path} asks for {', '.join(ways) or 'no way of pooling'}; mean_tokens and cls_token are known")


def folder_id(folder: Path) -> str:
    """The ID of a folder's embedder, by what its files hold, wherever they lie. Loads nothing. Raises InvalidInput."""
    missing = [name for name in ("model.onnx", "tokenizer.json") if not (folder / name).is_file()]
    if missing:
        raise InvalidInput(f"{folder} has no {' and no '.join(missing)}")
    return f"onnx/{digest_of(*_files(folder))[:24]}/{_pooling_of(folder)}/{TOKENS}"


def load_folder(folder: Path, *, threads: int = 1) -> OnnxEmbedder:
    """The embedder of a folder. Raises InvalidInput, EmbedderUnavailable."""
    return OnnxEmbedder(
        folder / "model.onnx", folder / "tokenizer.json", id=folder_id(folder), pooling=_pooling_of(folder), threads=threads
    )
