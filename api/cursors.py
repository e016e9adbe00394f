"""Keyset cursors: the position after which a page goes on, and the basis that it stands on, so that pages never shift."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

from api.identity import Pin, pack, read_pin, unpack
from ontology.echo import echo
from ontology.errors import InvalidInput

MAX_PAGE = 100


Stand = Pin | tuple[Pin, Pin] | None
"""What a page stands on: a basis, two that are compared, or none (transactions)."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """A position of the facade and the basis of its page; `pin` is None for what has no basis (transactions)."""

    position: tuple[Any, ...]
    pin: Pin | None


@dataclass(frozen=True, slots=True)
class Span:
    """A position among what differs between two bases."""

    position: tuple[Any, ...]
    start: Pin
    end: Pin


def encode_cursor(kind: str, position: Sequence[Any], stand: Stand) -> str:
    """The opaque cursor of a connection of one kind."""
    basis = [_parts(pin) for pin in stand] if isinstance(stand, tuple) else None if stand is None else _parts(stand)
    body = [f"after:{kind}", list(position), basis]
    return pack([*body, _checksum(body)])


def _parts(pin: Pin) -> list[Any]:
    return [pin.valid_at, pin.transaction, pin.evidence_until]


def _checksum(body: list[Any]) -> int:
    # No secret, only care: a cursor that was cut or edited is refused here and not somewhere in the ledger.
    return crc32(repr(body).encode())


def decode_cursor(text: str, kind: str, *, pinned: bool = True) -> Cursor:
    """The cursor, or InvalidInput where it is none, or one of another kind of connection."""
    position, basis = _body(text, kind)
    pin = read_pin(basis) if isinstance(basis, list) else None
    if pinned != (pin is not None):
        raise _refused(text)
    return Cursor(position, pin)


def decode_span(text: str, kind: str) -> Span:
    """The same for what differs between two bases."""
    position, bases = _body(text, kind)
    if not isinstance(bases, list) or len(bases) != 2:
        raise _refused(text)
    start, end = (read_pin(basis) if isinstance(basis, list) else None for basis in bases)
    if start is None or end is None:
        raise _refused(text)
    return Span(position, start, end)


def _body(text: str, kind: str) -> tuple[tuple[Any, ...], Any]:
    """The position and what the page stands on, as they were written."""
    parts = unpack(text)
    if parts is None or len(parts) != 4 or parts[0] != f"after:{kind}" or parts[3] != _checksum(parts[:3]):
        raise _refused(text)
    return tuple(parts[1]), parts[2]


def _refused(text: str) -> InvalidInput:
    return InvalidInput(f"{echo(text, 40)} is no cursor of this connection", path=("after",), reason="INVALID_CURSOR")


def checked_first(first: int | None, default: int, most: int = MAX_PAGE) -> int:
    """The page size, 1 to `most`; null is the default."""
    if first is None:
        return default
    if not 1 <= first <= most:
        raise InvalidInput(f"first is 1 to {most}, not {first}", path=("first",), reason="OUT_OF_RANGE")
    return first
