"""Ctrl-C while a command works: the first lets it finish what it has at hand, the second ends it."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event
from types import FrameType

NOTICED = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def stopping(stop: Event, say: Callable[[str], None]) -> Iterator[Callable[[], int]]:
    """`stop` is set by Ctrl-C or SIGTERM. The value answers the status that the process then ends with, 0 where nothing came."""
    caught: list[int] = []

    def notice(number: int, _frame: FrameType | None) -> None:
        if caught:
            # What is safe is safe; a terminal gets its cursor back.
            os.write(sys.__stderr__.fileno() if sys.__stderr__ is not None else 2, b"\x1b[?25h\n" if sys.stderr.isatty() else b"\n")
            os._exit(128 + number)
        caught.append(number)
        stop.set()
        say("stopping after what is at hand; Ctrl-C again leaves that too")

    # Only the main thread may say what signals do.
    main = threading.current_thread() is threading.main_thread()
    before = {number: signal.signal(number, notice) for number in NOTICED} if main else {}
    try:
        yield lambda: 128 + caught[0] if caught else 0
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def undivided() -> Iterator[None]:
    """A Ctrl-C that comes inside counts at the end. Raises KeyboardInterrupt then."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    caught: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: caught.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if caught:
        raise KeyboardInterrupt
