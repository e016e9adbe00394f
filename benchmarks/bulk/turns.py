"""Turns of conversations through `ingestEpisodes` until the last one is extracted, and read questions beside them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Event, Thread

from api.cli.importing import episode_input
from benchmarks.bulk.running import Running
from ontology.episode import EpisodeDraft

INGEST = """mutation($input: [EpisodeInput!]!) { ingestEpisodes(input: $input) { __typename
  ... on IngestEpisodesPayload { job { id } } ... on Error { code message } ... on OverloadedError { retryAfter } } }"""
STATS = "{ stats { pendingEpisodes statements } }"
BASIS = "{ asOf { basis { indexVersion } } }"
NAMES = "{ asOf { entities(first: 50) { edges { node { key } } } } }"
READ = "query($id: ID!) { asOf { entity(id: $id) { name statements(first: 20) { edges { node { text validTime { from } } } } } } }"
CALL = 250
"""Episodes of one call."""
PAUSE = 0.02
"""Seconds between two reads."""


@dataclass
class Went:
    """How one run went: seconds until everything was extracted, and until it had its vectors; milliseconds of reads meanwhile."""

    turns: int
    extracted: float = 0.0
    embedded: float = 0.0
    reads: list[float] = field(default_factory=list)
    idle: list[float] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)


def ingest(service: Running, drafts: Sequence[EpisodeDraft], *, embeds: bool = False, reads: bool = False) -> Went:
    """Hand in everything as fast as it is taken, and wait for it."""
    went = Went(len(drafts))
    stop = Event()
    reader = Thread(target=_read, args=(service, went.reads, stop), daemon=True)
    start = time.perf_counter()
    if reads:
        reader.start()
    for first in range(0, len(drafts), CALL):
        _hand_in(service, [episode_input(draft) for draft in drafts[first : first + CALL]])
        went.memory.append(service.memory())
    while service.ask(STATS)["stats"]["pendingEpisodes"]:
        time.sleep(0.1)
        went.memory.append(service.memory())
    went.extracted = time.perf_counter() - start
    stop.set()
    if reads:
        reader.join()
    while embeds and "waiting" in service.ask(BASIS)["asOf"]["basis"]["indexVersion"]:
        time.sleep(0.1)
    went.embedded = time.perf_counter() - start
    return went


def _hand_in(service: Running, episodes: list[dict[str, object]]) -> None:
    while True:
        result = service.ask(INGEST, input=episodes)["ingestEpisodes"]
        if result["__typename"] == "IngestEpisodesPayload":
            return
        if result["__typename"] != "OverloadedError":
            raise RuntimeError(str(result))
        time.sleep(result["retryAfter"])


def idle_reads(service: Running, seconds: float) -> list[float]:
    """Milliseconds of reads while nothing else goes on."""
    found: list[float] = []
    stop = Event()
    reader = Thread(target=_read, args=(service, found, stop), daemon=True)
    reader.start()
    stop.wait(seconds)
    stop.set()
    reader.join()
    return found


def _read(service: Running, times: list[float], stop: Event) -> None:
    """Ask for what is known of one entity after the other."""
    keys: list[str] = []
    number = 0
    while not stop.wait(PAUSE):
        if len(keys) < 50 and number % 50 == 0:
            keys = [edge["node"]["key"] for edge in service.ask(NAMES)["asOf"]["entities"]["edges"]]
        number += 1
        if not keys:
            continue
        start = time.perf_counter()
        service.ask(READ, id=keys[number % len(keys)])
        times.append((time.perf_counter() - start) * 1000)
