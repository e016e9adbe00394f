"""Tables of what changed and of what to distrust."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.table import Table
from rich.text import Text

from api.cli import rendering
from api.cli.rendering import Node
from api.cli.tables import lines
from ontology.instant import DAY, parse_instant

_SIGNS = {"ADDED": "+", "REMOVED": "-", "CHANGED": "~", "OPENED": "+", "CLOSED": "-", "IDENTITY": "=", "ERASED": "x"}
_WORDS = 96
_VALUES = 48
"""Characters of values beside others; all that a table says is in `--json`."""


def _table(*names: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    for name in names:
        table.add_column(name, no_wrap=True)
    return table


def _told(node: Node) -> str:
    return rendering.shortened(("" if node["polarity"] else "NOT ") + rendering.value(node), _VALUES)


def _values(nodes: Sequence[Node]) -> str:
    return ", ".join(_told(node) for node in nodes) or "-"


def _triple(node: Node) -> str:
    denied = "" if node["polarity"] else "NOT "
    return rendering.shortened(
        f"{rendering.named(node['subject'])} | {denied}{rendering.predicate(node)} | {rendering.value(node)}", _WORDS
    )


def _words(node: Node) -> list[str]:
    """What a statement rests on."""
    return [line.strip() for line in rendering.sources(node)]


def _with_words(table: Table, words: Sequence[Sequence[str]], margin: int) -> list[str]:
    """The lines of a table with the words that each row rests on below it; in a column they would hold the others apart."""
    head, *rows = lines(table)
    found = [head]
    for row, told in zip(rows, words, strict=True):
        found += [row, *(" " * margin + rendering.shortened(line, _WORDS) for line in dict.fromkeys(told))]
    return found


def differences(nodes: Sequence[Node]) -> list[str]:
    """A row for each difference, with the words that say so: those of what holds after, or those that ended what held before."""
    table = _table("", "what", "before", "after", "because")
    told = []
    for node in nodes:
        words = [line for each in node["after"] for line in _words(each)]
        words = words or [line.strip() for each in node["before"] for line in rendering.ending(each) if '"' in line]
        qualifier = next((each["qualifier"] for each in (*node["after"], *node["before"])), "")
        what = f"{rendering.named(node['subject'])} | {rendering.predicate({**node, 'qualifier': qualifier})}"
        cause = {"WORLD": "the world changed", "BELIEF": "belief changed"}[node["cause"]]
        told.append(words)
        cells = _SIGNS[node["kind"]], rendering.shortened(what, _WORDS), _values(node["before"]), _values(node["after"]), cause
        table.add_row(*map(Text, cells))
    return _with_words(table, told, 8)


def histories(rows: Sequence[Node]) -> list[str]:
    """A row for each rectangle."""
    table = _table("what", "holds", "believed", "ended")
    for row in rows:
        start, end = (rendering.day(row["transactionTime"][side], unbounded=word) for side, word in (("from", "ever"), ("to", "now")))
        what = rendering.shortened(f"{rendering.predicate(row)} | {_told(row)}", _WORDS)
        table.add_row(*map(Text, [what, rendering.period(row), f"{start} .. {end}", rendering.printable(row["ended"])]))
    return lines(table)


def stale(nodes: Sequence[Node], at: str) -> list[str]:
    """A row for each statement that nobody has attested for long, with the days since."""
    table = _table("what", "days", "last attested", "holds since")
    for node in nodes:
        days = (parse_instant(at) - parse_instant(node["lastAttestedAt"])) // DAY
        attested, since = (rendering.day(at, unbounded="ever") for at in (node["lastAttestedAt"], node["validTime"]["from"]))
        table.add_row(*map(Text, [_triple(node), f"{days:,}", attested, since]))
    return _with_words(table, [_words(node) for node in nodes], 4)


def contested(nodes: Sequence[Node]) -> list[str]:
    """A row for each statement that other evidence disagrees with."""
    table = _table("what", "when", "how")
    marks = {"TIED": "disputed: evidence as good says otherwise", "RESOLVED": "others disagree; rank or recency decided"}
    for node in nodes:
        how: str = marks.get(node["conflict"]) or node["conflict"].lower()
        table.add_row(*map(Text, [_triple(node), rendering.period(node), how]))
    return _with_words(table, [_words(node) for node in nodes], 4)


def matches(nodes: Sequence[Node]) -> list[str]:
    """A column for each variable, and the statements of each match below it."""
    variables = list(dict.fromkeys(bound["variable"] for node in nodes for bound in node["bindings"]))
    table = _table(*(f"?{name}" for name in variables), "because")
    for node in nodes:
        bound = {each["variable"]: rendering.shortened(rendering.value({"object": each["value"]}), _VALUES) for each in node["bindings"]}
        because = "\n".join(f"{_triple(each)}   {rendering.period(each)}{rendering.marks(each)}" for each in node["statements"])
        table.add_row(*map(Text, [*(bound.get(name, "") for name in variables), because]))
    return lines(table)


def change(node: Node) -> Iterator[str]:
    """One change of the feed, in one line."""
    stamp = f"{node['at']}  #{node['transaction']}  {_SIGNS[node['kind']]}"
    found = node["statement"]
    if found is not None:
        yield f"{stamp} {_triple(found)}   {rendering.period(found)}"
    else:
        yield f"{stamp} {node['kind'].lower()} {node['key']}"
