"""Overlays of the vocabulary as text: what to declare, and what one changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import yaml

from api.cli.rendering import shortened
from ontology.vocabulary import Predicate, Vocabulary


def overlay_lines(rows: Sequence[Mapping[str, Any]], least: int) -> Iterator[str]:
    """Undeclared predicates as YAML that loads as an overlay; what was counted and said stands in comments."""
    if not rows:
        yield f"# no undeclared predicate has {least} claims or more"
        yield "predicates: {}"
        return
    yield "# Undeclared predicates, most used first. Keep what you know better; docs: CONTRIBUTING.md, 'Adding a predicate'."
    yield "predicates:"
    for row in rows:
        yield f"  # {row['claims']} claims on {row['subjects']} subjects; {_several(row)}"
        yield from (f'  #   "{shortened(example, 120)}"' for example in row["examples"])
        yield f"  {_key(row['name'])}:"
        yield f"    cardinality: {row['cardinality'].lower()}"
        yield f"    temporal: {row['temporal'].lower()}"


def _several(row: Mapping[str, Any]) -> str:
    if row["several"] == 0:
        return "none has two values at a time, so it may be 'cardinality: one'"
    return f"{row['several']} of them with several values at a time"


def _key(name: str) -> str:
    """The name as a YAML key: quoted where YAML would read it as something else (`on`, `no`)."""
    return name if yaml.safe_load(f"{name}: 1") == {name: 1} else f'"{name}"'


def differing(before: Vocabulary, after: Vocabulary) -> list[str]:
    """The predicates that are new, gone or other, in words; patterns and descriptions do not count."""

    def bare(predicate: Predicate) -> Predicate:
        return replace(predicate, patterns=(), description=None)

    found = []
    for name in sorted(before.predicates.keys() | after.predicates.keys()):
        if name not in before.predicates:
            found.append(f"declared: {name}")
        elif name not in after.predicates:
            found.append(f"no longer declared: {name}")
        elif bare(before.predicate(name)) != bare(after.predicate(name)):
            found.append(f"changed: {name}")
    return found
