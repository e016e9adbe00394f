"""Lines and items come whole, whatever the chunks; a bad one costs itself alone."""

from __future__ import annotations

import io
import json
from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from workers.readers import ReadReport, Rejected
from workers.readers.lines import Record, read_objects, split_items, split_lines, without_images


class Trickle(io.BytesIO):
    """A file that gives a few bytes at a time."""

    def __init__(self, data: bytes, step: int) -> None:
        super().__init__(data)
        self._step = step

    def read(self, size: int | None = -1) -> bytes:
        return super().read(self._step)


@given(st.binary(max_size=80), st.integers(1, 9), st.integers(1, 40))
def test_lines_are_those_between_newlines_and_long_ones_are_dropped_alone(data: bytes, step: int, limit: int) -> None:
    expected = data.split(b"\n")
    if not expected[-1]:
        expected.pop()
    found = list(split_lines(Trickle(data, step), limit))
    assert [line.number for line in found] == list(range(1, len(expected) + 1))
    assert [line.data for line in found] == [line if len(line) <= limit else None for line in expected]


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=8)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner, max_size=3)),
    max_leaves=8,
)


@given(st.lists(JSON, max_size=5), st.integers(1, 7), st.sampled_from([None, 1]), st.booleans())
def test_items_are_those_of_the_array(items: list[Any], step: int, indent: int | None, ascii_only: bool) -> None:
    data = json.dumps(items, indent=indent, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    found = list(split_items(Trickle(b"\xef\xbb\xbf \n" + data, step)))
    assert [line.place for line in found] == list(range(1, len(items) + 1))
    if ascii_only:
        assert [json.loads(line.data or b"") for line in found] == items


def test_items_know_their_lines_and_survive_their_neighbours() -> None:
    data = b'[\n  {"a": 1},\n  {"a": oops},\n\n  {"a": "]}\\"[{"}, 5,\n  {"a": 2'
    found = list(read_objects(split_items(io.BytesIO(data)), "f", ReadReport()))
    assert [(item.line, item.value["a"]) for item in found if isinstance(item, Record)] == [(2, 1), (5, ']}"[{')]
    assert [(item.line, item.kind) for item in found if isinstance(item, Rejected)] == [(3, "json"), (5, "not-an-object"), (6, "json")]


def test_an_item_that_is_too_long_is_dropped_alone() -> None:
    data = json.dumps([{"a": 1}, {"a": "x" * 100}, {"a": 2}]).encode()
    assert [line.data is None for line in split_items(io.BytesIO(data), 50)] == [False, True, False]


def test_depth_costs_nothing() -> None:
    found = list(read_objects(split_items(io.BytesIO(b"[" + b"[" * 200_000)), "f", ReadReport()))
    assert [item.kind for item in found if isinstance(item, Rejected)] == ["json"]


def test_images_are_cut_out_before_parsing() -> None:
    mended: Counter[str] = Counter()
    image = b"iVBORw0KGgo" * 2000
    line = b'{"data":"' + image + b'","text":"see data:image/png;base64,' + image + b' there"}'
    assert json.loads(without_images(line, mended)) == {"data": "", "text": "see data:image/png;base64, there"}
    assert mended == {"base64 cut out": 2}
    text = json.dumps({"text": "word " * 4000}).encode()
    assert without_images(text, mended) == text


def test_empty_lines_are_refused_except_at_the_end() -> None:
    found = list(read_objects(split_lines(io.BytesIO(b"{}\n\n \n{}\n\n\n")), "f", ReadReport()))
    assert [(item.line, item.kind) for item in found if isinstance(item, Rejected)] == [(2, "empty-line"), (3, "empty-line")]


def test_a_mark_nul_bytes_and_broken_utf8_are_mended() -> None:
    report = ReadReport()
    data = b'\xef\xbb\xbf{"a": "x"}\n\0\0\0{"a": "\xff\xfey"}\n'
    found = list(read_objects(split_lines(io.BytesIO(data)), "f", report))
    assert [item.value["a"] for item in found if isinstance(item, Record)] == ["x", "\ufffd\ufffdy"]
    assert report.mended == {"NUL bytes": 1, "invalid UTF-8": 1}
