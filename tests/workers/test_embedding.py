"""Embedding in the background."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from graph.recall.embedding.choosing import EmbedderFactory
from graph.recall.embedding.hashing import HashingEmbedder
from tests.workers.embedding import ForgetfulEmbedder, ObedientEmbedder, Texts, absent
from workers.embedding import BATCH, Embedding
from workers.processes import ATTEMPTS


@contextmanager
def embedding(
    graph: Texts, factory: EmbedderFactory = ObedientEmbedder, *, workers: int = 0, chunk: int = 4, pause: float = 0.001
) -> Iterator[Embedding]:
    """One that is closed at the end."""
    found = Embedding(graph, factory, workers=workers, chunk=chunk, pause=pause)
    try:
        yield found
    finally:
        found.close()


def until(so: Callable[[], bool]) -> None:
    """Wait for something, up to ten seconds."""
    end = time.monotonic() + 10
    while not so():
        assert time.monotonic() < end
        time.sleep(0.002)


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_all_that_is_wanted_gets_its_vector_in_the_order_wanted(workers: int) -> None:
    texts = [f"text {number}" for number in range(BATCH + 21)]
    graph = Texts(*texts)
    with embedding(graph, workers=workers, chunk=32) as work:
        assert work.finish(60)
        assert work.degraded is None
    assert graph.order == texts
    assert graph.parts[:2] == [32, 32]
    expected = HashingEmbedder().embed_documents(texts)
    assert np.frombuffer(b"".join(graph.vectors[text] for text in texts), dtype=np.float32).tobytes() == expected.tobytes()


def test_notifying_wakes_it() -> None:
    graph = Texts()
    with embedding(graph) as work:
        work.start()
        work.start()
        graph.texts.append("tea")
        work.notify()
        until(lambda: "tea" in graph.vectors)


def test_finishing_with_nothing_to_do_is_done_and_after_closing_it_is_not() -> None:
    with embedding(Texts()) as work:
        assert work.finish(10)
        assert work.finish(10)
    assert not work.finish(1)


def test_finishing_gives_up_at_its_time() -> None:
    with embedding(Texts(*(f"sleep {number}" for number in range(8))), chunk=1) as work:
        assert not work.finish(0.01)


def test_closing_waits_for_the_texts_at_hand_alone() -> None:
    graph = Texts(*(f"sleep {number}" for number in range(100)))
    with embedding(graph, chunk=1) as work:
        work.start()
        until(lambda: bool(graph.order))
        started = time.monotonic()
    assert time.monotonic() - started < 2
    assert len(graph.order) < 50


def test_closing_what_never_started_is_quick() -> None:
    with embedding(Texts("tea"), workers=1):
        pass


@pytest.mark.parametrize("workers", [0, 1])
def test_a_text_that_fails_is_left_alone_and_costs_no_other_its_vector(workers: int, caplog: pytest.LogCaptureFixture) -> None:
    order = "die" if workers else "fail"
    graph = Texts("tea", f"{order} secretly", "coffee", "milk", "juice")
    with embedding(graph, workers=workers) as work:
        assert not work.finish(60)
        # Of what is wanted at a time the short ones first: texts of one length come together.
        assert graph.order == ["tea", "milk", "juice", "coffee"]
        assert work.degraded == "1 texts could not be embedded; they are left alone until the next start"
        graph.texts.append("water")
        work.finish(60)
        assert "water" in graph.vectors
    assert "secretly" not in caplog.text


@pytest.mark.parametrize("workers", [0, 1])
def test_an_embedder_that_is_away_is_told_and_tried_again(workers: int, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    marker = tmp_path / "back"
    graph = Texts(f"unavailable {marker}", "tea")
    with embedding(graph, workers=workers) as work:
        assert not work.finish(60)
        assert work.degraded == "texts wait for their vectors: the embedder is told to be away; bring it back"
        marker.touch()
        until(lambda: len(graph.vectors) == 2)
        until(lambda: work.degraded is None)
        assert work.finish(60)
    told = [record for record in caplog.records if record.levelno >= logging.WARNING]
    # Once, however often it was tried.
    assert ["it is tried again" in record.message for record in told] == [True]


@pytest.mark.parametrize("workers", [0, 1])
def test_an_embedder_that_cannot_be_loaded_is_told(workers: int) -> None:
    with embedding(Texts("tea"), absent, workers=workers) as work:
        assert not work.finish(60)
        assert work.degraded == "texts wait for their vectors: the model is missing; install it"


def test_pauses_grow_and_finishing_does_not_wait_for_them() -> None:
    graph = Texts("unavailable /nowhere/at/all")
    with embedding(graph, pause=3600) as work:
        work.start()
        until(lambda: work.degraded is not None)
        graph.texts = ["tea"]
        work.notify()
        time.sleep(0.02)
        assert not graph.vectors
        assert work.finish(10)


def test_texts_that_all_fail_are_no_fault_of_theirs_until_they_stand_in_the_way() -> None:
    graph = Texts(*(f"fail {number}" for number in range(ATTEMPTS)), *(f"text {number}" for number in range(6)))
    with embedding(graph) as work:
        assert not work.finish(10)
        assert "fails at text after text: told to fail" in (work.degraded or "")
        until(lambda: len(graph.vectors) == 6)
        until(lambda: f"{ATTEMPTS} texts" in (work.degraded or ""))


def test_vectors_that_cannot_be_kept_are_made_again() -> None:
    graph = Texts("tea")
    graph.broken = 2
    with embedding(graph) as work:
        assert work.finish(10)
    assert list(graph.vectors) == ["tea"]


def test_a_graph_that_wants_the_same_again_is_not_served_for_ever() -> None:
    class Insatiable(Texts):
        def unembedded(self, limit: int = 256) -> list[str]:
            return self.texts

    graph = Insatiable("tea")
    with embedding(graph) as work:
        assert not work.finish(10)
        assert "left alone" in (work.degraded or "")
    assert graph.order == ["tea"]


def test_an_embedder_that_makes_too_few_vectors_is_told() -> None:
    with embedding(Texts("tea", "coffee"), ForgetfulEmbedder) as work:
        assert not work.finish(10)
        assert "made 1 vectors of 2 texts" in (work.degraded or "")
