"""How much work a question may be to SQLite: counted in instructions of its machine, never in time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.exc import OperationalError

from ontology.errors import QueryTooComplex

MOST_STEPS = 20_000_000
"""Instructions that one question may take: one to two seconds of an ordinary processor."""
_EVERY = 100_000
"""Instructions between two looks at the count."""


@contextmanager
def bounded(connection: Connection, refusal: Callable[[], QueryTooComplex]) -> Iterator[None]:
    """Counts the work of a SQLite connection meanwhile, and raises the refusal where it is too much; other databases work on."""
    if connection.dialect.name != "sqlite":
        yield
        return
    driver: Any = connection.connection.driver_connection
    every = min(_EVERY, MOST_STEPS)
    left = MOST_STEPS // every

    def look() -> bool:
        nonlocal left
        left -= 1
        return left < 0

    driver.set_progress_handler(look, every)
    try:
        yield
    except OperationalError as failure:
        if left < 0:
            raise refusal() from failure
        raise
    finally:
        driver.set_progress_handler(None, 0)
