"""What all are measured with: 1,000 facts, 100 questions, one embedder without a model, and no network.

Needs nothing but numpy: it runs in every peer's environment.
"""

from __future__ import annotations

import json
import re
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

DIM = 384
TOP = 10
BATCH = 100
WARM_UP = 10
START = datetime(2024, 1, 1, tzinfo=UTC)

FIRST = ("Maya", "Tomas", "Ines", "Kofi", "Lena", "Ravi", "Sofia", "Jonas", "Aiko", "Omar")
LAST = ("Lindqvist", "Okafor", "Moreau", "Tanaka", "Novak", "Silva", "Haddad", "Keller", "Iyer", "Brandt")
THINGS = ("Brightwater", "Copperfield", "Northgate", "Silverline", "Oakhurst", "Redstone", "Fairview", "Clearbrook", "Ironwood", "Windmere")
KINDS = ("Labs", "Works", "Hall", "Press", "Systems", "Valley", "Studio", "Harbour", "Trust", "Union")
FORMS = {
    "works_at": ("{s} works at {o}.", "Where does {s} work?"),
    "lives_in": ("{s} lives in {o}.", "In which place does {s} live?"),
    "has_role": ("{s} has the role of {o} lead.", "What role does {s} have?"),
    "uses": ("{s} uses {o} every day.", "What does {s} use?"),
    "likes": ("{s} likes {o} a lot.", "What does {s} like?"),
    "knows": ("{s} knows {o} from school.", "Whom does {s} know from school?"),
    "speaks": ("{s} speaks {o}.", "Which language does {s} speak?"),
    "owns": ("{s} owns {o}.", "What does {s} own?"),
    "works_on": ("{s} works on {o} this year.", "What does {s} work on this year?"),
    "member_of": ("{s} is a member of {o}.", "What is {s} a member of?"),
}
"""By predicate a sentence that states it, and a question that it answers."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact with the sentence that states it, when that was said, and a question that it answers."""

    subject: str
    predicate: str
    object: str
    sentence: str
    question: str
    said: datetime


def facts() -> list[Fact]:
    """100 people with ten facts each, in an order that mixes them."""
    random = Random(17)
    people = [f"{first} {last}" for first in FIRST for last in LAST]
    pairs = [(person, predicate) for person in people for predicate in FORMS]
    random.shuffle(pairs)
    found = []
    for number, (person, predicate) in enumerate(pairs):
        value = f"{random.choice(THINGS)} {random.choice(KINDS)} {random.randrange(100)}"
        sentence, question = (form.format(s=person, o=value) for form in FORMS[predicate])
        found.append(Fact(person, predicate, value, sentence, question, START + timedelta(minutes=number)))
    return found


def batches(all_facts: Sequence[Fact], size: int) -> Iterator[Sequence[Fact]]:
    """The facts in lists of a size."""
    return (all_facts[start : start + size] for start in range(0, len(all_facts), size))


def asked(all_facts: Sequence[Fact]) -> list[Fact]:
    """The facts whose questions are asked: every tenth, and before them some others to warm up."""
    return [*all_facts[5 : 5 + 10 * WARM_UP : 10], *all_facts[::10]]


def embed(text: str) -> NDArray[np.float32]:
    """(DIM,): the words of a text and the letters at their beginnings, hashed, at unit length."""
    row = np.zeros(DIM)
    for word in re.findall(r"\w+", text.lower()):
        for feature, weight in ((word, 1.0), (word[:4], 0.5)):
            number = int.from_bytes(blake2b(feature.encode(), digest_size=8).digest(), "little")
            row[(number >> 1) % DIM] += weight if number & 1 else -weight
    length = float(np.sqrt((row * row).sum()))
    return (row / (length or 1.0)).astype(np.float32)


def numbers(text: str) -> list[float]:
    """The same as a list, which is what the peers take."""
    found: list[float] = embed(text).tolist()
    return found


class HashEmbedder:
    """`embed` as an embedder of ours."""

    id = f"peers/1/{DIM}"
    dim = DIM

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n, DIM)."""
        return np.array([embed(text) for text in texts], dtype=np.float32).reshape(len(texts), DIM)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """(DIM,)."""
        return embed(text)


@dataclass(frozen=True, slots=True)
class Measured:
    """One row of the table. `found` is the share of questions whose fact is among the first TOP answers.

    The times of the processor (of all threads) are what another load on the machine changes least.
    """

    name: str
    version: str
    ingest_seconds: float
    ingest_cpu_seconds: float
    facts_per_second: float
    search_p50_ms: float | None = None
    search_p95_ms: float | None = None
    search_cpu_ms: float | None = None
    found: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Taken:
    """Seconds, by the clock and of the processor."""

    clock: float
    processor: float


def now() -> Taken:
    """What both clocks show."""
    return Taken(time.perf_counter(), time.process_time())


def since(start: Taken) -> Taken:
    """What has been taken since."""
    end = now()
    return Taken(end.clock - start.clock, end.processor - start.processor)


@dataclass(frozen=True, slots=True)
class Searched:
    """Of searches after the warm-up: milliseconds of each, the processor's of one on average, the share that found its fact."""

    times: list[float]
    processor: float
    found: float


def measured(name: str, version: str, taken: Taken, count: int, note: str, searches: Searched | None) -> Measured:
    """A row, with or without searches."""
    found = Measured(name, version, taken.clock, taken.processor, count / taken.clock, note=note)
    if searches is None:
        return found
    times = sorted(searches.times)
    middle, late = times[len(times) // 2], times[int(len(times) * 0.95)]
    return replace(found, search_p50_ms=middle, search_p95_ms=late, search_cpu_ms=searches.processor, found=searches.found)


def searched(all_facts: Sequence[Fact], search: Callable[[str], Sequence[str]]) -> Searched:
    """Asks every question; `search` gives texts, best first."""
    times, hits, processor = [], 0, 0.0
    for place, fact in enumerate(asked(all_facts)):
        started = now()
        texts = search(fact.question)
        taken = since(started)
        if place >= WARM_UP:
            times.append(taken.clock * 1e3)
            processor += taken.processor * 1e3
            hits += any(fact.object in text for text in texts[:TOP])
    return Searched(times, processor / len(times), hits / len(times))


def offline() -> None:
    """From here on, reaching for any other machine fails at once: no peer may wait for a network, nor use one."""
    connect = socket.socket.connect

    def local_only(self: socket.socket, address: Any) -> None:
        if self.family != socket.AF_UNIX and address[0] not in ("127.0.0.1", "::1", "localhost"):
            raise OSError(f"no network here: {address[0]}")
        connect(self, address)

    def no_names(host: Any, *_arguments: Any, **_options: Any) -> Any:
        raise OSError(f"no network here: {host}")

    socket.socket.connect = local_only  # type: ignore[method-assign, assignment]
    socket.getaddrinfo = no_names


def report(file: Path, rows: Sequence[Measured]) -> None:
    """Write the rows as JSON."""
    file.write_text(json.dumps([asdict(row) for row in rows], indent=1))
