"""A thread that lets the index follow the ledger as it grows, so that a question finds it there."""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import Condition, Thread

from graph.recall.index import Index

log = logging.getLogger(__name__)

_LINGER = 0.05
"""Seconds in which commits gather into one batch: each by itself would cost as much as all of them."""
_PAUSE = 5.0


class Following:
    """Follows `index` when notified. Thread-safe. The thread begins with the first notice."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self.followed: Callable[[], None] = lambda: None
        """Called after each time that the index has followed."""
        self._changed = Condition()
        self._wanted = False
        self._closing = False
        self._thread: Thread | None = None

    def notify(self) -> None:
        """The ledger has grown. Returns at once."""
        with self._changed:
            if self._closing:
                return
            self._wanted = True
            if self._thread is None:
                self._thread = Thread(target=self._run, name="recall-index", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def _run(self) -> None:
        while self._sleep():
            try:
                self._index.catch_up()
                self._index.keep(grown=0.5)
                self.followed()
                if self._index.behind:
                    self._pause()
            except Exception:
                # Whoever asks follows too, and meets the failure; here it is tried again.
                log.exception("the recall index cannot follow the ledger; next attempt in %.0f s", _PAUSE)
                self._pause()

    def _pause(self) -> None:
        with self._changed:
            self._wanted = True
            self._changed.wait_for(lambda: self._closing, _PAUSE)

    def _sleep(self) -> bool:
        """Until there is work; False at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._closing or self._wanted)
            self._changed.wait_for(lambda: self._closing, _LINGER)
            self._wanted = False
            return not self._closing

    def close(self) -> None:
        """Stop after the batch at hand."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()
