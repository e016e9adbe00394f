"""The reified graph in Kuzu: its tables, how rows become Arrow tables (COPY) and parameters (prepared statements).

A Statement node carries the keys of its subject and object beside the edges: a walk needs one hop, not two, and Kuzu plans
the second hop as a scan. All instants are INT64: bound datetimes lose their offsets and crash past the year 9999. The
unbounded past is stored as one above ours, since Kuzu's bit packing turns -2^63 into 0 in a column whose greatest value is
small; no instant lies between the two, so no answer changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from graph.store.port import Batch
from ontology.instant import UNBOUNDED_PAST, Instant

FORMAT = 2
"""Raised with every change of the tables: a graph of another format is rebuilt."""

TABLES = (
    "CREATE NODE TABLE Meta(id INT64 PRIMARY KEY, format INT64, ledger STRING, watermark INT64, at INT64)",
    "CREATE NODE TABLE Entity(key STRING PRIMARY KEY, namespace STRING, datatype STRING)",
    "CREATE NODE TABLE Predicate(name STRING PRIMARY KEY)",
    "CREATE NODE TABLE Slot(key STRING PRIMARY KEY, namespace STRING, subject STRING, predicate STRING, qualifier STRING)",
    "CREATE NODE TABLE Episode(row INT64 PRIMARY KEY, key STRING, namespace STRING, said INT64)",
    "CREATE NODE TABLE Statement(row INT64 PRIMARY KEY, namespace STRING, proposition STRING, subject STRING, predicate STRING, "
    "qualifier STRING, object STRING, literal BOOL, polarity BOOL, v_from INT64, v_to INT64, tx_from INT64, tx_to INT64)",
    "CREATE REL TABLE SUBJECT(FROM Statement TO Entity)",
    "CREATE REL TABLE OBJECT(FROM Statement TO Entity)",
    "CREATE REL TABLE IN_SLOT(FROM Statement TO Slot)",
    "CREATE REL TABLE MEMBER_OF(FROM Entity TO Entity, namespace STRING, tx_from INT64, tx_to INT64)",
    "CREATE REL TABLE ASSERTED_IN(FROM Statement TO Episode, claim INT64, span_from INT64, span_to INT64, tx_from INT64, tx_to INT64)",
    "CREATE REL TABLE INVALIDATED_BY(FROM Statement TO Statement, reason STRING, rule STRING)",
    "CREATE REL TABLE REVISES(FROM Statement TO Statement)",
)

NODES = ("Entity", "Predicate", "Slot", "Episode", "Statement")
EDGES = ("SUBJECT", "OBJECT", "IN_SLOT", "MEMBER_OF", "ASSERTED_IN", "INVALIDATED_BY", "REVISES")

_S, _I, _B = pa.string(), pa.int64(), pa.bool_()

# Types are given, never inferred: a column of NULLs alone has none, and Kuzu refuses it.
_ARROW: dict[str, list[tuple[str, Any]]] = {
    "Entity": [("key", _S), ("namespace", _S), ("datatype", _S)],
    "Predicate": [("name", _S)],
    "Slot": [("key", _S), ("namespace", _S), ("subject", _S), ("predicate", _S), ("qualifier", _S)],
    "Episode": [("row", _I), ("key", _S), ("namespace", _S), ("said", _I)],
    "Statement": [
        *[("row", _I), ("namespace", _S), ("proposition", _S), ("subject", _S), ("predicate", _S), ("qualifier", _S), ("object", _S)],
        *[("literal", _B), ("polarity", _B), ("v_from", _I), ("v_to", _I), ("tx_from", _I), ("tx_to", _I)],
    ],
    "SUBJECT": [("from", _I), ("to", _S)],
    "OBJECT": [("from", _I), ("to", _S)],
    "IN_SLOT": [("from", _I), ("to", _S)],
    "MEMBER_OF": [("from", _S), ("to", _S), ("namespace", _S), ("tx_from", _I), ("tx_to", _I)],
    "ASSERTED_IN": [("from", _I), ("to", _I), ("claim", _I), ("span_from", _I), ("span_to", _I), ("tx_from", _I), ("tx_to", _I)],
    "INVALIDATED_BY": [("from", _I), ("to", _I), ("reason", _S), ("rule", _S)],
    "REVISES": [("from", _I), ("to", _I)],
}

_STATEMENT = (
    "MATCH (a:Entity {key: $subject}), (b:Entity {key: $object}), (z:Slot {key: $slot}) "
    "CREATE (s:Statement {row: $row, namespace: $namespace, proposition: $proposition, subject: $subject, predicate: $predicate, "
    "qualifier: $qualifier, object: $object, literal: $object_is_literal, polarity: $polarity, v_from: $v_from, v_to: $v_to, "
    "tx_from: $tx_from, tx_to: $tx_to}), (s)-[:SUBJECT]->(a), (s)-[:OBJECT]->(b), (s)-[:IN_SLOT]->(z) RETURN 1"
)
_MEMBER = (
    "MATCH (a:Entity {key: $member}), (b:Entity {key: $root}) "
    "CREATE (a)-[:MEMBER_OF {namespace: $namespace, tx_from: $tx_from, tx_to: $tx_to}]->(b) RETURN 1"
)
_PARTED = "MATCH (:Entity {key: $member})-[m:MEMBER_OF]->(:Entity {key: $root}) WHERE m.tx_from = $tx_from SET m.tx_to = $tx_to RETURN 1"
_EDGE = "MATCH (s:Statement {{row: $a}}), (t:{to} {{row: $b}}) CREATE (s)-[:{name} {values}]->(t) RETURN 1"


def stored_start(v_from: Instant) -> int:
    """The start of a valid interval as Kuzu can hold it."""
    return max(v_from, UNBOUNDED_PAST + 1)


def tables(batch: Batch, predicates: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """(table, Arrow table) of what a batch creates, nodes first, empty ones left out; `predicates` are the new ones."""
    opened = list(zip(*batch.opened, strict=True)) or [()] * 15
    row, namespace, proposition, _, slot, subject, predicate, qualifier, value, literal, polarity, v_from, *times = opened
    endings = [ending for ending in batch.endings if ending.reason is not None]
    columns: dict[str, Sequence[Sequence[Any]]] = {
        "Entity": list(zip(*batch.entities, strict=True)),
        "Predicate": [predicates],
        "Slot": list(zip(*batch.slots, strict=True)),
        "Episode": list(zip(*batch.episodes, strict=True)),
        "Statement": [
            row,
            namespace,
            proposition,
            subject,
            predicate,
            qualifier,
            value,
            literal,
            polarity,
            [stored_start(v) for v in v_from],
            *times,
        ],
        "SUBJECT": [row, subject],
        "OBJECT": [row, value],
        "IN_SLOT": [row, slot],
        "MEMBER_OF": list(zip(*batch.joined, strict=True)),
        "ASSERTED_IN": list(zip(*batch.assertions, strict=True)),
        "INVALIDATED_BY": list(zip(*endings, strict=True)),
        "REVISES": list(zip(*[(ending.statement, ending.by) for ending in batch.endings if ending.reason is None], strict=True)),
    }
    for table in (*NODES, *EDGES):
        if columns[table] and columns[table][0]:
            yield table, arrow(table, columns[table])


def arrow(table: str, columns: Sequence[Any]) -> Any:
    """Columns of a table, each a sequence of values or an Arrow array, as an Arrow table."""
    fields = _ARROW[table]
    pairs = zip(columns, fields, strict=True)
    arrays = [column if isinstance(column, pa.Array) else pa.array(column, type=kind) for column, (_, kind) in pairs]
    return pa.table(arrays, names=[name for name, _ in fields])


def creations(batch: Batch, predicates: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """(statement, parameters) of what a batch creates, nodes first. Each returns one row, unless an end of an edge is missing."""
    for entity in batch.entities:
        # An untyped NULL cannot be bound, so an entity leaves its datatype out.
        if entity.datatype is None:
            yield "CREATE (:Entity {key: $key, namespace: $namespace}) RETURN 1", {"key": entity.key, "namespace": entity.namespace}
        else:
            yield "CREATE (:Entity {key: $key, namespace: $namespace, datatype: $datatype}) RETURN 1", entity._asdict()
    for name in predicates:
        yield "CREATE (:Predicate {name: $name}) RETURN 1", {"name": name}
    for slot in batch.slots:
        yield (
            "CREATE (:Slot {key: $key, namespace: $namespace, subject: $subject, predicate: $predicate, qualifier: $qualifier}) RETURN 1",
            slot._asdict(),
        )
    for episode in batch.episodes:
        yield "CREATE (:Episode {row: $row, key: $key, namespace: $namespace, said: $said}) RETURN 1", episode._asdict()
    for statement in batch.opened:
        # What is not named in the statement cannot be bound.
        values = statement._asdict()
        del values["base"]
        yield _STATEMENT, values | {"v_from": stored_start(statement.v_from)}
    for membership in batch.joined:
        yield _MEMBER, membership._asdict()
    asserted = _EDGE.format(
        to="Episode",
        name="ASSERTED_IN",
        values="{claim: $claim, span_from: $span_from, span_to: $span_to, tx_from: $tx_from, tx_to: $tx_to}",
    )
    names = [name for name, _ in _ARROW["ASSERTED_IN"]]
    for assertion in batch.assertions:
        yield asserted, dict(zip(["a", "b", *names[2:]], assertion, strict=True))
    invalidated = _EDGE.format(to="Statement", name="INVALIDATED_BY", values="{reason: $reason, rule: $rule}")
    for ending in batch.endings:
        ends = {"a": ending.statement, "b": ending.by}
        if ending.reason is None:
            yield _EDGE.format(to="Statement", name="REVISES", values=""), ends
        else:
            yield invalidated, ends | {"reason": ending.reason, "rule": ending.rule}


def changes(batch: Batch) -> Iterator[tuple[str, dict[str, Any]]]:
    """(statement, parameters) of what a batch changes of earlier ones; each returns one row or more, except where a claim has no edge."""
    for row, tx_to in batch.closed:
        yield "MATCH (s:Statement {row: $row}) SET s.tx_to = $tx_to RETURN 1", {"row": row, "tx_to": tx_to}
    for membership in batch.parted:
        values = membership._asdict()
        del values["namespace"]
        yield _PARTED, values
    for withdrawal in batch.withdrawn:
        yield (
            "MATCH (e:Episode {row: $episode})<-[a:ASSERTED_IN]-(:Statement) WHERE a.claim = $claim SET a.tx_to = $tx_to",
            withdrawal._asdict(),
        )
