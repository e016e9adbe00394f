"""Settings of the broker and of its workers: `ERSTWHILE_BROKER_URL` and the rest, from the environment."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from ontology.errors import InvalidInput

SCHEMES = ("redis://", "rediss://")
KEY_LENGTH = 16
"""Characters that the key of the workers has at least."""


class BrokerSettings(BaseSettings):
    """What the owner of the ledger and its workers both read: the same values for both."""

    # A mistake is told without the values: the URL holds the password of Redis.
    model_config = SettingsConfigDict(
        env_prefix="ERSTWHILE_", env_ignore_empty=True, extra="ignore", frozen=True, hide_input_in_errors=True
    )

    broker_url: SecretStr | None = Field(
        default=None,
        description="Redis that tasks and results go through, `redis://:PASSWORD@HOST:6379/0`; without it the service extracts itself",
    )
    worker_key: SecretStr | None = Field(
        default=None, description="What tasks and results are signed with, the same for the service and all workers; at least 16 characters"
    )
    broker_prefix: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,30}$")] = Field(
        default="erstwhile", description="What the names of all keys in Redis begin with; one for each data folder that shares a Redis"
    )
    broker_timeout: Annotated[float, Field(gt=0, le=60)] = Field(
        default=2.0, description="Seconds after which the service takes Redis for unreachable"
    )
    live_window: Annotated[int, Field(ge=1, le=100_000)] = Field(
        default=64, description="Episodes that somebody waits for, handed out to workers at a time"
    )
    bulk_window: Annotated[int, Field(ge=1, le=100_000)] = Field(
        default=512, description="Episodes of imports handed out to workers at a time"
    )
    stream_high: Annotated[int, Field(ge=1)] = Field(
        default=10_000, description="Entries on the stream of results above which workers wait for the service"
    )
    resend_after: Annotated[float, Field(gt=0)] = Field(
        default=300.0, description="Seconds after which an episode that was handed out and came to nothing is handed out again"
    )
    visibility_timeout: Annotated[int, Field(ge=1)] = Field(
        default=120, description="Seconds after which the task of a worker that vanished is given to another"
    )
    restore_interval: Annotated[int, Field(ge=1)] = Field(default=5, description="Seconds between searches for such tasks")
    task_time_limit: Annotated[int, Field(ge=1)] = Field(default=90, description="Seconds after which the process of a task is killed")
    task_soft_time_limit: Annotated[int, Field(ge=1)] = Field(
        default=60, description="Seconds after which a task is told to give up its episode"
    )
    worker_memory: Annotated[int, Field(ge=64)] = Field(
        default=1500, description="Megabytes above which a process of a worker is replaced after its task"
    )
    worker_processes: Annotated[int, Field(ge=0, le=256)] = Field(default=0, description="Processes of a worker; 0: one for each core")
    soft_shutdown: Annotated[float, Field(ge=0)] = Field(
        default=20.0, description="Seconds that a worker told twice to stop gives its running tasks before they go back to the queue"
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if not self.task_soft_time_limit < self.task_time_limit < self.visibility_timeout:
            raise ValueError(
                "ERSTWHILE_TASK_SOFT_TIME_LIMIT must be below ERSTWHILE_TASK_TIME_LIMIT, and that below ERSTWHILE_VISIBILITY_TIMEOUT: "
                "a task that still runs would be given to another worker"
            )
        if self.broker_url is None:
            return self
        if not self.broker_url.get_secret_value().startswith(SCHEMES):
            raise ValueError("ERSTWHILE_BROKER_URL is no address of a Redis; it is redis://HOST:PORT/0 or rediss://HOST:PORT/0")
        if self.worker_key is None:
            raise ValueError("ERSTWHILE_BROKER_URL needs ERSTWHILE_WORKER_KEY, with which tasks and results are signed")
        if len(self.worker_key.get_secret_value()) < KEY_LENGTH:
            raise ValueError(f"ERSTWHILE_WORKER_KEY has fewer than {KEY_LENGTH} characters")
        return self

    @property
    def url(self) -> str:
        """The address of Redis, with its password. Raises InvalidInput where there is none."""
        if self.broker_url is None:
            raise InvalidInput("ERSTWHILE_BROKER_URL is not set: there is no broker", path=("BROKER_URL",))
        return self.broker_url.get_secret_value()

    @property
    def key(self) -> bytes:
        """What tasks and results are signed with. Raises InvalidInput where there is none."""
        if self.worker_key is None:
            raise InvalidInput("ERSTWHILE_WORKER_KEY is not set", path=("WORKER_KEY",))
        return self.worker_key.get_secret_value().encode()


def read_settings() -> BrokerSettings:
    """The settings of the environment. Raises InvalidInput naming the variable, without its value."""
    try:
        return BrokerSettings()
    except ValidationError as failure:
        first = failure.errors(include_input=False, include_url=False)[0]
        name = "_".join(str(part) for part in first["loc"]).upper()
        told = str(first["msg"]).removeprefix("Value error, ")
        raise InvalidInput(f"ERSTWHILE_{name} is wrong: {told}" if name else told, path=(name,) if name else ()) from None
