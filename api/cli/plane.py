"""The plane of a slot in characters: valid time across, transaction time down. No colour: letters stand for values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from api.cli import rendering
from ontology.instant import UNBOUNDED_FUTURE, UNBOUNDED_PAST, Instant, format_instant

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
OTHERS, NOTHING = "#", "."
LEAST = 3
"""Characters that a span of valid time takes at least."""
EDGE = 4
"""Characters of an unbounded end."""
_LABELS = 4
"""Lines of dates above a plane at most."""


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A value of a slot, when it holds and when that was believed: microseconds, half-open. Not `affirmed`: it was denied."""

    value: str
    affirmed: bool
    start: Instant
    end: Instant
    since: Instant
    until: Instant


def plane(rectangles: Sequence[Rectangle], width: int) -> Iterator[str]:
    """Lines of at most `width` characters: a row for each transaction that changed the slot, then what the letters mean.

    Valid time is to scale between its first and last boundary, where that leaves every span enough room; `<` and `>` mark unbounded
    ends. What does not fit beside each other stands in parts below each other.
    """
    letters = _letters(rectangles)
    bounds = sorted({bound for r in rectangles for bound in (r.start, r.end)} - {UNBOUNDED_PAST, UNBOUNDED_FUTURE})
    edges = [UNBOUNDED_PAST, *bounds, UNBOUNDED_FUTURE]
    rows = sorted({at for r in rectangles for at in (r.since, r.until)} - {UNBOUNDED_FUTURE})
    names = _shortened(rows)
    margin = max(len("recorded"), *(len(name) for name in names)) + 2
    spans = list(pairwise(edges))
    for number, part in enumerate(_parts(spans, width - margin)):
        if number:
            yield ""
        widths = _widths(part, width - margin)
        yield from _dates(part, widths, margin, width)
        yield "recorded".ljust(margin) + "".join(_ruler(span, room) for span, room in zip(part, widths, strict=True))
        for name, at in zip(names, rows, strict=True):
            cells = (_cell(_held(rectangles, span, at), letters, room) for span, room in zip(part, widths, strict=True))
            yield name.ljust(margin) + "".join(cells)
    yield ""
    yield from _legend(rectangles, letters, width)


def _letters(rectangles: Sequence[Rectangle]) -> dict[str, str]:
    """A letter for each value, in the order in which they first hold."""
    values = dict.fromkeys(r.value for r in sorted(rectangles, key=lambda each: (each.start, each.since, each.value)))
    return {value: LETTERS[place] if place < len(LETTERS) else OTHERS for place, value in enumerate(values)}


def _held(rectangles: Sequence[Rectangle], span: tuple[Instant, Instant], at: Instant) -> list[Rectangle]:
    """What was believed of a span as of a transaction."""
    return [r for r in rectangles if r.since <= at < r.until and r.start <= span[0] and span[1] <= r.end]


def _cell(held: Sequence[Rectangle], letters: dict[str, str], room: int) -> str:
    """Values take turns in a span; a small letter is what is denied where nothing holds."""
    found = dict.fromkeys(letters[r.value] for r in held if r.affirmed) or dict.fromkeys(letters[r.value].lower() for r in held)
    marks = "".join(sorted(found)) or NOTHING
    return (marks * room)[:room] if len(marks) <= room else marks[: room - 1] + OTHERS


def _ruler(span: tuple[Instant, Instant], room: int) -> str:
    """A tick where a span begins."""
    first, last = "<" if span[0] == UNBOUNDED_PAST else "|", ">" if span[1] == UNBOUNDED_FUTURE else "-"
    return first + "-" * (room - 2) + last


def _parts(spans: Sequence[tuple[Instant, Instant]], room: int) -> Iterator[list[tuple[Instant, Instant]]]:
    """As many spans as fit beside each other, each with the least that it takes."""
    part: list[tuple[Instant, Instant]] = []
    for span in spans:
        if part and sum(map(_least, [*part, span])) > room:
            yield part
            part = []
        part.append(span)
    if part:
        yield part


def _bounded(span: tuple[Instant, Instant]) -> bool:
    return span[0] != UNBOUNDED_PAST and span[1] != UNBOUNDED_FUTURE


def _least(span: tuple[Instant, Instant]) -> int:
    return LEAST if _bounded(span) else EDGE


def _widths(part: Sequence[tuple[Instant, Instant]], room: int) -> list[int]:
    """Each span gets its least; what is left goes to the bounded ones by their length, whole characters, the largest rests first."""
    lengths = [span[1] - span[0] if _bounded(span) else 0 for span in part]
    total, found = sum(lengths), [_least(span) for span in part]
    spare = room - sum(found)
    if total == 0:
        return found
    # Exact integers: lengths of centuries in microseconds exceed what a float keeps.
    wanted = [max(0, room * length // total - least) for length, least in zip(lengths, found, strict=True)]
    scale = max(1, sum(wanted))
    return [least + spare * want // scale for least, want in zip(found, wanted, strict=True)]


def _dates(part: Sequence[tuple[Instant, Instant]], widths: Sequence[int], margin: int, width: int) -> list[str]:
    """The dates of the ticks above them, staggered over a few lines; where these do not do, the last date of a line is left out.

    A long one that would end beyond the line begins before its tick, in the margin where it must.
    """
    ticks, at = [], margin
    for span, room in zip(part, widths, strict=True):
        if span[0] != UNBOUNDED_PAST:
            ticks.append((at, span[0]))
        at += room
    names = _shortened([instant for _, instant in ticks])
    lines: list[str] = []
    for (at, _), name in zip(ticks, names, strict=True):
        place = min(at, width - len(name))
        for number, line in enumerate(lines):
            if len(line) < place:
                lines[number] = line.ljust(place) + name
                break
        else:
            if len(lines) < _LABELS:
                lines.append(" " * place + name)
    return lines


def _shortened(instants: Sequence[Instant]) -> list[str]:
    """Times with as much as keeps them apart: days, minutes, seconds, or all."""
    texts = [format_instant(instant) for instant in instants]
    plain = all(len(text) >= len("2020-01-01T00:00:00Z") and text[4] == "-" for text in texts)
    for length, rest in ((10, ""), (16, ""), (19, "")):
        found = [text[:length].replace("T", " ") + rest for text in texts]
        if plain and len(set(found)) == len(texts):
            return found
    return texts


def _legend(rectangles: Sequence[Rectangle], letters: dict[str, str], width: int) -> Iterator[str]:
    for value, letter in letters.items():
        if letter != OTHERS:
            yield rendering.cut(f"  {letter}  {rendering.printable(value)}", width)
    if OTHERS in letters.values():
        yield f"  {OTHERS}  {sum(letter == OTHERS for letter in letters.values())} more values"
    notes = [f"{NOTHING} nothing known", "< > unbounded"]
    notes += ["small letters: denied"] if any(not r.affirmed for r in rectangles) else []
    together = "  " + "   ".join(notes)
    yield from [together] if len(together) <= width else (f"  {note}" for note in notes)
