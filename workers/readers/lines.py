"""Lines of large files: split on the byte \\n alone, bounded in memory, without the images inside them."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from workers.readers.report import ReadReport, Rejected

MAX_LINE = 32 * 2**20
"""Longest line that is read, in bytes."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_CHUNK = 2**20
_LONG = 8192
_STRUCTURE = re.compile(rb'["\[\]{},]')
_STRING = re.compile(rb'["\\]')

# Both begin at a fixed text and go on over characters that it does not hold, so a line is passed over once.
_IMAGE = re.compile(rb'("(?:data|base64|b64_json|bytes|blob|image_data|signature)"\s*:\s*")[A-Za-z0-9+/=_-]{1024,}"')
_DATA_URL = re.compile(rb";base64,[A-Za-z0-9+/=_-]{256,}")


@dataclass(frozen=True, slots=True)
class Line:
    """A line without its end, or an item of an array. `number` is the line on which it begins, `place` the how-manieth it
    is (both from 1); `data` is None where it was longer than MAX_LINE."""

    number: int
    place: int
    data: bytes | None


@dataclass(frozen=True, slots=True)
class Record:
    """A JSON object of a file, where it begins and the how-manieth it is."""

    line: int
    place: int
    value: dict[str, Any]


def split_lines(file: BinaryIO, limit: int = MAX_LINE) -> Iterator[Line]:
    """The lines of a file, at most `limit` bytes of one in memory.

    Only \\n ends a line: U+2028, U+2029, U+0085 and a lone \\r may stand inside a JSON string.
    """
    number, parts, size = 1, [], 0
    while chunk := file.read(_CHUNK):
        at = 0
        while (end := chunk.find(b"\n", at)) >= 0:
            size += end - at
            if size <= limit:
                parts.append(chunk[at:end])
            yield Line(number, number, b"".join(parts) if size <= limit else None)
            number, parts, size, at = number + 1, [], 0, end + 1
        size += len(chunk) - at
        if size <= limit:
            parts.append(chunk[at:])
        else:
            parts = []
    if size:
        yield Line(number, number, b"".join(parts) if size <= limit else None)


def without_images(data: bytes, mended: Counter[str]) -> bytes:
    """`data` with the base64 of images and files cut out, before anything is parsed; each is counted."""
    if len(data) < _LONG:
        return data
    data, found = _IMAGE.subn(rb'\1"', data)
    data, more = _DATA_URL.subn(b";base64,", data)
    if found + more:
        mended["base64 cut out"] += found + more
    return data


def decoded(data: bytes, report: ReadReport) -> str:
    """`data` as text, without images and NUL bytes, U+FFFD for what is no UTF-8."""
    data = without_images(data, report.mended)
    if b"\0" in data:
        # A write torn by a crash leaves runs of NUL; JSON holds none outside its escapes.
        data = data.replace(b"\0", b"")
        report.mended["NUL bytes"] += 1
    try:
        return data.decode()
    except UnicodeDecodeError:
        report.mended["invalid UTF-8"] += 1
        return data.decode(errors="replace")


def split_items(file: BinaryIO, limit: int = MAX_LINE) -> Iterator[Line]:
    """The items of the array that a file consists of, at most `limit` bytes of one in memory, each as the bytes of its JSON.

    A scan for brackets and quotes alone: an item that is no JSON costs no other one, and depth costs nothing. In an array
    that was cut off the last item is what there is of it.
    """
    number, place, depth, inside, escaped = 1, 1, 0, False, False
    parts: list[bytes] = []
    size, began = 0, 0

    def keep(piece: bytes) -> None:
        nonlocal size, number, began
        if not began and piece.strip():
            began = number + piece[: len(piece) - len(piece.lstrip())].count(b"\n")
        number += piece.count(b"\n")
        size += len(piece)
        if size <= limit:
            parts.append(piece)
        else:
            parts.clear()

    def taken() -> Line:
        nonlocal size, began, place
        line = Line(began or number, place, b"".join(parts).strip() if size <= limit else None)
        parts.clear()
        size, began, place = 0, 0, place + 1
        return line

    while chunk := file.read(_CHUNK):
        at = start = 0
        while at < len(chunk):
            if escaped:
                at, escaped = at + 1, False
                continue
            match = (_STRING if inside else _STRUCTURE).search(chunk, at)
            if match is None:
                break
            mark, at = match.group(), match.end()
            if inside:
                inside, escaped = mark != b'"', mark == b"\\"
            elif mark == b'"':
                inside = True
            elif mark in b"[{":
                depth += 1
                if depth == 1:
                    number += chunk[start:at].count(b"\n")
                    start = at
            elif mark == b"," and depth == 1:
                keep(chunk[start : at - 1])
                yield taken()
                start = at
            elif mark in b"]}":
                depth -= 1
                if depth <= 0:
                    keep(chunk[start : at - 1])
                    if place > 1 or began:
                        yield taken()
                    return
        if depth:
            keep(chunk[start:])
        else:
            number += chunk.count(b"\n")
    if began:
        yield taken()


def read_objects(lines: Iterable[Line], name: str, report: ReadReport) -> Iterator[Record | Rejected]:
    """Every line or item that holds a JSON object, and what is wrong with the others.

    `name` is the file's, for the refusals. Empty lines at the end of a file are none.
    """
    empty: list[int] = []
    for line in lines:
        if line.data is None:
            yield Rejected(name, line.number, "too-long", f"the line is longer than {MAX_LINE // 2**20} MB")
            continue
        text = decoded(line.data.removeprefix(BYTE_ORDER_MARK) if line.number == 1 else line.data, report)
        if not text.strip():
            empty.append(line.number)
            if len(empty) < 1000:
                continue
        yield from (Rejected(name, number, "empty-line", "the line is empty") for number in empty)
        empty.clear()
        if not text.strip():
            continue
        value = parsed(text)
        if isinstance(value, dict):
            yield Record(line.number, line.place, value)
        elif isinstance(value, JsonFailure):
            yield Rejected(name, line.number, "json", value.message)
        else:
            yield Rejected(name, line.number, "not-an-object", f"this is no JSON object but {_kind(value)}")


@dataclass(frozen=True, slots=True)
class JsonFailure:
    """Why a text is no JSON, without quoting it."""

    message: str


def parsed(text: str) -> Any:
    """The JSON value, or a JsonFailure."""
    try:
        return json.loads(text, strict=False)
    except RecursionError:
        return JsonFailure("this is nested too deeply")
    except ValueError as failure:
        return JsonFailure(f"this is no complete JSON ({getattr(failure, 'msg', 'a number is too long')})")


def _kind(value: Any) -> str:
    return {list: "an array", str: "a string", bool: "a boolean", type(None): "null"}.get(type(value), "a number")
