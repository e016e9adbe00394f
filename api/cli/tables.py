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
    return _lines(table)


def _statement(node: Node) -> tuple[str, str]:
    denied = "" if node["polarity"] else "NOT "
    told = f"{rendering.named(node['subject'])} | {denied}{rendering.predicate(node)} | {rendering.value(node)}"
    words = rendering.shortened(node["text"], _WORDS)
    return f'{rendering.shortened(told, _WORDS)}\n  "{words}"', rendering.period(node) + rendering.marks(node)


def _episode(node: Node) -> tuple[str, str]:
    who = rendering.printable(node["speaker"] or node["source"])
    return f'{who}, {node["group"] or node["source"]}\n  "{rendering.shortened(node["content"] or "", _WORDS)}"', f"said {node['saidAt']}"


def _lines(table: Table) -> list[str]:
    file = io.StringIO()
    Console(file=file, width=WIDTH, color_system=None, highlight=False, legacy_windows=False).print(table)
    return _stripped(file.getvalue().splitlines())


def _stripped(lines: Iterable[str]) -> list[str]:
    return [f"  {line.rstrip()}" for line in lines]
