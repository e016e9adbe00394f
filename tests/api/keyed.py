"""Keys of the tests, and the service behind them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from api.app import create_app
from api.credentials import Access, Keyring, entry_of, new_key, parse_keys
from api.exposure import Exposure
from api.service import Service
from tests.api.clients import served

LIMIT = 2**20
"""Bytes of a body."""


class Keys:
    """One key of each kind, new in each process."""

    def __init__(self) -> None:
        self.admin, self.writer, self.reader, self.limited = (new_key() for _ in range(4))
        self.entries = [
            entry_of(self.admin, "root", [], Access.ADMIN),
            entry_of(self.writer, "ana", [], Access.WRITE),
            entry_of(self.reader, "ben", [], Access.READ),
            entry_of(self.limited, "cleo", ["keyed-1", "keyed-2"], Access.WRITE),
        ]

    @property
    def ring(self) -> Keyring:
        """What the service knows of them."""
        return parse_keys(json.dumps(self.entries), "the test's keys")


@contextmanager
def keyed_service(service: Service, keys: Keys) -> Iterator[str]:
    """The address of a server that lets these keys in. The service stays open after it."""
    from tests.api.conftest import Borrowed

    exposure = Exposure(keyring=keys.ring, max_body=LIMIT)
    with served(create_app(partial(Borrowed, service.graph, service.ingestion), exposure=exposure)) as url:
        yield url
