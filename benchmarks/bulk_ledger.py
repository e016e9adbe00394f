"""`python -m benchmarks.bulk_ledger FOLDER --claims N`: a large ledger, written straight into its tables, and vectors of its documents.

The facts are seeded and come in the order in which they were said, so what believing them makes is known without resolving: a new
value ends the last one where it begins, an END begins a denial. A test loads the same through the facade and compares row by row.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, event, insert

from graph.ledger.bulk import BulkInsert
from graph.ledger.database import open_database
from graph.ledger.directory import best
from graph.ledger.labels import naming_sides
from graph.ledger.preparing import PreparedEpisode, Preparer
from graph.ledger.schema import OPEN, claims, episodes, labels, settings, statements, things, transactions
from graph.opening import LEDGER, open_graph
from graph.recall.embedding.choosing import Choice
from graph.recall.embedding.port import unit_rows
from graph.recall.stopwords import STOP_WORDS
from graph.service import LedgerGraph
from ontology.claim import ClaimDraft, ClaimKind, ObjectDraft
from ontology.episode import EpisodeDraft
from ontology.errors import NotFound
from ontology.instant import DAY, MINUTE, UNBOUNDED_FUTURE, Instant, format_instant
from ontology.loading import load_vocabulary
from ontology.names import Keys, normalise
from ontology.vocabulary import Vocabulary

NAMESPACE = "default"
EXTRACTOR = "benchmark"
START = 16_000 * DAY
YEARS = 10
PER_TRANSACTION = 1000
PER_ENTITY = 12
TURNS = 50
VOCABULARY = 5_000
WORDS = 8
"""Words of a sentence beside what it tells."""
CHANGES = 24
"""Claims on a slot that changes much; every tenth does."""

_ONE = {"works_at": "o", "lives_in": "p", "has_role": "r", "status": "s", "version": "s", "reports_to": "e", "runs_on": "t", "part_of": "t"}
_MANY = {"uses": "t", "likes": "x", "speaks": "l", "works_on": "t", "member_of": "o", "depends_on": "t", "eats": "x", "colleague_of": "e"}
_POOLS = {"o": 100, "p": 150, "r": 400, "s": 1000, "t": 120, "x": 200, "l": 2000}
"""Of how many claims each value of a kind has one, about; `e` are the entities themselves."""
_AT_A_TIME = 16_384
_STOPS = tuple(sorted(STOP_WORDS)[:25])
_HEADS = ("b", "br", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "st", "t", "tr", "v", "z")
_TAILS = ("a", "e", "i", "o", "u", "ai", "ou")
_ENDS = {ClaimKind.END: "no longer ", ClaimKind.STATE: ""}


class Told(NamedTuple):
    """A fact: `start` and `end` as stated, None where they are not."""

    subject: int
    predicate: str
    value: str
    kind: ClaimKind
    start: Instant | None
    end: Instant | None


class Session(NamedTuple):
    """One transaction: when it is recorded, and its episodes with their claims."""

    at: Instant
    episodes: list[tuple[EpisodeDraft, list[ClaimDraft], list[str]]]


def word(number: int) -> str:
    """A made-up word; the first ones are real and stop words."""
    if number < len(_STOPS):
        return _STOPS[number]
    made = ""
    rest = number + len(_HEADS) * len(_TAILS)
    while rest:
        rest, head = divmod(rest, len(_HEADS))
        rest, tail = divmod(rest, len(_TAILS))
        made += _HEADS[head] + _TAILS[tail]
    return made


def name(number: int) -> str:
    """An entity's name."""
    return f"{word(200 + number % 173).title()} {word(1000 + number // 173).title()}"


class Facts:
    """Seeded facts, their words and times."""

    def __init__(self, many: int, *, seed: int = 7) -> None:
        self.many = many
        self.entities = max(many // PER_ENTITY, 12)
        self.step = YEARS * 365 * DAY // many
        self._dice = np.random.default_rng(seed)
        self._values = {kind: max(many // share, 8) for kind, share in _POOLS.items()}
        self._words = [word(number) for number in range(VOCABULARY)]
        self._names = [name(number) for number in range(self.entities)]

    def _order(self) -> tuple[NDArray[np.int64], list[tuple[int, str]]]:
        """The slot of each claim in the order of their times, and the slots."""
        predicates = [*_ONE, *_MANY]
        dice, slots = self._dice, max(self.many // 2, 12)
        hot = dice.random(slots) < 0.1
        counts = np.where(hot, CHANGES, dice.geometric(0.4, slots).clip(max=6))
        kept = int(np.searchsorted(np.cumsum(counts), self.many)) + 1
        hot, counts = hot[:kept], counts[:kept]
        seen: set[tuple[int, str]] = set()
        made: list[tuple[int, str]] = []
        while len(made) < kept:
            slot = (int(dice.integers(self.entities)), predicates[int(dice.integers(len(predicates)))])
            if slot not in seen:
                seen.add(slot)
                made.append(slot)
        owner = np.repeat(np.arange(kept), counts)[: self.many]
        when = dice.random(len(owner))
        # Half of the slots that change much do so within a session or two: their statements never were open for long.
        bursts = (hot & (np.arange(kept) % 2 == 0))[owner]
        centres = np.round(dice.random(kept)[owner] * 4096) / 4096
        when[bursts] = centres[bursts] + when[bursts] * min(PER_TRANSACTION / self.many, 1) / 2
        return owner[np.argsort(when, kind="stable")], made

    def told(self) -> Iterator[tuple[int, Told]]:
        """The claims with the number of their slot; their times are those of their places in this order."""
        order, slots = self._order()
        current: dict[int, str] = {}
        begun: dict[int, Instant] = {}
        last: dict[int, Instant] = {}
        used: defaultdict[int, set[str]] = defaultdict(set)
        # A turn was said up to so much before the place of its claims.
        turn = 4 * self.step
        for place, (slot, (one, two, three)) in enumerate(zip(order.tolist(), self._throws(len(order)), strict=True)):
            subject, predicate = slots[slot]
            said = START + place * self.step
            start = end = None
            kind = ClaimKind.STATE
            value = self._value(predicate, three, subject)
            if predicate in _ONE:
                if one < 0.1 and slot in current:
                    value = current[slot]
                current[slot] = value
                before = last.get(slot, said - 90 * DAY)
                if two < 0.3 and said - before > 2 * turn:
                    start = said - turn - int((said - before - 2 * turn) * two)
                last[slot] = said
            else:
                standing = current.pop(slot, None)
                if standing is not None and one < 0.5:
                    # With its start: an end alone tells that it may have been so since ever.
                    kind, value, start = ClaimKind.END, standing, begun[slot]
                elif two < 0.2 and value not in used[slot]:
                    end = said - turn - int(30 * DAY * one)
                    start = end - MINUTE - int(400 * DAY * one)
                    # Nothing else is told of it: what has ended would end the rest too.
                    value = f"{value} {place}"
                elif value not in used[slot]:
                    current[slot], begun[slot] = value, said
                used[slot].add(value)
            yield slot, Told(subject, predicate, value, kind, start, end)

    def _throws(self, many: int) -> Iterator[list[float]]:
        for first in range(0, many, _AT_A_TIME):
            yield from self._dice.random((min(_AT_A_TIME, many - first), 3)).tolist()

    def _value(self, predicate: str, chance: float, subject: int) -> str:
        pool = _ONE.get(predicate) or _MANY[predicate]
        if pool == "e":
            other = int(chance * (self.entities - 1))
            return self._names[other + (other >= subject)]
        # Few values are frequent, most are rare.
        number = int(self._values[pool] ** chance) - 1
        return f"{self._words[(number * 31 + ord(pool)) % VOCABULARY].title()}{pool}{number}"

    def sessions(self) -> Iterator[Session]:
        """All transactions in their order: turns of some claims, in conversations of two speakers."""
        parts = range(0, self.many * WORDS, _AT_A_TIME)
        dice = np.random.default_rng(3)
        drawn = [np.minimum(dice.zipf(1.25, _AT_A_TIME) - 1, VOCABULARY - 1).astype(np.int16) for _ in parts]
        words = np.concatenate(drawn)[: self.many * WORDS].reshape(-1, WORDS)
        lengths = self._dice.integers(1, 5, self.many)
        found: list[tuple[EpisodeDraft, list[ClaimDraft], list[str]]] = []
        turns, facts = count(), 0
        waiting: list[Told] = []
        slots: set[int] = set()
        said = START
        for place, (slot, told) in enumerate(self.told()):
            # A turn says one thing of a slot: two of equal time would tie.
            if waiting and (slot in slots or len(waiting) >= lengths[place]):
                found.append(self._turn(next(turns), said, waiting, words[place - len(waiting) : place].tolist()))
                facts += len(waiting)
                waiting, slots = [], set()
                if facts >= PER_TRANSACTION:
                    yield Session(said + MINUTE, found)
                    found, facts = [], 0
            if not waiting:
                said = START + place * self.step
            waiting.append(told)
            slots.add(slot)
        found.append(self._turn(next(turns), said, waiting, words[self.many - len(waiting) :].tolist()))
        yield Session(said + MINUTE, found)

    def _turn(
        self, number: int, said: Instant, told: Sequence[Told], words: Sequence[Sequence[int]]
    ) -> tuple[EpisodeDraft, list[ClaimDraft], list[str]]:
        group, place = divmod(number, TURNS)
        speaker = self._names[(group * 7 + place % 2) % self.entities]
        text = ""
        drafts = []
        for fact, fill in zip(told, words, strict=True):
            some = [self._words[each] for each in fill]
            subject = self._names[fact.subject]
            text += f"{' ' if text else ''}{' '.join(some[:3])} "
            clause = f"{subject} {_ENDS[fact.kind]}{fact.predicate.replace('_', ' ')} {fact.value}"
            start = len(text)
            text += f"{clause} {' '.join(some[3:])}."
            stated = [None if at is None else format_instant(at) for at in (fact.start, fact.end)]
            drafts.append(
                ClaimDraft(
                    subject,
                    fact.predicate,
                    ObjectDraft(fact.value),
                    kind=fact.kind,
                    valid_from=stated[0],
                    valid_to=stated[1],
                    start=start,
                    end=start + len(clause),
                    rule="benchmark",
                    confidence=0.9,
                )
            )
        episode = EpisodeDraft(text, "chat", f"turn {number}", f"session {group}", speaker, said_at=format_instant(said))
        return episode, drafts, []

    def question(self, number: int) -> str:
        """A question of its own: an entity, a predicate and some words, rare and frequent ones."""
        dice = np.random.default_rng((11, number))
        predicate = [*_ONE, *_MANY][int(dice.integers(len(_ONE) + len(_MANY)))]
        some = [self._words[int(each)] for each in (dice.integers(30, 200), dice.integers(200, VOCABULARY), dice.integers(30, 1000))]
        return f"what {predicate.replace('_', ' ')} {self._names[int(dice.integers(self.entities))]} {' '.join(some)}"


def secret_of(seed: int) -> bytes:
    """The ledger's secret."""
    return blake2b(str(seed).encode(), digest_size=32).digest()


def begun(folder: Path, vocabulary: Vocabulary, seed: int) -> None:
    """A ledger without transactions."""
    folder.mkdir(parents=True, exist_ok=True)
    engine = open_database(f"sqlite:///{folder / LEDGER}")
    with engine.execution_options(writes=True).begin() as connection:
        connection.execute(insert(settings), {"name": "secret", "value": secret_of(seed)})
    engine.dispose()
    open_graph(folder, vocabulary, kind="sql").close()


class _Remembering(Keys):
    """Keys that make those of names and slots, which come again and again, once."""

    def __init__(self, secret: bytes) -> None:
        super().__init__(secret)
        self.entity = cache(super().entity)  # type: ignore[method-assign]
        self.slot = cache(super().slot)  # type: ignore[method-assign]


@dataclass(slots=True)
class _Named:
    """A thing: how often each name and type is given to it, since when, and its last row."""

    datatype: str | None
    names: Counter[str] = field(default_factory=Counter)
    types: Counter[str] = field(default_factory=Counter)
    since: dict[tuple[str, str], int] = field(default_factory=dict)
    best: tuple[str, str | None] | None = None
    row: int = 0


_RECTANGLE = tuple(column.name for column in statements.columns)


class Loading:
    """Writes what committing sessions would."""

    def __init__(self, connection: Connection, keys: Keys, vocabulary: Vocabulary) -> None:
        self._connection = connection
        self._keys = keys
        self._vocabulary = vocabulary
        self._inserts = {table.name: BulkInsert(table) for table in (claims, statements, things)}
        self._things: dict[str, _Named] = {}
        # The open rectangle of each unit of resolution, as a tuple: there are very many.
        self._standing: dict[str, tuple[Any, ...]] = {}
        self._rows = {"statements": 0, "things": 0}
        self._waiting: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        self._ended: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        self._one_valued = {name: vocabulary.predicate(name).cardinality == "one" for name in (*_ONE, *_MANY)}
        self.number = 0

    def add(self, session: Session) -> None:
        """The rows of one transaction."""
        self.number += 1
        preparer = Preparer(NAMESPACE, self._keys, self._vocabulary, session.at, lambda _: None)
        prepared = [preparer.extracted(draft, drafts, flags, EXTRACTOR, "EXTRACTED") for draft, drafts, flags in session.episodes]
        lives = {"tx_from": self.number, "tx_to": OPEN}
        for episode in prepared:
            assert not episode.warnings, episode.warnings
            self._waiting["episodes"].append({**episode.row, **lives, "tx_recorded": self.number, "tx_extracted": self.number})
            for claim in episode.claims:
                claim.update(lives, said=episode.row["said"])
            self._waiting["claims"] += episode.claims
        self._believe(prepared)
        self._name(prepared)
        row = {"number": self.number, "namespace": NAMESPACE, "at": session.at, "kind": "ingest", "actor": "local", "reason": None}
        self._waiting["transactions"].append(row)
        if len(self._waiting["claims"]) >= 20 * PER_TRANSACTION:
            self._write()

    def _believe(self, prepared: Sequence[PreparedEpisode]) -> None:
        """Rectangles that begin and end with what is told; those that begin and end within a transaction are written once."""
        begun: list[dict[str, Any]] = []
        fresh: dict[str, dict[str, Any]] = {}
        for episode in prepared:
            for claim in episode.claims:
                unit = self._unit(claim["predicate"], claim["slot"], claim["proposition"])
                polarity = claim["kind"] != "END"
                start = claim["said"] if claim["from_lo"] is None or not polarity else claim["from_lo"]
                wanted = (claim["proposition"], polarity)
                what = fresh.get(unit)
                if what is not None:
                    if (what["base"], what["polarity"]) == wanted:
                        continue
                    what["v_to"] = start
                elif (known := self._standing.get(unit)) is not None:
                    what = dict(zip(_RECTANGLE, known, strict=True))
                    if (what["base"], what["polarity"]) == wanted:
                        continue
                    self._ended["statements"].append((self.number, what["row"]))
                    begun.append({**what, "v_to": start, "tx_from": self.number})
                what = self._rectangle(claim, polarity, start)
                begun.append(what)
                if claim["to_lo"] is None:
                    fresh[unit] = what
        for what in begun:
            self._rows["statements"] += 1
            what["row"] = self._rows["statements"]
        for unit, what in fresh.items():
            self._standing[unit] = tuple(what[column] for column in _RECTANGLE)
        self._waiting["statements"] += begun

    def _unit(self, predicate: str, slot: str, proposition: str) -> str:
        return slot if self._one_valued[predicate] else proposition

    def _rectangle(self, claim: dict[str, Any], polarity: bool, start: Instant) -> dict[str, Any]:
        return {
            "row": 0,
            "namespace": NAMESPACE,
            "proposition": claim["proposition"] if polarity else self._keys.denial(claim["proposition"]),
            "base": claim["proposition"],
            "slot": claim["slot"],
            "inverse_slot": claim["inverse_slot"],
            "subject": claim["subject"],
            "predicate": claim["predicate"],
            "qualifier": claim["qualifier"],
            "object": claim["object"],
            "object_is_literal": claim["datatype"] is not None,
            "polarity": polarity,
            "v_from": start,
            "v_to": UNBOUNDED_FUTURE if claim["to_lo"] is None else claim["to_lo"],
            "tx_from": self.number,
            "tx_to": OPEN,
        }

    def _name(self, prepared: Sequence[PreparedEpisode]) -> None:
        """Names and types as they are attested by now; another row for a thing where the best ones are others."""
        touched: dict[str, _Named] = {}
        for episode in prepared:
            for claim in episode.claims:
                for side in naming_sides(claim):
                    key = claim[side]
                    thing = self._things.get(key)
                    if thing is None:
                        thing = self._things[key] = _Named(claim["datatype"] if side == "object" else None)
                    touched[key] = thing
                    text, type = claim[f"{side}_text"], claim[f"{side}_type"]
                    thing.names[text] += 1
                    thing.since.setdefault(("name", text), self.number)
                    if type is not None:
                        thing.types[type] += 1
                        thing.since.setdefault(("type", type), self.number)
        for key, thing in touched.items():
            named = (best(thing.names), best(thing.types) if thing.types else None)
            if named == thing.best:
                continue
            if thing.best is not None:
                self._ended["things"].append((self.number, thing.row))
            self._rows["things"] += 1
            thing.best, thing.row = named, self._rows["things"]
            folded = normalise(named[0])
            row = {"row": thing.row, "namespace": NAMESPACE, "key": key, "datatype": thing.datatype, "name": named[0], "folded": folded}
            self._waiting["things"].append({**row, "type": named[1], "own": folded, "tx_from": self.number, "tx_to": OPEN})

    def _write(self) -> None:
        for name, rows in self._waiting.items():
            if name == "transactions":
                self._connection.execute(insert(transactions), rows)
            elif name == "episodes":
                self._connection.execute(insert(episodes), rows)
            else:
                self._inserts[name](self._connection, rows)
        for name, ended in self._ended.items():
            self._connection.exec_driver_sql(f"UPDATE {name} SET tx_to = ? WHERE row = ?", ended)
        self._waiting.clear()
        self._ended.clear()

    def finish(self) -> None:
        """What is left, and how often each name is given."""
        self._write()
        write = BulkInsert(labels)
        rows: list[dict[str, Any]] = []
        for key, thing in self._things.items():
            counted = {"name": thing.names, "type": thing.types}
            rows += [
                {"thing": key, "kind": kind, "value": value, "count": counted[kind][value], "tx_from": since, "tx_to": OPEN}
                for (kind, value), since in thing.since.items()
            ]
            if len(rows) > 50_000:
                write(self._connection, rows)
                rows = []
        write(self._connection, rows)


def load(folder: Path, facts: Facts, *, seed: int = 7, vocabulary: Vocabulary | None = None) -> None:
    """Write the ledger of some facts in a new folder."""
    vocabulary = vocabulary or load_vocabulary()
    begun(folder, vocabulary, seed)
    engine = open_database(f"sqlite:///{folder / LEDGER}")
    # Only for loading: a power cut may spoil it.
    event.listen(engine, "connect", lambda connection, _: connection.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF"))
    engine.dispose()
    with engine.execution_options(writes=True).begin() as connection:
        # Indexes of random keys are made much faster at once than row by row.
        found = connection.exec_driver_sql("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL ORDER BY rowid")
        indexes = [tuple(row) for row in found]
        for index, _ in indexes:
            connection.exec_driver_sql(f"DROP INDEX {index}")
        loading = Loading(connection, _Remembering(secret_of(seed)), vocabulary)
        for session in facts.sessions():
            loading.add(session)
        loading.finish()
        for _, made in indexes:
            connection.exec_driver_sql(made)
    engine.dispose()


def join(graph: LedgerGraph, facts: Facts, many: int) -> None:
    """Join pairs of entities, as somebody would by hand."""
    dice = np.random.default_rng(13)
    while many:
        keys = [graph.keys.entity(NAMESPACE, name(int(each))) for each in dice.choice(facts.entities, 2, replace=False)]
        # Not every name was told of.
        with suppress(NotFound):
            graph.merge(NAMESPACE, keys)
            many -= 1


def store_vectors(graph: LedgerGraph, dim: int, *, seed: int = 5) -> int:
    """Give all documents vectors of random directions, as if their embedder had made them; answers with how many texts there were."""
    dice = np.random.default_rng(seed)
    total = 0
    while texts := graph.unembedded(16_384):
        graph.record_vectors(texts, unit_rows(dice.standard_normal((len(texts), dim), dtype=np.float32)))
        total += len(texts)
    return total


def opened(folder: Path, embedder: Choice | None) -> LedgerGraph:
    """The graph of a folder; without graph files, which recall does not need."""
    return open_graph(folder, load_vocabulary(), kind="sql", embedder=embedder)


def main() -> None:
    """Write a ledger and say how long it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--claims", type=int, default=1_000_000)
    options = parser.parse_args()
    started = time.perf_counter()
    load(options.folder, Facts(options.claims))
    print(f"{options.claims:,} claims in {time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
