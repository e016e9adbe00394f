"""The owner of a ledger in a process of its own: `python -m tests.workers.broker.owner FOLDER EPISODES SEED [TRANSCRIPT]`.

It takes in the episodes of `talk`, or turns of a transcript, and ends when none of them waits. ERSTWHILE_TEST_CRASH="settle 3" ends it
as a crash does before its third call of that name: `settle` comes after a commit, `complete` before one, `note_sent` between sending
and noting it.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from graph.opening import open_graph
from graph.work import Offered
from ontology.episode import EpisodeDraft
from ontology.loading import load_vocabulary
from workers.broker.dispatch import RedisDispatch
from workers.broker.settings import read_settings
from workers.pipeline import Pipeline
from workers.readers import read_path

CALL = 1000
"""Episodes that are taken in at a time."""


def talk(number: int, seed: int = 0) -> list[EpisodeDraft]:
    """Episodes that contradict and confirm each other, of some conversations."""
    random = Random(seed)
    places = [f"Place{each}" for each in range(7)]
    drafts = []
    for row in range(number):
        name = f"Person{random.randrange(12)}"
        said = [
            f"{name} works_at {random.choice(places)}",
            f"{name} lives_in {random.choice(places)}",
            f"{name} likes {random.choice(places)}",
        ]
        text = " and ".join(random.sample(said, random.randrange(4))) or "nothing worth keeping"
        day = f"2024-{1 + row % 12:02}-{1 + row // 12 % 28:02}T{row % 24:02}:00:00Z"
        drafts.append(EpisodeDraft(f"{text}. sleep 0.01", "test", external_id=f"e{row}", group=f"g{row % 5}", speaker=name, said_at=day))
    return drafts


def drafts_of(number: int, seed: int, transcript: Path | None) -> list[EpisodeDraft]:
    """Turns of a transcript, told again under other IDs until there are enough; or a talk."""
    if transcript is None:
        return talk(number, seed)
    found = [item for item in read_path(transcript) if isinstance(item, EpisodeDraft)]
    return [replace(found[row % len(found)], external_id=f"{row}/{found[row % len(found)].external_id}") for row in range(number)]


def crashing(call: Callable[..., Any], at: int) -> Callable[..., Any]:
    """A function that ends the process before its `at`-th call."""
    calls = [0]

    def counted(*args: Any, **named: Any) -> Any:
        calls[0] += 1
        if calls[0] == at:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*args, **named)

    return counted


def main(folder: Path, number: int, seed: int, transcript: Path | None) -> None:
    """Own the ledger until nothing waits."""
    vocabulary = load_vocabulary()
    graph = open_graph(folder, vocabulary, kind="sql")
    dispatch = RedisDispatch(read_settings(), vocabulary, graph.backlog.find)
    backlog: Any = graph.backlog
    name, _, at = os.environ.get("ERSTWHILE_TEST_CRASH", "").partition(" ")
    if name:
        target: Any = dispatch if hasattr(dispatch, name) else backlog
        setattr(target, name, crashing(getattr(target, name), int(at)))
    pipeline = Pipeline(backlog, dispatch, reconciling=1.0, pause=0.1)
    pipeline.start()
    drafts = drafts_of(number, seed, transcript)
    for first in range(0, number, CALL):
        graph.jobs.accept("default", [Offered(draft) for draft in drafts[first : first + CALL]])
        pipeline.wake()
    while backlog.view().waiting:
        time.sleep(0.02)
    pipeline.close()
    graph.close()


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(asctime)s owner %(name)s: %(message)s")
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]) if sys.argv[4:] else None)
