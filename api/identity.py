"""Opaque IDs: what an `id` names. Under an explicit `asOf` it names the basis too, so that client caches never mix two times."""

from __future__ import annotations

import binascii
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ontology.errors import NotFound
from ontology.instant import UNBOUNDED_FUTURE, UNBOUNDED_PAST, Instant


class Kind(StrEnum):
    """What an ID names."""

    ENTITY = "entity"
    EPISODE = "episode"
    STATEMENT = "statement"
    CLAIM = "claim"
    JOB = "job"


_written = json.JSONEncoder(separators=(",", ":")).encode
_KINDS = frozenset(kind.value for kind in Kind)


@dataclass(frozen=True, slots=True)
class Pin:
    """A basis as resolved: world time, last transaction, said-time limit (None: none)."""

    valid_at: Instant
    transaction: int
    evidence_until: Instant | None


@dataclass(frozen=True, slots=True)
class ObjectId:
    """An ID taken apart. `v_from` and `swapped` are a statement's, `subject` (a key) and `predicate` a claim's, by which it is found.

    `closed`: a statement that the transaction of its basis closed, beside which one of the same beginning may have been opened.

    `pin` is None where the ID is read at the present.
    """

    kind: Kind
    key: str
    v_from: Instant = 0
    swapped: bool = False
    pin: Pin | None = None
    subject: str = ""
    predicate: str = ""
    closed: bool = False


def pack(parts: list[Any]) -> str:
    """JSON values as an opaque text (base64url without padding)."""
    return urlsafe_b64encode(_written(parts).encode()).rstrip(b"=").decode()


def unpack(text: str) -> list[Any] | None:
    """The inverse of `pack`; None for anything that it does not write."""
    try:
        parts = json.loads(urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except (ValueError, binascii.Error, RecursionError):
        return None
    return parts if isinstance(parts, list) else None


def is_instant(value: Any) -> bool:
    """Whether a JSON value is an int64."""
    return type(value) is int and UNBOUNDED_PAST <= value <= UNBOUNDED_FUTURE


def read_pin(parts: list[Any]) -> Pin | None:
    """A basis from three JSON values; None where they are none."""
    if len(parts) != 3:
        return None
    valid_at, transaction, until = parts
    if not (is_instant(valid_at) and is_instant(transaction) and transaction >= 0 and (until is None or is_instant(until))):
        return None
    return Pin(valid_at, transaction, until)


def encode_id(id: ObjectId) -> str:
    """The opaque ID."""
    parts: list[Any] = [id.kind.value, id.key]
    if id.kind is Kind.STATEMENT:
        parts += [id.v_from, int(id.swapped) + 2 * int(id.closed)]
    elif id.kind is Kind.CLAIM:
        parts += [id.subject, id.predicate]
    if id.pin is not None:
        parts += [id.pin.valid_at, id.pin.transaction, id.pin.evidence_until]
    return pack(parts)


def decode_id(text: str) -> ObjectId | None:
    """What an ID names; None for a text that is none of ours."""
    parts = unpack(text)
    if parts is None or len(parts) < 2 or not isinstance(parts[0], str) or parts[0] not in _KINDS or not isinstance(parts[1], str):
        return None
    kind, key, rest = Kind(parts[0]), parts[1], parts[2:]
    v_from, swapped, closed, subject, predicate = 0, False, False, "", ""
    if kind is Kind.STATEMENT:
        if len(rest) < 2 or not is_instant(rest[0]) or rest[1] not in (0, 1, 2, 3):
            return None
        v_from, swapped, closed, rest = rest[0], bool(rest[1] % 2), rest[1] > 1, rest[2:]
    elif kind is Kind.CLAIM:
        if len(rest) < 2 or not isinstance(rest[0], str) or not isinstance(rest[1], str):
            return None
        subject, predicate, rest = rest[0], rest[1], rest[2:]
    pin = read_pin(rest) if rest else None
    return ObjectId(kind, key, v_from, swapped, pin, subject, predicate, closed) if pin or not rest else None


def key_in(text: str) -> str:
    """The key that a key or ID gives; of an ID only the key is used."""
    id = decode_id(text)
    return id.key if id else text


def key_of(text: str, kind: Kind) -> str:
    """The same for an argument that names things of one kind. Raises NotFound for an ID of another."""
    id = decode_id(text)
    if id is not None and id.kind is not kind:
        raise NotFound(f"this ID names no {kind.value}", id=text)
    return id.key if id else text
