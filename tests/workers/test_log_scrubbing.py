"""Whatever a process logs, by whatever logger, and whatever ends it, holds no secret."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Iterator
from io import StringIO

import pytest

from extraction.scrubbing import Scrubber
from workers.log_scrubbing import ScrubbingFilter, install

TOKEN = "gh" + "p_" + "aB3dE5gH7j" * 4
_SCRUBBER = Scrubber(b"key")


def scrub(text: str) -> str:
    return _SCRUBBER.scrub(text).text


@pytest.fixture
def log() -> Iterator[tuple[logging.Logger, StringIO]]:
    """A logger with a handler of its own, made before scrubbing is installed."""
    logger, written = logging.getLogger("tests.log_scrubbing"), StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
    logger.addHandler(handler)
    logger.propagate = False
    undo = install(scrub)
    yield logger, written
    undo()
    logger.removeHandler(handler)


def test_messages_arguments_exceptions_and_stacks_are_scrubbed(log: tuple[logging.Logger, StringIO]) -> None:
    logger, written = log
    logger.warning("the token is %s", TOKEN)
    logger.warning(f"in the message: {TOKEN}")
    logger.warning("%(token)s by name", {"token": TOKEN})
    logger.warning("the password is %s", "hunter2")
    logger.warning("in an object: %s", {"password": "hunter2"})
    try:
        raise ValueError(f"{TOKEN} is no time") from KeyError(TOKEN)
    except ValueError:
        logger.exception("it failed")
    logger.warning("with a stack", stack_info=True)
    text = written.getvalue()
    assert TOKEN not in text
    assert "hunter2" not in text
    assert text.count("[REDACTED:github-token:") == 5
    assert text.count("[REDACTED:") == 7
    assert "ValueError: [REDACTED:github-token:" in text
    assert "Stack (most recent call last)" in text


def test_what_holds_no_secret_is_logged_as_it_is(log: tuple[logging.Logger, StringIO]) -> None:
    logger, written = log
    arguments = ("127.0.0.1:5000", "GET", "/livez", "1.1", 200)
    record = logger.makeRecord(logger.name, logging.INFO, "x", 1, '%s - "%s %s HTTP/%s" %d', arguments, None)
    assert record.args == arguments
    logger.warning("%d of %d", 1, 2)
    assert written.getvalue() == "WARNING 1 of 2\n"


def test_arguments_that_formatters_read_keep_their_places(log: tuple[logging.Logger, StringIO]) -> None:
    logger, _ = log
    arguments = ("127.0.0.1:5000", "GET", f"/graphql?token={TOKEN}", "1.1", 200)
    record = logger.makeRecord(logger.name, logging.INFO, "x", 1, '%s - "%s %s HTTP/%s" %d', arguments, None)
    assert isinstance(record.args, tuple)
    assert (len(record.args), record.args[0], record.args[4]) == (5, "127.0.0.1:5000", 200)
    assert TOKEN not in record.getMessage()


def test_arguments_that_do_not_fit_are_shown_without_secrets(log: tuple[logging.Logger, StringIO]) -> None:
    log[0].warning("%d tokens", TOKEN)
    log[0].warning("%s and %s", TOKEN)
    log[0].warning("%(name)s", {"other": TOKEN})
    assert log[1].getvalue().count("(with arguments that do not fit: ") == 3
    assert TOKEN not in log[1].getvalue()


def test_what_ends_a_thread_or_the_process_is_scrubbed(log: tuple[logging.Logger, StringIO], capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        raise ValueError(f"cannot read {TOKEN}")

    thread = threading.Thread(target=fail, name="reader")
    thread.start()
    thread.join()
    try:
        fail()
    except ValueError as failure:
        sys.excepthook(ValueError, failure, failure.__traceback__)
    shown = capsys.readouterr().err
    assert TOKEN not in shown
    assert shown.count("ValueError: cannot read [REDACTED:github-token:") == 2
    assert "thread reader: Traceback" in shown


def test_a_second_installation_takes_the_place_of_the_first_and_each_can_be_undone() -> None:
    before = (logging.getLogRecordFactory(), sys.excepthook, threading.excepthook)
    first = install(lambda text: text.replace("a", "b"))
    second = install(lambda text: text.replace("a", "c"))
    assert (
        logging.makeLogRecord({"msg": "a"}).getMessage() == "c" or logging.getLogRecordFactory()("n", 1, "p", 1, "a", (), None).msg == "c"
    )
    second()
    assert logging.getLogRecordFactory()("n", 1, "p", 1, "a", (), None).msg == "b"
    first()
    assert (logging.getLogRecordFactory(), sys.excepthook, threading.excepthook) == before


def test_a_handler_can_be_scrubbed_alone() -> None:
    record = logging.LogRecord("n", logging.INFO, "p", 1, "the token is %s", (TOKEN,), None)
    assert ScrubbingFilter(scrub).filter(record)
    assert TOKEN not in record.getMessage()
