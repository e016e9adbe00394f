"""Settings of the service, from the environment (`ERSTWHILE_*`) or as given by the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from platformdirs import user_data_path
from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict


def _default_data() -> Path:
    return user_data_path("erstwhile", appauthor=False)


class Settings(BaseSettings):
    """`data` is the folder of one ledger and what follows it; `ontology` an overlay of the vocabulary.

    `hygiene` is a file of one's own rules for secrets and threats (docs/hygiene.md).

    `qdrant_url` is a server that keeps the vectors of recall (docs/qdrant.md), `qdrant_key` its API key.

    `speakers` is a file that says who the speakers of imported transcripts are (docs/formats.md, "Who is meant").
    """

    model_config = SettingsConfigDict(env_prefix="ERSTWHILE_", env_ignore_empty=True, extra="ignore", frozen=True)

    data: Path = Field(default_factory=_default_data)
    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8000
    ontology: Path | None = None
    hygiene: Path | None = None
    speakers: Path | None = None
    graph_engine: Literal["kuzu", "sql"] = "kuzu"
    extraction_workers: Annotated[int, Field(ge=1, le=64)] = 1
    embedding_workers: Annotated[int, Field(ge=0, le=64)] = 1
    qdrant_url: str | None = None
    qdrant_key: SecretStr | None = None
    qdrant_exact: bool = True
