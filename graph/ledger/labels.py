"""Names and types of things: every surface form that visible claims give, and which one is attested most.

The best form depends on the set of claims alone (most attested, then smallest), so arrival order does not show.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, bindparam, select, update

from graph.ledger.bulk import BulkInsert
from graph.ledger.chunks import among, rows_among
from graph.ledger.directory import best
from graph.ledger.schema import OPEN, labels, things
from ontology.claim import CANDIDATE_BELOW, Modality
from ontology.names import normalise

_LABELS = select(labels.c.row, labels.c.thing, labels.c.kind, labels.c.value, labels.c["count"]).where(
    among(labels.c.thing), labels.c.tx_to == OPEN
)
_THINGS = select(things).where(among(things.c.key), things.c.tx_to == OPEN)
_NEW_LABELS, _NEW_THINGS = BulkInsert(labels), BulkInsert(things)
_COUNT = update(labels).where(labels.c.row == bindparam("at")).values(count=bindparam("number"))
_END_LABELS = update(labels).where(labels.c.row == bindparam("at")).values(count=0, tx_to=bindparam("end"))
_END_THINGS = update(things).where(things.c.row == bindparam("at")).values(tx_to=bindparam("end"))


class LabelChanges:
    """Counts of surface forms that a transaction adds and takes away."""

    def __init__(self) -> None:
        self._deltas: Counter[tuple[str, str, str]] = Counter()
        self._datatypes: dict[str, str | None] = {}

    def add(self, claim: Mapping[str, Any], sign: int) -> None:
        """Count a claim that comes into the set (+1) or leaves it (-1). Candidates and hypotheticals name nothing."""
        if claim["confidence"] < CANDIDATE_BELOW or claim["modality"] == Modality.HYPOTHETICAL:
            return
        for side in ("subject", "object"):
            key = claim[side]
            self._datatypes[key] = claim["datatype"] if side == "object" else None
            self._deltas[key, "name", claim[f"{side}_text"]] += sign
            if claim[f"{side}_type"] is not None:
                self._deltas[key, "type", claim[f"{side}_type"]] += sign

    def write(self, connection: Connection, namespace: str, transaction: int) -> None:
        """Bring labels and the best name of every touched thing up to date."""
        touched = {thing for thing, _, _ in self._deltas}
        if not touched:
            return
        rows = rows_among(connection, _LABELS, touched)
        known: dict[tuple[str, str, str], int] = {}
        counts: dict[tuple[str, str, str], int] = {}
        for row in rows:
            at, thing, kind, value, count = tuple(row)
            known[thing, kind, value], counts[thing, kind, value] = at, count
        before = dict(counts)
        fresh, changed, gone = [], [], []
        for label, delta in self._deltas.items():
            if not delta:
                continue
            counts[label] = counts.get(label, 0) + delta
            if label not in known:
                thing, kind, value = label
                new = {"thing": thing, "kind": kind, "value": value, "count": counts[label], "tx_from": transaction, "tx_to": OPEN}
                fresh.append(new)
            elif counts[label] <= 0:
                gone.append({"at": known[label], "end": transaction})
            else:
                changed.append({"at": known[label], "number": counts[label]})
        _NEW_LABELS(connection, fresh)
        if changed:
            connection.execute(_COUNT, changed)
        if gone:
            connection.execute(_END_LABELS, gone)
        self._name(connection, namespace, transaction, counts, before)

    def _name(
        self,
        connection: Connection,
        namespace: str,
        transaction: int,
        counts: Mapping[tuple[str, str, str], int],
        before: Mapping[tuple[str, str, str], int],
    ) -> None:
        """Write a new version of each thing whose best name or type is another one than before."""
        ranked, former = _ranked(counts), _ranked(before)
        touched = {thing for thing, _, _ in self._deltas if ranked.get(thing) != former.get(thing)}
        now = {row.key: row for row in rows_among(connection, _THINGS, touched & former.keys())}
        fresh, gone = [], []
        for thing in touched:
            name, type = ranked.get(thing, (None, None))
            row = now.get(thing)
            if row is not None:
                gone.append({"at": row.row, "end": transaction})
            if name is not None:
                fresh.append(
                    {
                        "namespace": namespace,
                        "key": thing,
                        "datatype": self._datatypes[thing],
                        "name": name,
                        "folded": normalise(name),
                        "own": normalise(name),
                        "type": type,
                        "tx_from": transaction,
                        "tx_to": OPEN,
                    }
                )
        if gone:
            connection.execute(_END_THINGS, gone)
        _NEW_THINGS(connection, fresh)


def _ranked(counts: Mapping[tuple[str, str, str], int]) -> dict[str, tuple[str | None, str | None]]:
    """The best name and type of each thing."""
    found: dict[str, tuple[dict[str, int], dict[str, int]]] = {}
    for (thing, kind, value), count in counts.items():
        if count > 0:
            found.setdefault(thing, ({}, {}))[kind == "type"][value] = count
    return {thing: (best(names) if names else None, best(types) if types else None) for thing, (names, types) in found.items()}
