"""Tables for people: as wide as what they hold, so that a pipe gets the same as a terminal."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from api.cli import rendering
from api.cli.rendering import Node

WIDTH = 400
ARMS = ("VECTOR", "BM25", "PAGERANK")
_WORDS = 96
PROGRESS = ("accepted", "committed", "empty", "deduplicated", "quarantined", "failed", "pending")


def hits(edges: Sequence[Node]) -> list[str]:
    """What recall found: the joined score, the hit with the words that say so, and what each arm says: its score (and rank)."""
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    shown = [arm for arm in ARMS if any(said["arm"] == arm for edge in edges for said in edge["arms"])]
    for name in ("score", "what", "when", *(arm.lower() for arm in shown)):
        table.add_column(name, no_wrap=True)
    via = any(edge["path"] for edge in edges)
    if via:
        table.add_column("path", no_wrap=True)
    for edge in edges:
        arms = {said["arm"]: f"{said['score']:.3f} ({said['rank']})" for said in edge["arms"]}
        what, when = _episode(edge["node"]) if edge["node"]["__typename"] == "Episode" else _statement(edge["node"])
        path = [" > ".join(map(rendering.printable, edge["path"]))] if via else []
        table.add_row(*map(Text, [f"{edge['score']:.3f}", what, when, *(arms.get(arm, "") for arm in shown), *path]))
    return lines(table)


def _statement(node: Node) -> tuple[str, str]:
    denied = "" if node["polarity"] else "NOT "
    told = f"{rendering.named(node['subject'])} | {denied}{rendering.predicate(node)} | {rendering.value(node)}"
    words = rendering.shortened(node["text"], _WORDS)
    return f'{rendering.shortened(told, _WORDS)}\n  "{words}"', rendering.period(node) + rendering.marks(node)


def _episode(node: Node) -> tuple[str, str]:
    who = rendering.printable(node["speaker"] or node["source"])
    return f'{who}, {node["group"] or node["source"]}\n  "{rendering.shortened(node["content"] or "", _WORDS)}"', f"said {node['saidAt']}"


def jobs(nodes: Sequence[Node]) -> list[str]:
    """Jobs with what became of their episodes."""
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    for name in ("job", "state", "created"):
        table.add_column(name, no_wrap=True)
    for name in ("accepted", "committed", "empty", "known", "held back", "failed", "waiting"):
        table.add_column(name, no_wrap=True, justify="right")
    for node in nodes:
        numbers = (f"{node['progress'][name]:,}" for name in PROGRESS)
        table.add_row(*map(Text, [node["key"], node["state"], node["createdAt"][:19] + "Z", *numbers]))
    return lines(table)


def held_back(nodes: Sequence[Node]) -> list[str]:
    """Episodes that are held back: their flags, where they are from, and their first words with all that is not seen made visible."""
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    for name in ("episode", "flags", "source", "said"):
        table.add_column(name, no_wrap=True)
    for node in nodes:
        source = " ".join(str(node[name]) for name in ("source", "externalId") if node[name])
        words = rendering.cut(rendering.escaped(node["content"] or ""), _WORDS)
        flags = rendering.escaped(", ".join(node["flags"]))
        table.add_row(*map(Text, [f"{node['key']}\n  {words}", flags, rendering.cut(rendering.escaped(source), 60), node["saidAt"]]))
    return lines(table)


def lines(table: Table) -> list[str]:
    """A table as lines of text."""
    file = io.StringIO()
    Console(file=file, width=WIDTH, color_system=None, highlight=False, legacy_windows=False).print(table)
    return _stripped(file.getvalue().splitlines())


def _stripped(lines: Iterable[str]) -> list[str]:
    return [f"  {line.rstrip()}" for line in lines]
