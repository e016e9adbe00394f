"""What a graph holds now, in a form that is equal for equal content, whatever the order, the process or the ledger it came by.

Episodes, claims, statements and who is one, each sorted by content. Keyed IDs are replaced by what they denote; transaction numbers and
times are left out, and so is what was believed once and is no more.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, Table, create_engine, select

from graph.ledger.schema import OPEN, claims, components, denotations, episodes, statements, things
from graph.opening import LEDGER

_EPISODE = ("source", "external_id", "grp", "speaker", "addressee", "said_text", "time_zone", "project", "speech", "rank", "content")
_CLAIM = (
    *("predicate", "qualifier", "turned", "polarity", "kind", "from_lo", "from_hi", "from_text", "to_lo", "to_hi", "to_text", "said"),
    *("rank", "additive", "modality", "attributed_to", "confidence", "rule", "start", "end", "subject_text", "object_text", "datatype"),
    *("subject_type", "object_type", "believed", "scope_group", "scope_source"),
)
_STATEMENT = ("predicate", "qualifier", "object_is_literal", "polarity", "v_from", "v_to")

Row = tuple[Any, ...]
Canonical = dict[str, dict[str, list[str]]]


def canonical_export(graph: Path | Engine) -> Canonical:
    """By namespace the rows of `episodes`, `claims`, `statements` and `identity` as JSON texts, sorted; equal rows stand there as often.

    `graph` is a data folder (a process that owns it may go on writing) or the engine of a ledger. Times that an episode does not state
    are not compared; those of its claims are, so content whose times are the clock's differs.
    """
    if isinstance(graph, Engine):
        return _export(graph)
    engine = create_engine(f"sqlite:///file:{graph / LEDGER}?mode=ro&uri=true")
    try:
        return _export(engine)
    finally:
        engine.dispose()


def differences(one: Canonical, other: Canonical, limit: int = 20) -> list[str]:
    """Rows that only one of two exports has, `-` for the first and `+` for the second; empty where they are equal."""
    found = []
    for namespace in sorted({*one, *other}):
        for kind in ("episodes", "claims", "statements", "identity"):
            first, second = (Counter(each.get(namespace, {}).get(kind, [])) for each in (one, other))
            found += [f"- {namespace} {kind} {row}" for row in sorted((first - second).elements())]
            found += [f"+ {namespace} {kind} {row}" for row in sorted((second - first).elements())]
    return found[:limit]


def _export(engine: Engine) -> Canonical:
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: {"episodes": [], "claims": [], "statements": [], "identity": []})
    with engine.connect() as connection:
        names = _names(connection)
        told = {(row.key, row.revision): row for row in connection.execute(select(episodes))}
        for row in told.values():
            found[row.namespace]["episodes"].append(_text(*_columns(row, _EPISODE), sorted(row.flags), row.status, row.error, row.metadata))
        for row in _current(connection, claims):
            episode = told.get((row.episode, row.revision))
            origin = (episode.source, episode.external_id, episode.content) if episode is not None else (row.source, None, None)
            ends = [names.get(key) for key in (row.subject, row.object, row.replaces)]
            found[row.namespace]["claims"].append(_text(*ends, *_columns(row, _CLAIM), *origin, row.place))
        for row in _current(connection, statements):
            ends = [names.get(row.subject), names.get(row.object)]
            found[row.namespace]["statements"].append(_text(*ends, *_columns(row, _STATEMENT)))
        for namespace, rows in _identity(connection, names).items():
            found[namespace]["identity"] = rows
    return {namespace: {kind: sorted(rows) for kind, rows in kinds.items()} for namespace, kinds in sorted(found.items())}


def _current(connection: Connection, table: Table) -> list[Any]:
    return list(connection.execute(select(table).where(table.c.tx_to == OPEN)))


def _names(connection: Connection) -> dict[str, Row]:
    """What keys denote: own name, best name, type, and the type of a literal."""
    return {row.key: (row.own, row.name, row.type, row.datatype) for row in _current(connection, things)}


def _identity(connection: Connection, names: dict[str, Row]) -> dict[str, list[str]]:
    """Sets of names that are one, and names that denote another in some episodes."""
    sets: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in _current(connection, components):
        sets[row.namespace, row.root].append(_text(names.get(row.member)))
    found: dict[str, list[str]] = defaultdict(list)
    for (namespace, _), members in sets.items():
        found[namespace].append(_text("one", sorted(members)))
    for row in _current(connection, denotations):
        scope = (row.kind, row.scope_group, row.scope_source, row.rank, row.said)
        found[row.namespace].append(_text("denotes", names.get(row.key), names.get(row.target), *scope))
    return found


def _columns(row: Any, columns: tuple[str, ...]) -> Row:
    return tuple(getattr(row, column) for column in columns)


def _text(*values: Any) -> str:
    return json.dumps(values, ensure_ascii=False, sort_keys=True, default=str)
