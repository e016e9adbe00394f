"""Which episodes are with the workers, as far as this process has sent them. Thread-safe."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from threading import Lock

from graph.work import WaitingEpisode


class Flight:
    """Episodes by queue, each with its round, from sending to the last that is told of it."""

    def __init__(self, queues: Iterable[str]) -> None:
        self._rounds: dict[str, dict[int, int]] = {queue: {} for queue in queues}
        self._lock = Lock()

    def add(self, queue: str, chunk: Sequence[WaitingEpisode]) -> None:
        """Some were sent."""
        with self._lock:
            self._rounds[queue].update({each.row: each.round for each in chunk})

    def end(self, row: int, round: int | None = None) -> None:
        """One has come to its end; `round`: only where it flies in that one."""
        with self._lock:
            for rounds in self._rounds.values():
                if row in rounds and round in (None, rounds[row]):
                    del rounds[row]

    def end_all(self) -> None:
        """None of them will come back."""
        with self._lock:
            for rounds in self._rounds.values():
                rounds.clear()

    def number(self, queue: str | None = None) -> int:
        """How many there are, of one queue or of all."""
        with self._lock:
            return sum(len(rounds) for name, rounds in self._rounds.items() if queue in (None, name))
