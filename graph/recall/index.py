"""The recall index: a projection of the ledger, in memory, one part for each namespace.

It follows the ledger by its watermark. Vectors follow by a watermark of their own: a document is found by its words at once, and
by its meaning when somebody has made the vector of its text.
"""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import RLock

import numpy as np

from graph.recall import documents, keeping
from graph.recall.columns import Ints
from graph.recall.dense import Dense, DenseFactory, InMemory, Vectors
from graph.recall.feed import Changes, Feed
from graph.recall.namespace import Indexed, Part, Wanted
from graph.recall.space import PARTS, Space
from graph.recall.users import Documents, VectorStore, use_of, uses_of

log = logging.getLogger(__name__)

VERSION = 1
"""Of what is indexed and how it is scored; it changes with everything that changes an answer."""


KEEP_FROM = 5_000
"""Documents from which on an index is kept between starts; a smaller one is made anew in less than a second."""
_AT_A_TIME = 5_000


@dataclass(frozen=True, slots=True)
class _Place:
    """A document that waits for its vector."""

    namespace: str
    part: Part
    doc: int
    tx_from: int


@dataclass(frozen=True, slots=True)
class Shelf:
    """Where the index is kept between starts, and the ledger that it follows."""

    folder: Path
    ledger: str


class Index:
    """Follows one ledger. Thread-safe: one thread at a time brings it up to date, readers take what is there."""

    def __init__(
        self,
        feed: Feed,
        embedder: str | None,
        vectors: VectorStore | None,
        dense: DenseFactory | None = None,
        *,
        shelf: Shelf | None = None,
    ) -> None:
        """`embedder` is the ID of the one that makes the vectors; None where there is none. What is on the shelf is taken over."""
        self._feed = feed
        self.embedder = embedder
        self._vectors = vectors
        self._dense = dense or InMemory()
        self._shelf = shelf
        self._work = RLock()
        self._begin()
        if shelf is not None:
            self._take_over(shelf)

    def _begin(self) -> None:
        self._spaces: dict[str, Space] = {}
        # Texts that wait for their vectors, oldest first, with the documents that are made of them.
        self._waiting: dict[str, list[_Place]] = {}
        # How many of them by the transaction that they are of.
        self._late: Counter[int] = Counter()
        self._kept = 0
        self.watermark = 0
        self.at = 0

    # ------------------------------------------------------------ keeping

    def _take_over(self, shelf: Shelf) -> None:
        """Begin with what is kept, where it is of this ledger."""
        mark = keeping.kept(shelf.folder)
        if mark is None or mark.ledger != shelf.ledger or self._feed.time_of(mark.watermark) != mark.at:
            return
        found = keeping.restored(shelf.folder, mark)
        if found is None:
            return
        self._spaces = {name: Space(name, self._dense, indexed) for name, indexed in found.items()}
        self.watermark, self.at, self._kept = mark.watermark, mark.at, self.documents()
        self._take_vectors()

    def _take_vectors(self) -> None:
        """Give documents the vectors that are kept of them; the others wait."""
        tables = {(name, part): space.columns(part) for name, space in self._spaces.items() for part in PARTS}
        for columns in tables.values():
            columns["embedded"][:] = False
        if self._vectors is None:
            return
        places = {name: Documents(columns) for name, columns in tables.items()}
        for users, vectors in self._vectors.every():
            named = np.frombuffer(b"".join(users), ">i8").reshape(-1, 2).astype(np.int64)
            for (name, part), known in places.items():
                mine, docs = known.among(named, part)
                self._put(self._spaces[name], part, docs, vectors[mine])
        for name, space in sorted(self._spaces.items()):
            self._want(name, [each for part in PARTS for each in self._unlike(space, part)])

    def _unlike(self, space: Space, part: Part) -> Iterator[Wanted]:
        """The documents without a vector, with their texts written again."""
        columns = space.columns(part)
        docs = np.flatnonzero(~columns["embedded"])
        for start in range(0, len(docs), _AT_A_TIME):
            some = docs[start : start + _AT_A_TIME]
            rows = columns["row"][some].tolist()
            if part == "claims":
                told = {claim.row: documents.of_claim(claim).meaning for claim in self._feed.claims(rows)}
                yield from ((part, doc, told[row]) for doc, row in zip(some.tolist(), rows, strict=True))
                continue
            before = columns["before_row"][some].tolist()
            said = self._feed.contents(sorted({row for row in (*rows, *before) if row >= 0}))
            for doc, row, previous in zip(some.tolist(), rows, before, strict=True):
                yield part, doc, documents.of_episode(*said[row], said.get(previous)).meaning

    def documents(self) -> int:
        """How many documents there are."""
        return sum(space.columns(part).size for space in self._spaces.values() for part in PARTS)

    def keep(self, *, grown: float = 0.0) -> None:
        """Keep the index on its shelf, where it is too large to be made anew in a moment and has grown by a part since it was kept."""
        with self._work:
            size = self.documents()
            if self._shelf is None or size < KEEP_FROM or size <= self._kept * (1 + grown):
                return
            mark = keeping.Mark(keeping.FORMAT, self._shelf.ledger, self.watermark, self.at, tuple(sorted(self._spaces)))
            keeping.keep(self._shelf.folder, mark, {name: space.indexed for name, space in self._spaces.items()})
            self._kept = size

    # ------------------------------------------------------------ following

    def catch_up(self, transaction: int | None = None) -> None:
        """Follow to a transaction; without one to the ledger's last. What fails half-way is begun anew the next time."""
        if transaction is not None and transaction <= self.watermark:
            return
        with self._work:
            last = self._feed.last()
            for batch in self._feed.batches(self.watermark, last):
                try:
                    for namespace, changes in sorted(batch.changes.items()):
                        self._apply(namespace, changes)
                except BaseException:
                    # A part of a batch is no state that an answer may stand on.
                    self._close_spaces()
                    self._begin()
                    raise
                self.watermark, self.at = batch.upto, batch.at
            for dense in self._places():
                if dense.behind:
                    dense.send()

    def _apply(self, namespace: str, changes: Changes) -> None:
        space = self._spaces.get(namespace)
        if space is None:
            space = self._spaces[namespace] = Space(namespace, self._dense, Indexed())
        wanted = space.indexed.apply(changes, self._feed.contents)
        if self._vectors is None:
            return
        self._tell(space)
        named = ((part, space.columns(part), doc, text) for part, doc, text in wanted)
        used = [(use_of(part, int(columns["row"][doc]), int(columns["tx_from"][doc])), text) for part, columns, doc, text in named]
        self._vectors.use(used)
        known = self._vectors.get({text for _, _, text in wanted})
        for part in PARTS:
            found = [(doc, known[text]) for mine, doc, text in wanted if mine == part and text in known]
            if found:
                self._put(space, part, np.array([doc for doc, _ in found]), np.array([vector for _, vector in found], np.float32))
        self._want(namespace, [each for each in wanted if each[2] not in known])

    def _want(self, namespace: str, wanted: Sequence[Wanted]) -> None:
        """Let documents wait for the vectors of their texts."""
        space = self._spaces[namespace]
        for part, doc, text in wanted:
            place = _Place(namespace, part, doc, int(space.columns(part)["tx_from"][doc]))
            self._waiting.setdefault(text, []).append(place)
            self._late[place.tx_from] += 1

    @staticmethod
    def _tell(space: Space) -> None:
        """Tell stores that filter by themselves of the documents that count otherwise than before."""
        if space.lives is None:
            return
        for part, docs in space.lives.changed().items():
            docs = docs[space.columns(part)["embedded"][docs]]
            if len(docs):
                space[part].describe(space.lives.of(part, docs))

    @staticmethod
    def _put(space: Space, part: Part, docs: Ints, vectors: Vectors) -> None:
        if space.lives is not None:
            space[part].describe(space.lives.of(part, docs))
        space[part].put(docs, vectors)
        space.columns(part)["embedded"][docs] = True

    # ------------------------------------------------------------ vectors

    def unembedded(self, limit: int) -> list[str]:
        """Texts that wait for their vectors, oldest first."""
        self.catch_up()
        with self._work:
            return [text for text, _ in zip(self._waiting, range(limit), strict=False)]

    def record_vectors(self, texts: Sequence[str], vectors: Vectors) -> None:
        """Keep vectors and give them to the documents that wait for them."""
        assert self._vectors is not None
        with self._work:
            self._vectors.put(texts, vectors)
            found: dict[tuple[str, Part], list[tuple[int, Vectors]]] = defaultdict(list)
            for text, vector in zip(texts, vectors, strict=True):
                for place in self._waiting.pop(text, ()):
                    found[place.namespace, place.part].append((place.doc, vector))
                    self._late[place.tx_from] -= 1
            # Together: each may be a request to a server.
            for (namespace, part), each in found.items():
                docs, rows = zip(*each, strict=True)
                self._put(self._spaces[namespace], part, np.array(docs), np.array(rows, np.float32))
            self._late = +self._late

    def waiting(self, transaction: int) -> int:
        """How many documents of the transactions up to one wait for their vectors."""
        # A copy, not the lock: readers do not wait for whoever follows.
        return sum(count for tx_from, count in self._late.copy().items() if tx_from <= transaction)

    @property
    def texts(self) -> int:
        """How many texts wait for their vectors."""
        return len(self._waiting)

    @property
    def behind(self) -> int:
        """How many documents a server of vectors has not taken yet."""
        return sum(dense.behind for dense in self._places())

    def _places(self) -> Iterator[Dense]:
        return (dense for space in list(self._spaces.values()) for dense in space.dense.values())

    # ------------------------------------------------------------ reading

    def space(self, namespace: str) -> Space | None:
        """What there is of a namespace; None where nothing is."""
        return self._spaces.get(namespace)

    def version(self, transaction: int) -> str:
        """With it recall on a basis of that transaction is the same again: how it is scored, and which vectors it has."""
        if self.embedder is None:
            return f"{VERSION}"
        waiting = self.waiting(transaction)
        return f"{VERSION}:{self.embedder}" + (f":{waiting}-waiting" if waiting else "")

    def rebuild(self) -> None:
        """Begin anew and follow to the ledger's last transaction. Vectors that nothing uses, or another embedder made, are dropped."""
        with self._work:
            self._close_spaces()
            self._dense.clear()
            self._begin()
            self.catch_up()
            if self._vectors is not None:
                self._vectors.retain(document for space in self._spaces.values() for document in uses_of(space))
                self._vectors.forget_others()
            self.keep()

    def _close_spaces(self) -> None:
        for dense in self._places():
            dense.close()

    def close(self) -> None:
        """Keep what there is, and release what it holds."""
        with self._work:
            self.keep()
            self._close_spaces()
            self._dense.close()
            if self._vectors is not None:
                self._vectors.close()
