"""Redis as the service and its workers use it: the names of its keys, and clients that give up in time. Commands of Redis 6.2 alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from kombu.exceptions import KombuError
from redis import Redis
from redis.backoff import ExponentialBackoff, NoBackoff
from redis.connection import AbstractConnection
from redis.exceptions import AuthenticationError, RedisError, ResponseError
from redis.retry import Retry

from workers.broker.settings import BrokerSettings
from workers.dispatching import DispatchUnavailable

GROUP, OWNER = "owner", "owner"
"""The one consumer group of the results, and its one consumer."""
DAY = 86_400
"""Seconds that what is noted of an episode stays."""

_RETRIES = 6
_LONGEST_PAUSE = 2.0


@dataclass(frozen=True, slots=True)
class Keys:
    """The names of all keys of one service in Redis."""

    prefix: str

    @property
    def results(self) -> str:
        """The stream of what became of episodes."""
        return f"{self.prefix}:results"

    @property
    def vectors(self) -> str:
        """The stream of what was embedded."""
        return f"{self.prefix}:vectors"

    @property
    def workers(self) -> str:
        """Begins the name of each worker's sign of life."""
        return f"{self.prefix}:worker:"

    @property
    def counts(self) -> str:
        """What workers counted: tasks that they refused, episodes that they left out."""
        return f"{self.prefix}:counts"

    @property
    def sample(self) -> str:
        """Something that the service signed, for workers to know by whether they have its key."""
        return f"{self.prefix}:sample"

    def queue(self, name: str) -> str:
        """The list of tasks that wait."""
        return f"{self.prefix}:{name}"

    def vocabulary(self, version: str) -> str:
        """A vocabulary that tasks name."""
        return f"{self.prefix}:vocabulary:{version}"

    @property
    def alive(self) -> str:
        """Names the run of Redis that knows what the service handed out, and the vocabulary of it."""
        return f"{self.prefix}:alive"

    def starts(self, row: int, round: int) -> str:
        """How often an episode was begun."""
        return f"{self.prefix}:starts:{row}:{round}"

    def dropped(self, row: int, round: int) -> str:
        """There when an episode is given up."""
        return f"{self.prefix}:dropped:{row}:{round}"

    def embedding(self, id: str) -> str:
        """How often texts were begun that somebody waits for; gone when nobody does, or when Redis lost them."""
        return f"{self.prefix}:embedding:{id}"


def owner_client(settings: BrokerSettings, connected: Callable[[], None] = lambda: None) -> Redis:
    """A client that tells a failure at once, since its caller waits. Thread-safe; connects when it is first used.

    `connected` is called for each connection: it may be one to another run of Redis.
    """

    def greet(connection: AbstractConnection) -> None:
        connection.on_connect()  # type: ignore[no-untyped-call]
        connected()

    return _client(settings, Retry(NoBackoff(), 0), settings.broker_timeout, redis_connect_func=greet)


def worker_client(settings: BrokerSettings) -> Redis:
    """A client that sits out a restart of Redis: what it has to say is worth some seconds."""
    return _client(settings, Retry(ExponentialBackoff(cap=_LONGEST_PAUSE, base=0.1), _RETRIES), max(10.0, settings.broker_timeout))


def _client(settings: BrokerSettings, retry: Retry, timeout: float, **more: Any) -> Redis:
    # RESP2, which Redis 6.2 and all that speak like it have.
    return Redis.from_url(
        settings.url,
        protocol=2,
        retry=retry,
        socket_timeout=timeout,
        socket_connect_timeout=min(timeout, settings.broker_timeout),
        socket_keepalive=True,
        decode_responses=False,
        **more,
    )


def told(failure: BaseException) -> str:
    """A failure of Redis for a person, without addresses, names or passwords."""
    if isinstance(failure, (ResponseError, AuthenticationError)):
        return f"Redis refuses what it is asked ({type(failure).__name__})"
    return f"Redis does not answer ({type(failure).__name__})"


@contextmanager
def reaching() -> Iterator[None]:
    """Turns what Redis and Kombu raise into DispatchUnavailable, which says nothing of the address."""
    try:
        yield
    except (RedisError, KombuError, OSError) as failure:
        raise DispatchUnavailable(told(failure)) from None
