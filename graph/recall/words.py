"""Okapi BM25 over the documents of a collection, with the statistics of those that a basis admits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graph.recall.columns import Bools, Columns, Floats, Grouped, GroupedView, Ints, Numbers

K1 = 0.9
B = 0.1
"""Little is made of lengths: turns and claims are all short (benchmarks/README.md, "Recall")."""
MOST_TERMS = 64
"""Terms of a query that are weighed: of a longer one the rarest."""


@dataclass(frozen=True, slots=True)
class WordsView:
    """The words of the documents at one time."""

    postings: GroupedView
    lengths: NDArray[np.int32]


class Words:
    """The words of a collection's documents. `terms` numbers them, and may serve several collections."""

    def __init__(self, terms: Numbers) -> None:
        self.terms = terms
        self.documents = Columns(length=np.int32)
        self.postings = Grouped(doc=np.int32, times=np.uint16)

    def append(self, documents: Sequence[Sequence[str]]) -> None:
        """Add documents by their tokens."""
        entries: list[tuple[int, int, int]] = []
        for doc, tokens in enumerate(documents, self.documents.size):
            counted = sorted((self.terms.of(token), times) for token, times in Counter(tokens).items())
            entries += [(term, doc, min(times, 65_535)) for term, times in counted]
        self.documents.append([(len(tokens),) for tokens in documents])
        self.postings.entries.append(entries)

    def view(self) -> WordsView:
        """What there is now."""
        self.postings.settle()
        return WordsView(self.postings.view, self.documents["length"])


@dataclass(frozen=True, slots=True)
class Scored:
    """BM25 of the admitted documents; `words` is the number of query terms that one of them holds."""

    scores: Floats
    words: int
    docs: Ints
    """The documents that have a score, ascending."""


def bm25(view: WordsView, terms: Sequence[int], admitted: Bools) -> Scored:
    """The scores of all documents, 0 for those that are not admitted; rounded to 1e-6.

    Robertson and Zaragoza, "The Probabilistic Relevance Framework" (2009), with the idf that is never negative. Frequencies and
    the mean length are those of the admitted documents. Terms are taken in the order of their frequency, then as given.
    """
    scores = np.zeros(len(admitted))
    many = int(np.count_nonzero(admitted))
    if not many or not terms:
        return Scored(scores, 0, np.zeros(0, np.int64))
    lengths = view.lengths[: len(admitted)]
    # By their numbers: where a mask says what is added it takes five times as long.
    mean = float(np.sum(lengths[np.flatnonzero(admitted)])) / many or 1.0
    found: list[tuple[int, int, NDArray[np.int32], NDArray[np.uint16]]] = []
    for place, term in enumerate(dict.fromkeys(terms)):
        docs, times = view.postings.of(term, "doc", "times")
        mine = np.flatnonzero(admitted[docs])
        docs, times = docs[mine], times[mine]
        if len(docs):
            found.append((len(docs), place, docs, times))
    found.sort(key=lambda each: each[:2])
    for frequency, _, docs, times in found[:MOST_TERMS]:
        weight = float(np.log1p((many - frequency + 0.5) / (frequency + 0.5)))
        often = times.astype(np.float64)
        scores[docs] += weight * often * (K1 + 1) / (often + K1 * (1 - B + B / mean * lengths[docs]))
    told = np.flatnonzero(scores)
    scores[told] = np.round(scores[told], 6)
    return Scored(scores, len(found), told)
