"""The plane of a slot in characters."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from api.cli.plane import LETTERS, NOTHING, OTHERS, Rectangle, plane
from ontology.instant import DAY, UNBOUNDED_FUTURE, UNBOUNDED_PAST, Instant, parse_instant


def at(text: str) -> Instant:
    return parse_instant(f"{text}T00:00:00Z")


def row(value: str, start: Instant, end: Instant, since: str, until: str | None = None, *, affirmed: bool = True) -> Rectangle:
    return Rectangle(value, affirmed, start, end, at(since), UNBOUNDED_FUTURE if until is None else at(until))


MOVED = [
    row("Porto", at("2020-01-01"), UNBOUNDED_FUTURE, "2024-01-01", "2024-02-01"),
    row("Porto", at("2020-01-01"), at("2023-01-01"), "2024-02-01"),
    row("Lisbon", at("2023-01-01"), UNBOUNDED_FUTURE, "2024-02-01"),
]


def test_letters_stand_where_values_were_believed_to_scale() -> None:
    assert list(plane(MOVED, 52)) == [
        "                2020-01-01                2023-01-01",
        "recorded    <---|-------------------------------|-->",
        "2024-01-01  ....AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "2024-02-01  ....AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABBBB",
        "",
        "  A  Porto",
        "  B  Lisbon",
        "  . nothing known   < > unbounded",
    ]


def test_values_take_turns_and_small_letters_are_denied() -> None:
    first, last = at("2020-01-01"), at("2021-01-01")
    tied = [row("Porto", first, last, "2024-01-01"), row("Lisbon", first, last, "2024-01-01")]
    denied = row("Porto", last, UNBOUNDED_FUTURE, "2024-01-01", affirmed=False)
    lines = list(plane([*tied, denied], 60))
    cells = lines[2].split("  ", 1)[1]
    assert "ABAB" in cells or "BABA" in cells
    assert cells.endswith("bbbb") and lines[-1] == "  . nothing known   < > unbounded   small letters: denied"


def test_times_are_as_long_as_keeps_them_apart() -> None:
    second = [
        Rectangle("A", True, at("2020-01-01"), UNBOUNDED_FUTURE, parse_instant(f"2024-01-01T10:00:0{n}Z"), at("2025-01-01")) for n in (1, 2)
    ]
    assert any(line.startswith("2024-01-01 10:00:02") for line in plane(second, 60))
    far = [Rectangle("A", True, parse_instant("Y20000-01-01T00:00:00Z"), UNBOUNDED_FUTURE, at("2024-01-01"), UNBOUNDED_FUTURE)]
    assert any("Y20000-01-01T00:00:00Z" in line for line in plane(far, 60))


def test_times_that_differ_by_microseconds_fit_into_a_narrow_line() -> None:
    start = parse_instant("2024-01-01T10:00:00Z")
    close = [Rectangle(f"v{n}", True, start + n, start + n + 1, start + n, UNBOUNDED_FUTURE) for n in range(3)]
    lines = list(plane(close, 48))
    assert all(len(line) <= 48 for line in lines)
    assert any(line.strip() == "2024-01-01T10:00:00.000003Z" for line in lines)


def test_what_does_not_fit_stands_in_parts() -> None:
    many = [row(f"v{n}", at("2020-01-01") + n * DAY, at("2020-01-01") + (n + 1) * DAY, "2024-01-01") for n in range(40)]
    lines = list(plane(many, 60))
    assert sum(line.startswith("recorded") for line in lines) == 3
    assert max(map(len, lines)) <= 60
    cells = "".join(line[12:] for line in lines if line.startswith("2024-01-01"))
    assert all(letter in cells for letter in LETTERS) and OTHERS in cells
    assert f"  {OTHERS}  {40 - len(LETTERS)} more values" in lines


INSTANTS = st.integers(min_value=at("1990-01-01") // DAY, max_value=at("2030-01-01") // DAY).map(lambda day: day * DAY)


@st.composite
def rectangles(draw: st.DrawFn) -> Rectangle:
    def span(starts: st.SearchStrategy[Instant]) -> tuple[Instant, Instant]:
        start = draw(starts)
        return start, draw(st.one_of(st.just(UNBOUNDED_FUTURE), st.integers(1, 3000).map(lambda days: max(start, 0) + days * DAY)))

    valid = span(st.one_of(st.just(UNBOUNDED_PAST), INSTANTS))
    return Rectangle(draw(st.sampled_from(["Porto", "Lisbon", "Rome"])), draw(st.booleans()), *valid, *span(INSTANTS))


@given(st.lists(rectangles(), min_size=1, max_size=8), st.integers(48, 120))
@settings(max_examples=40)
def test_each_row_tells_every_value_that_was_believed_at_its_transaction(found: list[Rectangle], width: int) -> None:
    lines = list(plane(found, width))
    assert max(map(len, lines)) <= width
    legend = {line[5:]: line[2] for line in lines if line[:2] == "  " and line[3:5] == "  " and line[2] in LETTERS}
    times = sorted({time for each in found for time in (each.since, each.until)} - {UNBOUNDED_FUTURE})
    rulers = [number for number, line in enumerate(lines) if line.startswith("recorded")]
    margin = lines[rulers[0]].index("<") if "<" in lines[rulers[0]] else len("recorded")
    for place, time in enumerate(times):
        cells = "".join(lines[ruler + 1 + place][margin:] for ruler in rulers)
        held = [each for each in found if each.since <= time < each.until]
        shown = set(cells) - {NOTHING}
        assert {letter for letter in shown if letter.isupper()} == {legend[each.value] for each in held if each.affirmed}
        assert {letter.upper() for letter in shown if letter.islower()} <= {legend[each.value] for each in held if not each.affirmed}
