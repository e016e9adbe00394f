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


@dataclass(frozen=True, slots=True)
class Cursor:
    """A position of the facade and the basis of its page; `pin` is None for what has no basis (transactions)."""

    position: tuple[Any, ...]
    pin: Pin | None


def encode_cursor(kind: str, position: Sequence[Any], pin: Pin | None) -> str:
    """The opaque cursor of a connection of one kind."""
    basis = None if pin is None else [pin.valid_at, pin.transaction, pin.evidence_until]
    body = [f"after:{kind}", list(position), basis]
    return pack([*body, _checksum(body)])


def _checksum(body: list[Any]) -> int:
    # No secret, only care: a cursor that was cut or edited is refused here and not somewhere in the ledger.
    return crc32(repr(body).encode())


def decode_cursor(text: str, kind: str, *, pinned: bool = True) -> Cursor:
    """The cursor, or InvalidInput where it is none, or one of another kind of connection."""
    parts = unpack(text)
    refused = InvalidInput(f"{echo(text, 40)} is no cursor of this connection", path=("after",), reason="INVALID_CURSOR")
    if parts is None or len(parts) != 4 or parts[0] != f"after:{kind}" or parts[3] != _checksum(parts[:3]):
        raise refused
    pin = read_pin(parts[2]) if isinstance(parts[2], list) else None
    if pinned != (pin is not None):
        raise refused
    return Cursor(tuple(parts[1]), pin)


def checked_first(first: int | None, default: int, most: int = MAX_PAGE) -> int:
    """The page size, 1 to `most`; null is the default."""
    if first is None:
        return default
    if not 1 <= first <= most:
        raise InvalidInput(f"first is 1 to {most}, not {first}", path=("first",), reason="OUT_OF_RANGE")
    return first
