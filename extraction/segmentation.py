"""Which parts of a message a person said: prose without code, logs, traces, diffs, tables, quotes and client scaffolding.

A line automaton over the text, linear in its length. Offsets are those of the text as given.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from extraction import machine_text as machine
from extraction.scaffolding import blanked, scaffolding, without

_FENCE = re.compile(r"(?P<mark>`{3,}|~{3,})(?P<info>.*)")
_ITEM = re.compile(r"(?:[-*+•‣▪●○–]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_HEADING = re.compile(r"#{1,6}[ \t]+")
_FRONT_MATTER_KEY = re.compile(r"[\w.-]{1,60}[ \t]*:|[ \t]+\S|- |#|$")
_KEY = re.compile(r"\w[\w /-]{0,30}: ")
_DATED = re.compile(r"\d{4}-\d\d-\d\d\b")
_SUMMARY = "This session is being continued from a previous conversation"
_CODE_INDENT = 4
_WRAPPED = 50
"""A line this long is taken for hard-wrapped: the next one goes on with its sentence. After a shorter one a capital starts anew."""


@dataclass(slots=True)
class _Line:
    start: int
    """Offset of the first visible character."""
    body: str
    """The line without outer spaces."""
    indent: int
    """Columns before the first visible character."""

    @property
    def end(self) -> int:
        return self.start + len(self.body)


def _lines(text: str) -> list[_Line]:
    lines, at = [], 0
    for raw in text.split("\n"):
        visible = raw.replace("\0", " ")
        body = visible.strip()
        lead = len(visible) - len(visible.lstrip()) if body else 0
        lines.append(_Line(at + lead, body, len(raw[:lead].replace("\0", "").expandtabs(4))))
        at += len(raw) + 1
    common = min((line.indent for line in lines if line.body), default=0)
    for line in lines:
        line.indent = max(0, line.indent - common)
    return lines


def _after_front_matter(lines: list[_Line]) -> int:
    """Index of the first line after a leading `---` block of keys; 0 where there is none."""
    if lines[0].body != "---":
        return 0
    for place in range(1, len(lines)):
        if lines[place].body in ("---", "..."):
            return place + 1
        if not _FRONT_MATTER_KEY.match(" " * lines[place].indent + lines[place].body):
            return 0
    return 0


def _spoken(lines: list[_Line], at: int) -> Iterator[tuple[_Line, bool]]:
    """The lines that are speech, each with whether something stands between it and the one before."""
    broken, in_list, after_blank, in_trace, in_output = True, False, True, False, False
    while at < len(lines):
        line = lines[at]
        body = line.body
        if not body:
            broken = after_blank = True
            in_output = False
            at += 1
            continue
        fence = _FENCE.match(body)
        if fence and "`" not in fence["info"]:
            at = _after_fence(lines, at, fence["mark"])
        elif hunk := machine.HUNK.match(body):
            at = _after_hunk(lines, at, int(hunk["old"] or 1), int(hunk["new"] or 1))
        elif in_trace and line.indent > 0:
            at += 1
            broken = True
            continue
        elif _is_machine(lines, at) or in_output:
            in_output = in_output or machine.is_prompt(body)
            in_trace = machine.is_trace_head(body)
            at += 1
            broken, after_blank = True, False
            continue
        elif line.indent >= _CODE_INDENT and after_blank and not in_list:
            at = _after_indented(lines, at)
        else:
            item = _ITEM.match(body)
            in_list = bool(item) or (in_list and (line.indent > 0 or not after_blank))
            yield line, broken or bool(item)
            broken = after_blank = in_trace = False
            at += 1
            continue
        broken, after_blank, in_trace, in_output = True, False, False, False


def _is_machine(lines: list[_Line], at: int) -> bool:
    body = lines[at].body
    if body[0] == ">" or machine.is_prompt(body) or machine.is_machine_line(body) or machine.is_diff_head(body):
        return True
    before = lines[at - 1].body if at else ""
    after = lines[at + 1].body if at + 1 < len(lines) else ""
    if machine.STAMPED.match(body) and (machine.STAMPED.match(before) or machine.STAMPED.match(after)):
        return True
    if machine.is_table_row(body) or machine.is_table_rule(body):
        return True
    return "|" in body and (machine.is_table_rule(after) or machine.is_table_rule(before) or before.count("|") == body.count("|") > 1)


def _after_fence(lines: list[_Line], at: int, mark: str) -> int:
    """Index after the fenced block; one that is not closed goes on to the end of the text."""
    for place in range(at + 1, len(lines)):
        body = lines[place].body
        if len(body) >= len(mark) and not body.strip(mark[0]):
            return place + 1
    return len(lines)


def _after_hunk(lines: list[_Line], at: int, old: int, new: int) -> int:
    """Index after a diff's hunk, by the counts in its head, or where a line cannot belong to it."""
    at += 1
    while at < len(lines) and (old > 0 or new > 0):
        line = lines[at]
        sign = line.body[:1] if line.indent == 0 else " "
        if sign not in ("", " ", "+", "-", "\\"):
            break
        old -= sign in ("", " ", "-")
        new -= sign in ("", " ", "+")
        at += 1
    return at


def _after_indented(lines: list[_Line], at: int) -> int:
    while at < len(lines) and lines[at].body and lines[at].indent >= _CODE_INDENT:
        at += 1
    return at


def _starts_anew(before: _Line, line: _Line) -> bool:
    if _DATED.match(line.body) or (_KEY.match(line.body) and _KEY.match(before.body)):
        return True
    return (line.body[0].isupper() and len(before.body) < _WRAPPED) or bool(_HEADING.match(before.body))


def speech_spans(text: str) -> list[tuple[int, int]]:
    """The `[start, end)` spans of `text` that a person said, in order, disjoint, each a paragraph, list item or heading.

    A span holds whole sentences (a hard-wrapped paragraph is one span, its list or heading mark outside it) and at least
    one letter or digit. Fenced and indented code, command lines with their output, diffs, logs, stack traces, tables,
    block quotes, front matter and scaffolding elements are left out; URLs and inline code stay. A summary that a client
    wrote in place of a conversation has no spans.
    """
    if text.lstrip().startswith(_SUMMARY):
        return []
    regions = scaffolding(text)
    lines = _lines(blanked(text, regions))
    spans: list[tuple[int, int]] = []
    last: _Line | None = None
    for line, broken in _spoken(lines, _after_front_matter(lines)):
        mark = _HEADING.match(line.body) or _ITEM.match(line.body)
        if last is None or broken or mark or _starts_anew(last, line):
            spans.append((line.start + (mark.end() if mark else 0), line.end))
        else:
            spans[-1] = (spans[-1][0], line.end)
        last = line
    result, first = [], 0
    for span in spans:
        pieces, first = without(span, regions, first)
        for start, end in pieces:
            piece = text[start:end]
            start += len(piece) - len(piece.lstrip())
            end -= len(piece) - len(piece.rstrip())
            if any(character.isalnum() for character in text[start:end]):
                result.append((start, end))
    return result
