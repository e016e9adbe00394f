"""Logs without secrets: every record of a process is scrubbed where it is made, whatever logger or handler it goes through."""

from __future__ import annotations

import logging
import sys
import threading
import traceback
from collections.abc import Callable
from types import TracebackType
from typing import Any

Scrub = Callable[[str], str]
"""A text without its secrets."""

_FORMATTER = logging.Formatter()


class ScrubbingFilter(logging.Filter):
    """Scrubs the message of a record, what was raised, and its stack; lets every record pass."""

    def __init__(self, scrub: Scrub) -> None:
        super().__init__()
        self._scrub = scrub

    def filter(self, record: logging.LogRecord) -> bool:
        """Scrub `record` in place."""
        if record.exc_info and not record.exc_text:
            record.exc_text = _FORMATTER.formatException(record.exc_info)
        record.exc_text = self._scrub(record.exc_text) if record.exc_text else record.exc_text
        record.stack_info = self._scrub(record.stack_info) if record.stack_info else record.stack_info
        try:
            message = record.getMessage()
        except (TypeError, ValueError, KeyError):
            # The handler would show them as they are.
            record.msg, record.args = self._scrub(f"{record.msg} (with arguments that do not fit: {record.args!r})"), ()
            return True
        scrubbed = self._scrub(message)
        if scrubbed != message:
            # Formatters of access logs read the arguments; where scrubbing these is enough they stay.
            record.args = self._arguments(record.args)
            if self._scrub(record.getMessage()) != record.getMessage():
                record.msg, record.args = scrubbed, ()
        return True

    def _arguments(self, arguments: Any) -> Any:
        if isinstance(arguments, dict):
            return {name: self._argument(value) for name, value in arguments.items()}
        return tuple(self._argument(value) for value in arguments or ())

    def _argument(self, value: Any) -> Any:
        if isinstance(value, (bool, int, float)):
            return value
        text = str(value)
        scrubbed = self._scrub(text)
        return value if scrubbed == text else scrubbed


class _Records:
    """Makes records as before, and scrubs them."""

    def __init__(self, make: Callable[..., logging.LogRecord], scrub: Scrub) -> None:
        self.make = make
        self._filter = ScrubbingFilter(scrub)

    def __call__(self, *arguments: Any, **more: Any) -> logging.LogRecord:
        record = self.make(*arguments, **more)
        self._filter.filter(record)
        return record


def install(scrub: Scrub) -> Callable[[], None]:
    """From now on scrub all that this process logs, and what ends it or one of its threads with an exception.

    A later call takes the place of an earlier one. Returns what undoes it.
    """
    before = (logging.getLogRecordFactory(), sys.excepthook, threading.excepthook)
    make = before[0]
    logging.setLogRecordFactory(_Records(make.make if isinstance(make, _Records) else make, scrub))

    def ended(kind: type[BaseException], raised: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, raised, trace)
        else:
            sys.stderr.write(scrub("".join(traceback.format_exception(kind, raised, trace))))

    def thread_ended(told: threading.ExceptHookArgs) -> None:
        if not issubclass(told.exc_type, SystemExit):
            raised = told.exc_value or told.exc_type()
            name = told.thread.name if told.thread else "?"
            sys.stderr.write(scrub(f"thread {name}: " + "".join(traceback.format_exception(told.exc_type, raised, told.exc_traceback))))

    sys.excepthook, threading.excepthook = ended, thread_ended

    def undo() -> None:
        logging.setLogRecordFactory(before[0])
        sys.excepthook, threading.excepthook = before[1], before[2]

    return undo
