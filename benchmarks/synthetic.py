"""A synthetic ledger written straight into its tables: entities with a skewed number of statements, a tenth of which supersede, one claim
each. Of a share of the entities every two are one, and every so many statements are about one entity, the hub.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from sqlalchemy import Connection, Engine, insert, text

from graph.ledger.schema import OPEN, claims, components, episodes, settings, statements, things, transactions
from ontology.instant import UNBOUNDED_FUTURE
from ontology.names import Keys
from ontology.vocabulary import Cardinality, Predicate, Vocabulary

PER_TRANSACTION = 100
KEYS = Keys(b"benchmark")
VOCABULARY = Vocabulary("benchmark", {f"p{number}": Predicate(f"p{number}", cardinality=Cardinality.ONE) for number in range(0, 40, 2)}, {})


def vocabulary_at(_transaction: int) -> Vocabulary:
    """The even predicates have one value at a time."""
    return VOCABULARY


def _episode(number: int) -> dict[str, Any]:
    key = KEYS.digest("episode", str(number))
    return {
        "row": number,
        "namespace": "default",
        "key": key,
        "revision": key,
        "content": "",
        "source": "benchmark",
        "said": number,
        "revised": number,
        "rank": 1,
        "flags": [],
        "order_text": "",
        "status": "EXTRACTED",
        "tx_recorded": number,
        "tx_extracted": number,
        "tx_from": number,
        "tx_to": OPEN,
    }


HUB = KEYS.entity("default", "e0")


def _pair(row: int, random: Random, entities: int, hub: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """A statement and its claim."""
    subject, value = (KEYS.entity("default", f"e{int(entities * random.random() ** 2)}") for _ in range(2))
    subject = HUB if hub else subject
    number = 1 + (row - 1) // PER_TRANSACTION
    predicate = f"p{random.randrange(40)}"
    slot = KEYS.slot("default", subject, predicate, "")
    proposition = KEYS.proposition("default", subject, predicate, "", value, symmetric=False)
    both = {
        "row": row,
        "namespace": "default",
        "slot": slot,
        "subject": subject,
        "predicate": predicate,
        "qualifier": "",
        "object": value,
        "polarity": True,
        "proposition": proposition,
        "tx_from": number,
    }
    bounds = {"base": proposition, "v_from": row, "v_to": UNBOUNDED_FUTURE, "tx_to": OPEN, "object_is_literal": False}
    episode = KEYS.digest("episode", str(number))
    claim = {
        "id": f"{row:032x}",
        "episode": episode,
        "revision": episode,
        "place": row % PER_TRANSACTION,
        "kind": "STATE",
        "said": row,
        "rank": 1,
        "additive": False,
        "modality": "ASSERTED",
        "confidence": 0.9,
        "rule": "benchmark",
        "extractor": "benchmark",
        "start": 0,
        "end": 1,
        "subject_text": "",
        "object_text": "",
        "believed": True,
        "tx_to": OPEN,
    }
    return both | bounds, both | claim


def _rows(connection: Connection, table: Any, rows: Sequence[dict[str, Any]]) -> None:
    for start in range(0, len(rows), 5_000):
        connection.execute(insert(table), rows[start : start + 5_000])


def _memberships(names: Sequence[str]) -> list[dict[str, Any]]:
    """Every two are one from the first transaction on."""
    keys = [KEYS.entity("default", name) for name in names]
    pairs = [sorted(keys[place : place + 2]) for place in range(0, len(keys) - 1, 2)]
    row = {"namespace": "default", "tx_from": 1, "tx_to": OPEN}
    return [{**row, "member": key, "root": pair[0]} for pair in pairs for key in pair]


def fill(engine: Engine, count: int, joined: float, hub: int = 0) -> int:
    """A ledger of `count` statements, every `hub`th of them about one entity; returns the number of its entities."""
    random = Random(5)
    entities = max(50, count // 10)
    pairs = [_pair(row, random, entities, hub > 0 and row % hub == 0) for row in range(1, count + 1)]
    # A tenth is closed later, and its successor ends where another begins.
    for statement, _ in random.sample(pairs[: count * 9 // 10], count // 10):
        statement["tx_to"] = min(statement["tx_from"] + 3, 1 + (count - 1) // PER_TRANSACTION)
        if statement["tx_to"] == statement["tx_from"]:
            statement["tx_to"] = OPEN
    last = pairs[-1][0]["tx_from"]
    names = [f"e{number}" for number in range(entities)]
    with engine.begin() as connection:
        connection.execute(insert(settings), [{"name": "secret", "value": b"benchmark"}])
        base = {"namespace": "default", "kind": "INGEST", "actor": "benchmark"}
        _rows(connection, transactions, [{**base, "number": number, "at": number} for number in range(1, last + 1)])
        _rows(connection, episodes, [_episode(number) for number in range(1, last + 1)])
        thing = {"namespace": "default", "tx_from": 1, "tx_to": OPEN}
        _rows(connection, things, [{**thing, "key": KEYS.entity("default", name), "name": name, "folded": name} for name in names])
        _rows(connection, components, _memberships(random.sample(names, int(joined * entities))))
        _rows(connection, statements, [statement for statement, _ in pairs])
        _rows(connection, claims, [claim for _, claim in pairs])
        connection.execute(text("ANALYZE"))
    return entities
