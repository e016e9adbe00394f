"""Names and types of things: every surface form that visible claims give, and which one is attested most.

The best form depends on the set of claims alone (most attested, then smallest), so arrival order does not show.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, bindparam, select, update

from graph.belief.identity import Identities
from graph.ledger.bulk import BulkInsert
from graph.ledger.chunks import among, rows_among
from graph.ledger.directory import best
from graph.ledger.identifying import Shift, is_split
from graph.ledger.identity import SOURCE
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
    """Claims that come and go with a transaction, and the counts of surface forms that change with them."""

    def __init__(self) -> None:
        self._told: list[tuple[Mapping[str, Any], int]] = []
        self._deltas: Counter[tuple[str, str, str]] = Counter()
        self._datatypes: dict[str, str | None] = {}

    def add(self, claim: Mapping[str, Any], sign: int) -> None:
        """Count a claim that comes into the set (+1) or leaves it (-1). Candidates and hypotheticals name nothing."""
        if claim["confidence"] >= CANDIDATE_BELOW and claim["modality"] != Modality.HYPOTHETICAL:
            self._told.append((claim, sign))

    def write(
        self, connection: Connection, namespace: str, transaction: int, shift: Shift, reread: Iterable[Mapping[str, Any]] = ()
    ) -> None:
        """Bring labels and the best name of every touched thing up to date. `reread` are claims that may mean another entity now."""
        counted = {claim["id"] for claim, _ in self._told}
        for claim in reread:
            if claim["id"] not in counted:
                self.add(claim, -1)
                self.add(claim, +1)
        shift.load(claim for claim, _ in self._told)
        for claim, sign in self._told:
            self._count(claim, sign, (shift.new if sign > 0 else shift.old).state)
        touched = {thing for thing, _, _ in self._deltas} | shift.moved
        if not touched:
            return
        whole = {member for thing in touched for member in shift.new.members(thing)}
        known: dict[tuple[str, str, str], int] = {}
        counts: dict[tuple[str, str, str], int] = {}
        for row in rows_among(connection, _LABELS, whole):
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
        self._name(connection, namespace, transaction, shift, _counted(counts), _counted(before))

    def _count(self, claim: Mapping[str, Any], sign: int, state: Identities) -> None:
        where = (claim["grp"], claim["source"])
        for side in naming_sides(claim):
            raw = claim[side]
            datatype = claim["datatype"] if side == "object" else None
            key, kind = raw, "name"
            if datatype is None and not is_split(claim):
                key = state.mentioned(raw, *where)
                kind = "name" if key == state.after_split(raw, *where) else "alias"
            self._datatypes[key] = datatype
            self._deltas[key, kind, claim[f"{side}_text"]] += sign
            if claim[f"{side}_type"] is not None:
                self._deltas[key, "type", claim[f"{side}_type"]] += sign

    def _name(
        self,
        connection: Connection,
        namespace: str,
        transaction: int,
        shift: Shift,
        counts: Mapping[str, _Forms],
        before: Mapping[str, _Forms],
    ) -> None:
        """Write a new version of each thing whose best name or type, or that of its whole component, is another one than before."""
        identity = shift.new
        known = {*counts, *before}
        # A member that nothing names any more bears the name of the whole like all others: it may be the one that stands for it.
        joined = {member for thing in known | shift.moved for member in identity.members(thing)}
        joined = {thing for thing in joined if identity.root(thing) in identity.state.roots or thing in shift.moved}
        alone = {thing for thing in known - joined if _best(counts.get(thing)) != _best(before.get(thing))}
        wanted = {thing: _best(counts.get(thing)) for thing in alone}
        components: dict[str, list[str]] = defaultdict(list)
        for thing in joined:
            components[identity.root(thing)].append(thing)
        for members in components.values():
            name = _best(_Forms.of_all(counts[thing] for thing in members if thing in counts))
            wanted |= dict.fromkeys(members, name)
        now = {row.key: row for row in rows_among(connection, _THINGS, {thing for thing in wanted if thing in before or thing in joined})}
        fresh, gone = [], []
        for thing, named in wanted.items():
            row = now.get(thing)
            if row is not None and (row.name, row.type) == named:
                continue
            if row is not None:
                gone.append({"at": row.row, "end": transaction})
            if named is not None:
                fresh.append(
                    {
                        "namespace": namespace,
                        "key": thing,
                        "datatype": row.datatype if row is not None else self._datatypes.get(thing),
                        "name": named[0],
                        "folded": normalise(named[0]),
                        "own": normalise(best(counts[thing].names)) if thing in counts and counts[thing].names else "",
                        "type": named[1],
                        "tx_from": transaction,
                        "tx_to": OPEN,
                    }
                )
        if gone:
            connection.execute(_END_THINGS, gone)
        _NEW_THINGS(connection, fresh)


def naming_sides(claim: Mapping[str, Any]) -> tuple[str, ...]:
    """The sides of a claim that name something. What is stated by key does not, but a split names the entity that it makes."""
    if is_split(claim):
        return ("subject",) if claim["turned"] else ("object",)
    return () if claim["source"] == SOURCE else ("subject", "object")


@dataclass(slots=True)
class _Forms:
    """How often the names and types of a thing are given to it."""

    names: Counter[str] = field(default_factory=Counter)
    types: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of_all(cls, several: Iterable[_Forms]) -> _Forms:
        """Those of several things as of one."""
        whole = cls()
        for each in several:
            whole.names.update(each.names)
            whole.types.update(each.types)
        return whole


def _best(forms: _Forms | None) -> tuple[str, str | None] | None:
    """The best name and type; None where nothing has a name."""
    if forms is None or not forms.names:
        return None
    return best(forms.names), best(forms.types) if forms.types else None


def _counted(counts: Mapping[tuple[str, str, str], int]) -> dict[str, _Forms]:
    """The names and types of each thing; aliases that one group gives never become names."""
    found: dict[str, _Forms] = {}
    for (thing, kind, value), count in counts.items():
        if count > 0 and kind != "alias":
            forms = found.setdefault(thing, _Forms())
            (forms.types if kind == "type" else forms.names)[value] = count
    return found
