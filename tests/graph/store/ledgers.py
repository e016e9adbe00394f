"""Ledgers for the graph's tests: tables filled directly, with random but consistent histories.

Consistent: per proposition and transaction the rectangles are disjoint and not adjacent, every rectangle has a believed
claim, rows are closed once, row numbers rise with transactions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from sqlalchemy import Engine, Table, create_engine, event, insert, update

from graph.ledger.planning import fix_plans
from graph.ledger.schema import OPEN, claims, components, episodes, metadata, settings, statements, things, transactions
from ontology.instant import UNBOUNDED_FUTURE, UNBOUNDED_PAST, Instant
from ontology.names import Keys
from ontology.vocabulary import Cardinality, Predicate, Vocabulary

SECRET = b"a secret for tests"
ONE_VALUED = frozenset({"works_at", "lives_in"})
PREDICATES = ("works_at", "lives_in", "uses", "knows", "age")

Interval = tuple[Instant, Instant]


VOCABULARY = Vocabulary("test", {name: Predicate(name, cardinality=Cardinality.ONE) for name in ONE_VALUED}, {})


def vocabulary_at(_transaction: int) -> Vocabulary:
    """The tests' vocabulary, at every transaction."""
    return VOCABULARY


def make_database(path: Path) -> Engine:
    """An empty ledger in a file; without the durability that tests have no use for."""
    engine = create_engine(f"sqlite:///{path}")

    def configure(connection: Any, _record: Any) -> None:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=OFF")

    event.listen(engine, "connect", configure)
    metadata.create_all(engine)
    with engine.connect() as connection:
        fix_plans(connection)
    return engine


@dataclass(frozen=True, slots=True)
class Proposition:
    """Subject, predicate and object by name; an object of `age` is a literal."""

    subject: str
    predicate: str
    object: str
    polarity: bool = True

    @property
    def literal(self) -> bool:
        return self.predicate == "age"


@dataclass
class LedgerBuilder:
    """Writes transactions into a ledger, one `commit` each."""

    engine: Engine
    namespace: str = "default"
    secret: bytes = SECRET
    number: int = 0
    believed: dict[Proposition, dict[Interval, int]] = field(default_factory=dict)
    claimed: dict[int, Proposition] = field(default_factory=dict)
    joined: dict[str, tuple[str, int]] = field(default_factory=dict)
    """(root, row of `components`) of each name that is joined with others, by name."""
    _rows: dict[str, int] = field(default_factory=dict)
    _known: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.keys = Keys(self.secret)
        with self.engine.begin() as connection:
            connection.execute(insert(settings), [{"name": "secret", "value": self.secret}])

    def entity(self, name: str) -> str:
        """The key of an entity."""
        return self.keys.entity(self.namespace, name)

    def object_key(self, proposition: Proposition) -> str:
        """The key of its object."""
        if proposition.literal:
            return self.keys.literal(self.namespace, proposition.object, "xsd:integer")
        return self.entity(proposition.object)

    def slot(self, subject: str, predicate: str) -> str:
        """The key of a slot without qualifier."""
        return self.keys.slot(self.namespace, self.entity(subject), predicate, "")

    def _row(self, table: str) -> int:
        self._rows[table] = self._rows.get(table, 0) + 1
        return self._rows[table]

    def commit(
        self,
        picture: Mapping[Proposition, Sequence[Interval]],
        *,
        claim: Sequence[tuple[Proposition, str]] | None = None,
        withdraw: Sequence[int] = (),
    ) -> int:
        """One transaction: its episode says `claim` (default: a STATE for each), and the picture of the propositions is now this."""
        self.number += 1
        claim = [(proposition, "STATE") for proposition in picture] if claim is None else claim
        rows: dict[Table, list[dict[str, Any]]] = {transactions: [], episodes: [], things: [], statements: [], claims: []}
        rows[transactions].append(
            {"number": self.number, "namespace": self.namespace, "at": 1_000 * self.number, "kind": "INGEST", "actor": "test"}
        )
        rows[episodes].append(self._episode())
        for proposition in [*picture, *(proposition for proposition, _ in claim)]:
            rows[things] += self._things(proposition)
        closed = []
        for proposition, intervals in picture.items():
            standing = self.believed.setdefault(proposition, {})
            closed += [standing.pop(interval) for interval in set(standing) - set(intervals)]
            for interval in sorted(set(intervals) - set(standing)):
                rows[statements].append(self._statement(proposition, interval))
                standing[interval] = rows[statements][-1]["row"]
        for place, (proposition, kind) in enumerate(claim):
            rows[claims].append(self._claim(proposition, kind, place))
            self.claimed[rows[claims][-1]["row"]] = proposition
        with self.engine.begin() as connection:
            for table, values in rows.items():
                if values:
                    connection.execute(insert(table), values)
            for table, numbers in ((statements, closed), (claims, list(withdraw))):
                if numbers:
                    connection.execute(update(table).where(table.c.row.in_(numbers)).values(tx_to=self.number))
        for number in withdraw:
            del self.claimed[number]
        return self.number

    def identify(self, *groups: Sequence[str]) -> int:
        """One transaction: the names of each group are one entity now, and all others are apart."""
        self.number += 1
        row = {"number": self.number, "namespace": self.namespace, "at": 1_000 * self.number, "kind": "MERGE", "actor": "test"}
        wanted = {name: min(map(self.entity, group)) for group in groups for name in group}
        closed = [at for name, (root, at) in self.joined.items() if wanted.get(name) != root]
        self.joined = {name: (root, at) for name, (root, at) in self.joined.items() if at not in closed}
        fresh = []
        for name in sorted(wanted.keys() - self.joined.keys()):
            self.joined[name] = wanted[name], self._row("components")
            life = {"tx_from": self.number, "tx_to": OPEN}
            member = {"namespace": self.namespace, "member": self.entity(name), "root": wanted[name]}
            fresh.append({"row": self.joined[name][1], **member, **life})
        with self.engine.begin() as connection:
            connection.execute(insert(transactions), [row])
            if fresh:
                connection.execute(insert(components), fresh)
            if closed:
                connection.execute(update(components).where(components.c.row.in_(closed)).values(tx_to=self.number))
        return self.number

    def _episode(self) -> dict[str, Any]:
        row = self._row("episodes")
        key = self.keys.digest("episode", str(row))
        return {
            "row": row,
            "namespace": self.namespace,
            "key": key,
            "revision": key[::-1],
            "content": "words",
            "source": "test",
            "said": self.number * 7,
            "revised": self.number * 7,
            "rank": 1,
            "flags": [],
            "order_text": "",
            "status": "EXTRACTED",
            "tx_recorded": self.number,
            "tx_extracted": self.number,
            "tx_from": self.number,
            "tx_to": OPEN,
        }

    def _things(self, proposition: Proposition) -> list[dict[str, Any]]:
        found = []
        pairs = ((self.entity(proposition.subject), proposition.subject, None),)
        datatype = "xsd:integer" if proposition.literal else None
        for key, name, kind in (*pairs, (self.object_key(proposition), proposition.object, datatype)):
            if key not in self._known:
                self._known.add(key)
                life = {"tx_from": self.number, "tx_to": OPEN}
                base = {"row": self._row("things"), "namespace": self.namespace, "key": key, "name": name, "folded": name}
                found.append({**base, "datatype": kind, **life})
        return found

    def _keys(self, proposition: Proposition) -> dict[str, Any]:
        return {
            "namespace": self.namespace,
            "slot": self.slot(proposition.subject, proposition.predicate),
            "subject": self.entity(proposition.subject),
            "predicate": proposition.predicate,
            "qualifier": "",
            "object": self.object_key(proposition),
            "polarity": proposition.polarity,
        }

    def _base(self, keys: dict[str, Any]) -> str:
        place = (keys["subject"], keys["predicate"], keys["qualifier"], keys["object"])
        return self.keys.proposition(self.namespace, *place, symmetric=False)

    def _statement(self, proposition: Proposition, interval: Interval) -> dict[str, Any]:
        keys = self._keys(proposition)
        base = self._base(keys)
        key = base if proposition.polarity else self.keys.denial(base)
        bounds = {"v_from": interval[0], "v_to": interval[1], "tx_from": self.number, "tx_to": OPEN}
        named = {"row": self._row("statements"), "proposition": key, "base": base, "object_is_literal": proposition.literal}
        return {**keys, **named, **bounds}

    def _claim(self, proposition: Proposition, kind: str, place: int) -> dict[str, Any]:
        keys = self._keys(proposition)
        episode = self.keys.digest("episode", str(self._rows["episodes"]))
        row = self._row("claims")
        return {
            **keys,
            "row": row,
            "id": f"{row:032x}",
            "episode": episode,
            "revision": episode[::-1],
            "place": place,
            "proposition": self._base(keys),
            "kind": kind,
            "said": self.number * 7,
            "rank": 1,
            "additive": False,
            "modality": "ASSERTED",
            "confidence": 0.9,
            "rule": "test",
            "extractor": "test",
            "start": place,
            "end": place + 1,
            "subject_text": "",
            "object_text": "",
            "believed": True,
            "tx_from": self.number,
            "tx_to": OPEN,
        }


def random_history(builder: LedgerBuilder, random: Random, length: int, *, names: int = 6, joins: float = 0) -> None:
    """`length` transactions about a handful of entities, on the instants 0 to 9 and the unbounded ones; some `joins` or part them."""
    for _ in range(length):
        if random.random() < joins:
            builder.identify(*random_groups(random, names))
            continue
        picture: dict[Proposition, Sequence[Interval]] = {}
        claim: list[tuple[Proposition, str]] = []
        for _ in range(random.randint(0, 3)):
            if builder.believed and random.random() < 0.5:
                proposition = random.choice(sorted(builder.believed, key=repr))
            else:
                subject, value = (f"n{random.randrange(names)}" for _ in range(2))
                proposition = Proposition(subject, random.choice(PREDICATES), value, random.random() < 0.75)
            picture[proposition] = random_intervals(random)
            claim.append((proposition, random.choice(("STATE", "CHANGE", "END"))))
        claimable = sorted(builder.believed, key=repr)
        if claimable and random.random() < 0.3:
            claim.append((random.choice(claimable), "STATE"))
        withdrawable = sorted(builder.claimed)
        withdraw = random.sample(withdrawable, 1) if withdrawable and random.random() < 0.3 else []
        builder.commit(picture, claim=claim, withdraw=withdraw)


def random_groups(random: Random, names: int) -> list[list[str]]:
    """Some of the names in up to two groups of two or more."""
    chosen = random.sample([f"n{number}" for number in range(names)], random.choice((0, 2, 3, 4)))
    return [chosen] if len(chosen) < 4 else [chosen[:2], chosen[2:]]


def random_intervals(random: Random) -> list[Interval]:
    """None to two disjoint intervals that do not touch."""
    ends = sorted(random.sample([UNBOUNDED_PAST, *range(10), UNBOUNDED_FUTURE], 2 * random.randint(0, 2)))
    return [(ends[place], ends[place + 1]) for place in range(0, len(ends), 2)]
