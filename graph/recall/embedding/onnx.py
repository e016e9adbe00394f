"""Sentence encoders as ONNX files, run by ONNX Runtime on the CPU."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from graph.recall.embedding.port import EmbedderUnavailable, Vectors, readable, unit_rows
from graph.recall.embedding.telemetry import keep_quiet
from ontology.errors import InvalidInput

TOKENS = 256
"""The most tokens of a text that are read, as all-MiniLM-L6-v2 was trained to."""

Pooling = Literal["mean", "first"]
"""How the vectors of the tokens make one: their mean, or that of the first token (CLS)."""

TOGETHER = 16
"""Most texts that run together."""

_PROBES = ((2, 3), (7, 5), (16, 2), (24, 16), (33, 4), (61, 3))
"""(tokens, texts): what is run together and alone before texts of one length run together."""

_KNOWN_INPUTS = {"input_ids", "attention_mask", "token_type_ids"}
_FIELDS = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}
_INTEGERS: dict[str, type[np.int64] | type[np.int32]] = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}


class OnnxEmbedder:
    """A model and its tokenizer. `threads`: those that one text may use; processes side by side do better with one each.

    Texts run without padding, and together only where they have as many tokens: a batch pads its texts to the longest, which would
    let a text's neighbours change its vector. So would a model that quantises as it runs, for it scales by the whole batch, or a
    processor whose sums depend on the size of a matrix: whether this one here does is tried before the first batch, bit by bit, and
    where it does texts run one by one.
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
        self._together: bool | None = None
        self.dim = self._run(_given([self._tokenizer.encode("a")])).shape[1]

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Vectors (n, dim) of texts."""
        rows = np.zeros((len(texts), self.dim), dtype=np.float64)
        by_length: dict[int, list[tuple[int, Any]]] = defaultdict(list)
        for row, encoding in enumerate(self._tokenizer.encode_batch([readable(text) for text in texts])):
            if not all(encoding.special_tokens_mask):
                by_length[len(encoding.ids)].append((row, encoding))
        for alike in by_length.values():
            most = TOGETHER if len(alike) > 1 and self._runs_together() else 1
            for start in range(0, len(alike), most):
                part = alike[start : start + most]
                rows[[row for row, _ in part]] = self._run(_given([each for _, each in part]))
        return unit_rows(rows)

    def embed_query(self, text: str) -> Vectors:
        """The vector (dim,) of a question."""
        found: Vectors = self.embed_documents([text])[0]
        return found

    def _runs_together(self) -> bool:
        """Whether a text's vector is the same to the bit, alone and among others of its length; found out once."""
        if self._together is None:
            self._together = all(self._alike(tokens, texts) for tokens, texts in _PROBES)
        return self._together

    def _alike(self, tokens: int, texts: int) -> bool:
        words = self._tokenizer.get_vocab_size()
        ids = [[(7919 * place + 104_729 * text) % words for place in range(tokens)] for text in range(texts)]
        given = {"input_ids": ids, "attention_mask": [[1] * tokens] * texts, "token_type_ids": [[0] * tokens] * texts}
        alone = [self._run({name: values[text : text + 1] for name, values in given.items()})[0] for text in range(texts)]
        return bool(np.array_equal(self._run(given), alone))

    def _run(self, given: Mapping[str, Sequence[Sequence[int]]]) -> NDArray[np.float64]:
        """Pooled vectors (n, dim) of texts of one length."""
        try:
            answer = self._session.run([self._output], {name: np.array(given[name], dtype=kind) for name, kind in self._inputs.items()})
        except Exception as failure:
            raise EmbedderUnavailable(f"the model cannot run ({failure}); choose another") from failure
        states = np.asarray(answer[0])
        if states.ndim == 2:
            # The model pools by itself.
            pooled = states
        elif self._pooling == "first":
            pooled = states[:, 0]
        else:
            # Without padding the attention mask is all ones, so the mean over it is that of all tokens.
            pooled = states.mean(axis=1, dtype=np.float64)
        return np.asarray(pooled, dtype=np.float64)


def _given(encodings: Sequence[Any]) -> dict[str, list[list[int]]]:
    return {name: [getattr(each, field) for each in encodings] for name, field in _FIELDS.items()}


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
