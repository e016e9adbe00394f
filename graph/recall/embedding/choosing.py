"""Which embedder a service uses, by its settings; known before anything is loaded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from graph.recall.embedding import fast, hashing, minilm, onnx
from graph.recall.embedding.port import Embedder
from ontology.errors import InvalidInput

EmbedderFactory = Callable[[], Embedder]
"""Loads an embedder; picklable, so that another process can. Raises EmbedderUnavailable."""

CHOICES = "minilm, none, hash, onnx:FOLDER, fastembed:NAME or http(s)://... with ERSTWHILE_EMBEDDER_MODEL"


class EmbedderSettings(BaseSettings):
    """`ERSTWHILE_EMBEDDER`, and of an endpoint `ERSTWHILE_EMBEDDER_MODEL` and `ERSTWHILE_EMBEDDER_KEY`."""

    model_config = SettingsConfigDict(env_prefix="ERSTWHILE_", env_ignore_empty=True, extra="ignore", frozen=True)

    embedder: str = Field(
        default="minilm",
        description="What makes vectors: `minilm`, `none`, `hash`, `onnx:FOLDER`, `fastembed:NAME`, or the address of a server.",
    )
    embedder_model: str | None = Field(default=None, description="The model that such a server is asked for.")
    embedder_key: SecretStr | None = Field(default=None, description="Its API key.")


@dataclass(frozen=True, slots=True)
class Choice:
    """An embedder that is not loaded: its ID, and what loads it. Picklable; shows no key."""

    id: str
    load: EmbedderFactory = field(repr=False)


def choose(settings: EmbedderSettings, *, threads: int = 1) -> Choice | None:
    """What the settings choose, None for `none`. `threads`: those that a local model uses for one text.

    Raises InvalidInput for a setting that chooses nothing, EmbedderUnavailable where the library of a choice is not installed.
    """
    wanted = settings.embedder.strip()
    kind, _, rest = wanted.partition(":")
    if wanted == "none":
        return None
    if wanted == "minilm":
        return Choice(minilm.ID, partial(minilm.load_minilm, threads=threads))
    if wanted == "hash":
        embedder = hashing.HashingEmbedder()
        return Choice(embedder.id, hashing.HashingEmbedder)
    if kind == "onnx" and rest:
        return _folder(Path(rest).expanduser(), threads)
    if kind == "fastembed" and rest:
        return Choice(fast.fast_id(rest), partial(fast.FastEmbedder, rest, threads=threads))
    if kind in ("http", "https"):
        return _endpoint(wanted, settings)
    # Not the rest of the value, which may hold a password.
    raise InvalidInput(f"ERSTWHILE_EMBEDDER chooses no embedder by {kind!r}; it is {CHOICES}")


def _folder(folder: Path, threads: int) -> Choice:
    try:
        found = onnx.folder_id(folder)
    except InvalidInput as failure:
        raise InvalidInput(f"ERSTWHILE_EMBEDDER names a folder without a model that can be used: {failure.message}") from failure
    return Choice(found, partial(onnx.load_folder, folder, threads=threads))


def _endpoint(url: str, settings: EmbedderSettings) -> Choice:
    # Loaded here: a client for HTTP takes a tenth of a second.
    from graph.recall.embedding import endpoint

    # The value is not shown: a URL may hold a password.
    if not endpoint.is_address(url):
        raise InvalidInput(f"ERSTWHILE_EMBEDDER is no address of a server; it is {CHOICES}")
    if not settings.embedder_model:
        raise InvalidInput("ERSTWHILE_EMBEDDER names a server, which needs the name of a model in ERSTWHILE_EMBEDDER_MODEL")
    key = settings.embedder_key.get_secret_value() if settings.embedder_key else None
    return Choice(
        endpoint.endpoint_id(url, settings.embedder_model), partial(endpoint.EndpointEmbedder, url, settings.embedder_model, key=key)
    )
