"""Settings of the graph projection."""

from __future__ import annotations

from typing import Literal

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

Kind = Literal["kuzu", "ladybug", "sql"]

ENGINE = "What keeps the graph: Kuzu, its maintained fork Ladybug (extra `ladybug`), or `sql`: the ledger alone."


class GraphSettings(BaseSettings):
    """`ERSTWHILE_GRAPH_...`. Sizes in MB are of 2^20 bytes."""

    model_config = SettingsConfigDict(env_prefix="ERSTWHILE_GRAPH_")

    engine: Kind = Field(default="kuzu", description=ENGINE)
    walks: Literal["graph", "sql"] = Field(
        default="sql",
        description="What answers neighbours, patterns and paths: the ledger, by measurement (docs/engines.md), or the graph.",
    )
    buffer_pool_mb: int = Field(default=256, ge=64, description="MB that the engine may cache; its own default takes 80 % of the memory.")
    max_size_mb: int = Field(
        default=65_536, ge=1024, description="Address space in MB that the engine reserves for its file; rounded up to a power of two."
    )
    threads: int = Field(default=2, ge=1, le=64, description="Threads that one query may use.")
    linger_seconds: float = Field(
        default=0.5,
        ge=0,
        le=10,
        description="How long the graph may stay behind while nobody waits for it, to follow in fewer, larger batches.",
    )
    copy_from: int = Field(
        default=1_000,
        ge=1,
        description="Batches of at least so many rows go in by COPY, smaller ones by prepared statements: where their rates cross.",
    )
    batch_rows: int = Field(default=20_000, ge=1, description="The most rows of one kind in a batch, unless one transaction has more.")
    load_rows: int = Field(default=200_000, ge=1, description="About how many nodes a rebuild writes at a time; five times as many edges.")
    load_pool_mb: int = Field(
        default=1_024, ge=64, description="MB that the engine may cache during a rebuild; Ladybug gives up where they do not suffice."
    )
    checkpoint_rows: int = Field(
        default=50_000,
        ge=1,
        description="After so many rows by prepared statements the files are closed and opened again, which checkpoints them.",
    )
