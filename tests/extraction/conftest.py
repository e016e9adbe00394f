"""One parser for all tests: loading it costs seconds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from extraction.extractor import SpacyExtractor
from extraction.rows import claim_row, turn_from_row
from ontology.loading import load_vocabulary
from ontology.vocabulary import Vocabulary

Rows = list[dict[str, Any]]
Say = Callable[..., Rows]


@pytest.fixture(scope="session")
def vocabulary() -> Vocabulary:
    return load_vocabulary()


@pytest.fixture(scope="session")
def extractor(vocabulary: Vocabulary) -> SpacyExtractor:
    return SpacyExtractor(vocabulary)


@pytest.fixture
def say(extractor: SpacyExtractor, vocabulary: Vocabulary) -> Say:
    """`say(text, ...)`: the rows of one turn that Ada says to Bob on Wednesday 12 March 2025, candidates left out."""

    def rows(text: str, said: str = "2025-03-12T10:00:00Z", candidates: bool = False, **turn: str | None) -> Rows:
        given = turn_from_row({"id": "t", "speaker": "Ada", "addressee": "Bob", "said": said, "text": text} | turn)
        return [claim_row(given, c, vocabulary) for c in extractor.extract([given])[0] if candidates or c.confidence >= 0.5]

    return rows


@pytest.fixture
def triples(say: Say) -> Callable[..., Sequence[tuple[str, str, str]]]:
    """Subject, predicate and object of what is said."""
    return lambda text, **turn: [(row["subject"], row["predicate"], row["object"]) for row in say(text, **turn)]
