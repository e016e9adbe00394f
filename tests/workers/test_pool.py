"""The extraction pool by itself."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ontology.episode import Turn
from tests.workers.extracting import TellingExtractor, TripleExtractor
from workers.pool import ExtractionFailed, ExtractionPool, Left


@pytest.fixture(scope="module")
def pool() -> Iterator[ExtractionPool]:
    found = ExtractionPool(TripleExtractor, workers=2)
    yield found
    found.close()


def turn(text: str) -> Turn:
    """A turn of somebody, said some time."""
    return Turn("", text, 0)


def test_claims_come_back_with_the_name_of_the_extractor(pool: ExtractionPool) -> None:
    extractor, claims = pool.extract([turn("Ada likes tea"), turn("nothing"), turn("Bo likes jazz, Cy likes chess")])
    assert extractor == "triples/1"
    assert [[claim.subject for claim in of_turn] for of_turn in claims] == [["Ada"], [], ["Bo", "Cy"]]


def test_what_the_extractor_raises_is_raised_here(pool: ExtractionPool) -> None:
    with pytest.raises(ValueError, match="told to fail"):
        pool.extract([turn("fail")])


def test_a_text_that_kills_its_process_takes_no_other_along(pool: ExtractionPool, tmp_path: Path) -> None:
    go = tmp_path / "go"
    with ThreadPoolExecutor(2) as threads:
        innocent = threads.submit(pool.extract, [turn(f"wait for {go} Ada likes tea")])
        with pytest.raises(ExtractionFailed):
            pool.extract([turn("die always")])
        go.touch()
        assert len(innocent.result()[1][0]) == 1
    assert pool.extract([turn("Ada likes tea")])[1][0][0].subject == "Ada"


def test_a_closed_pool_extracts_no_more() -> None:
    closed = ExtractionPool(TripleExtractor)
    closed.close()
    with pytest.raises(ExtractionFailed):
        closed.extract([turn("Ada likes tea")])


def test_an_extractor_that_tells_what_it_leaves_out_is_asked(pool: ExtractionPool) -> None:
    telling = ExtractionPool(TellingExtractor)
    try:
        extractor, found = telling.examine([turn("Ada likes tea (she said)")])
    finally:
        telling.close()
    assert (extractor, [claim.subject for claim in found[0].claims]) == ("triples/1", ["Ada"])
    assert list(found[0].dropped) == [Left(14, 24, "in brackets")]
    silent = pool.examine([turn("Ada likes tea (she said)")])[1][0]
    assert (len(silent.claims), list(silent.dropped)) == (1, [])
