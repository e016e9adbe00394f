"""Settings of the service, from the environment (`ERSTWHILE_*`) or as given by the command line."""

from __future__ import annotations

import re
from ipaddress import IPv6Address
from pathlib import Path
from typing import Annotated

from platformdirs import user_data_path, user_state_path
from pydantic import ByteSize, Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from graph.store.settings import ENGINE, Kind

_HOST = re.compile(r"\*|(\*\.)?[A-Za-z0-9_][A-Za-z0-9._-]{0,252}")


MAX_BODY = 128 * 2**20
"""Bytes. A thousand episodes of 100,000 ASCII characters fit; what one request holds at a time stays a few times this."""

PATIENCE = 30.0
"""Seconds that a subscriber may leave an event untaken."""


def _is_host(name: object) -> bool:
    return isinstance(name, str) and (_HOST.fullmatch(name) is not None or _is_ipv6(name.strip("[]")))


def _is_ipv6(name: str) -> bool:
    try:
        return bool(IPv6Address(name))
    except ValueError:
        return False


def _default_data() -> Path:
    return user_data_path("erstwhile", appauthor=False)


def _default_state() -> Path:
    return user_state_path("erstwhile", appauthor=False)


class Settings(BaseSettings):
    """Settings of the process that owns a data folder, and of the command line that asks it."""

    model_config = SettingsConfigDict(env_prefix="ERSTWHILE_", env_ignore_empty=True, extra="ignore", frozen=True)

    data: Path = Field(
        default_factory=_default_data,
        description="The folder of one ledger and of what follows it (default: the platform's folder for data).",
    )
    state: Path = Field(
        default_factory=_default_state,
        description="Where the command line keeps what it has sent to which service (default: the platform's folder for state).",
    )
    host: str = Field(default="127.0.0.1", description="The address that `erstwhile serve` listens on. Without API keys: loopback only.")
    port: Annotated[int, Field(ge=0, le=65535)] = Field(default=8000, description="Its port; 0 takes any that is free.")
    api_keys: SecretStr | None = Field(
        default=None, description="The API keys as JSON: hashes with what they grant. Better in a file; see [API keys](#api-keys)."
    )
    api_keys_file: Path | None = Field(default=None, description="A file that holds them.")
    api_key: SecretStr | None = Field(default=None, description="The key that the command line sends to a running service.")
    allowed_hosts: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(),
        description="Host names under which the service is asked besides loopback's and its own address, with commas between; "
        "`*.example.org` is a pattern, `*` stands for all (with API keys only).",
    )
    max_body: Annotated[ByteSize, Field(ge=2**20)] = Field(
        default=ByteSize(MAX_BODY), description="The greatest body of a request, in bytes or such as `64MiB`; larger ones get 413."
    )
    subscriber_patience: Annotated[float, Field(gt=0)] = Field(
        default=PATIENCE,
        description="Seconds that a subscriber of changes may leave an event untaken before its subscription ends with its last cursor; "
        "a connection of which nothing is taken for twice as long is cut.",
    )
    ontology: Path | None = Field(default=None, description="An overlay of the vocabulary (CONTRIBUTING.md).")
    hygiene: Path | None = Field(default=None, description="Rules of one's own for secrets and threats (docs/hygiene.md).")
    speakers: Path | None = Field(
        default=None, description='Who the speakers of imported transcripts are (docs/formats.md, "Who is meant").'
    )
    graph_engine: Kind = Field(default="kuzu", description=ENGINE)
    extraction_workers: Annotated[int, Field(ge=1, le=64)] = Field(default=1, description="Processes that extract, without a broker.")
    embedding_workers: Annotated[int, Field(ge=0, le=64)] = Field(
        default=1, description="Processes that make vectors; 0: a thread of the service makes them."
    )
    qdrant_url: str | None = Field(default=None, description="A server that keeps the vectors of recall (docs/qdrant.md).")
    qdrant_key: SecretStr | None = Field(default=None, description="Its API key.")
    qdrant_exact: bool = Field(default=True, description="Whether it compares all vectors, or those that its index proposes.")

    @field_validator("allowed_hosts", mode="before")
    @classmethod
    def _names(cls, value: object) -> object:
        names = tuple(name.strip() for name in value.split(",") if name.strip()) if isinstance(value, str) else value
        if isinstance(names, tuple) and not all(map(_is_host, names)):
            raise ValueError("host names with commas between, without scheme and port; a '*' stands for all, or first in '*.example.org'")
        return names
