"""Who answers the questions of a command: a person at a terminal with single keys, or lines that are piped in."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol, TextIO

END = "\x04"
"""The key that ends input: Ctrl-D."""
_ESCAPE = b"\x1b"


class Answers(Protocol):
    """Asks for one key or one line. Both raise EOFError where the input has ended."""

    def key(self, prompt: str) -> str:
        """One character, lower case."""
        ...

    def line(self, prompt: str, default: str) -> str:
        """A line without outer spaces; `default` where it is empty."""
        ...

    def strong(self, text: str) -> str:
        """The text so that it stands out."""
        ...


def answers() -> Answers:
    """The terminal where standard input is one, else the lines of standard input."""
    return Terminal(sys.stdin) if sys.stdin.isatty() else Piped(sys.stdin)


class Piped:
    """One answer a line; of a key's line the first character counts. What was answered is shown, so that the output reads like a talk."""

    def __init__(self, lines: TextIO) -> None:
        self._lines = lines

    def _next(self, prompt: str) -> str:
        print(prompt, end="", flush=True)
        line = self._lines.readline()
        if not line:
            print()
            raise EOFError
        print(line.strip())
        return line.strip()

    def key(self, prompt: str) -> str:
        """The first character of the next line that has one."""
        while not (line := self._next(prompt)):
            pass
        return line[0].lower()

    def line(self, prompt: str, default: str) -> str:
        """The next line."""
        return self._next(prompt) or default

    def strong(self, text: str) -> str:
        """In brackets."""
        return f"[{text}]"


class Terminal:
    """Single keys without Enter; lines with the terminal's own editing."""

    def __init__(self, lines: TextIO) -> None:
        self._lines = lines
        self._descriptor = lines.fileno()

    def key(self, prompt: str) -> str:
        """One key. What is not one character (an arrow, a function key) is passed over whole."""
        print(prompt, end="", flush=True)
        with self._keys():
            while True:
                pressed = os.read(self._descriptor, 1)
                if pressed == _ESCAPE:
                    self._pass_over()
                    continue
                key = pressed.decode(errors="ignore").lower()
                if key in ("", END):
                    print()
                    raise EOFError
                if key.isprintable() and not key.isspace():
                    print(key)
                    return key

    def line(self, prompt: str, default: str) -> str:
        """One line."""
        print(prompt, end="", flush=True)
        line = self._lines.readline()
        if not line:
            print()
            raise EOFError
        return line.strip() or default

    def strong(self, text: str) -> str:
        """In bold."""
        return f"\x1b[1m{text}\x1b[0m" if sys.stdout.isatty() else f"[{text}]"

    @contextmanager
    def _keys(self) -> Iterator[None]:
        """The terminal hands over each key at once and shows none; Ctrl-C interrupts as always."""
        # There is no termios where there are no terminals of this kind.
        import termios
        import tty

        before = termios.tcgetattr(self._descriptor)
        tty.setcbreak(self._descriptor, termios.TCSADRAIN)
        try:
            yield
        finally:
            termios.tcsetattr(self._descriptor, termios.TCSADRAIN, before)

    def _pass_over(self) -> None:
        """Read the rest of an escape sequence, which comes at once: `[` or `O` and all up to a letter or `~`, else one character."""
        from select import select

        def following() -> bytes:
            return os.read(self._descriptor, 1) if select([self._descriptor], [], [], 0.05)[0] else b""

        if following() in (b"[", b"O"):
            while (part := following()) and not b"@" <= part <= b"~":
                pass
