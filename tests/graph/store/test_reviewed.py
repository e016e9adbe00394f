"""A graph follows a ledger in which claims are rejected, restored and read again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from graph.ledger.database import open_database
from graph.service import LedgerGraph
from graph.store.feed import Feed
from graph.store.kuzu_engine import KuzuStore
from ontology.loading import load_vocabulary
from ontology.vocabulary import Vocabulary
from tests.graph.ledger.conftest import NoProjection
from tests.graph.ledger.reading import episode, ids, read
from tests.graph.ledger.saying import claim
from tests.graph.store.conftest import SETTINGS
from tests.graph.store.pictures import picture

VOCABULARY = load_vocabulary()


def vocabulary_at(_transaction: int) -> Vocabulary:
    return VOCABULARY


@pytest.mark.parametrize("step", [1, 3])
def test_a_graph_that_follows_is_the_graph_that_is_built_whole(tmp_path: Path, step: int) -> None:
    engine = open_database(f"sqlite:///{tmp_path / 'ledger.db'}")
    ledger = LedgerGraph(engine, VOCABULARY, lambda _: NoProjection())
    follower = KuzuStore(tmp_path / "pieces.kuzu", Feed(engine, vocabulary_at).keys, SETTINGS)
    whole = KuzuStore(tmp_path / "whole.kuzu", Feed(engine, vocabulary_at).keys, SETTINGS)

    def follow() -> None:
        for batch in Feed(engine, vocabulary_at).batches(follower.watermark()):
            follower.apply(batch)

    def again(*words: str, confidence: float = 0.9) -> None:
        (found,) = ledger.extracted("n")[:1]
        ledger.reextract("n", found, [claim(one, confidence=confidence) for one in words], extractor="test 2")

    try:
        read(ledger, episode("one"), "Anna works_at Acme", "Anna likes tea")
        read(ledger, episode("two", "2024-02-01"), "Anna works_at Acme", "not Anna likes tea")
        wrong = ids(ledger, "Anna works_at Acme", "Anna likes tea")
        acts: list[Callable[[], object]] = [
            lambda: ledger.reject("n", wrong, reason="wrong"),
            lambda: again("Anna likes tea"),
            lambda: ledger.restore("n", wrong),
            lambda: again("Anna works_at Acme", "Anna likes tea", confidence=0.8),
            lambda: ledger.reject("n", wrong[1:], reason="wrong"),
            lambda: again("Anna works_at Initech"),
            lambda: ledger.restore("n", wrong[1:]),
        ]
        for number, act in enumerate(acts):
            act()
            if number % step == 0:
                follow()
        follow()
        feed = Feed(engine, vocabulary_at)
        whole.load(feed.whole(feed.last()))
        assert picture(follower) == picture(whole)
    finally:
        follower.close()
        whole.close()
        ledger.close()
