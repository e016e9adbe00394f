"""Recall on a basis: from a question to a page of statements and episodes, each with what every arm says of it."""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from threading import Lock

import numpy as np

from graph.belief.identity import IDENTITY
from graph.belief.traits import traits_of
from graph.ledger.details import Describer
from graph.ledger.gathered import Gathered
from graph.ledger.identity import Identity
from graph.ledger.resolutions import Resolutions
from graph.ledger.selection import Selection
from graph.ledger.told import AS_STORED, Resolution
from graph.recall.admission import Admission, Point
from graph.recall.arranging import at_most, one_each, superseded_last
from graph.recall.columns import Bools, Ints
from graph.recall.dense import Around, Vectors
from graph.recall.embedding.choosing import Choice
from graph.recall.embedding.port import Embedder
from graph.recall.filtering import Allowed, allowed_claims, allowed_episodes, with_all_keys
from graph.recall.following import Following
from graph.recall.index import Index
from graph.recall.namespace import State, thing_node
from graph.recall.pagerank import Edges
from graph.recall.reading import Reading
from graph.recall.space import Space
from graph.recall.tokens import query_tokens
from graph.recall.views import Arm, RecallOptions
from graph.recall.weighing import Query, Weighed, collections_of, weigh
from graph.views import Basis, ComponentHealth, StatementFilter
from ontology.errors import InvalidInput, Unavailable
from ontology.names import Keys, normalise
from ontology.vocabulary import Vocabulary

log = logging.getLogger(__name__)

MOST_CANDIDATES = 500
MOST_WORDS = 200
"""Words of a query among which names of entities are looked for."""
LONGEST_NAME = 5
_AROUND_NAMES = ".,;:!?\"'()[]"
QUERIES_KEPT = 256
PASTS_KEPT = 4
EMBEDDING_THREADS = 4
"""Questions that are embedded at a time."""


class RecallUnavailable(Unavailable):
    """Recall cannot answer; the message says why."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """All that a question found, in the order in which it is shown; `weighed` counts candidates, those left out included."""

    hits: tuple[Weighed, ...]
    weighed: int
    admission: Admission | None
    degraded: tuple[str, ...]


class Awaited:
    """The vector of a question, which another thread makes."""

    def __init__(self, vector: Future[Vectors]) -> None:
        self._vector = vector

    def __call__(self, text: str) -> Vectors:
        """The vector, when it is there; raises what making it raised."""
        return self._vector.result()


class Recall:
    """Ranks what an index has. Thread-safe."""

    def __init__(self, index: Index, choice: Choice | None, resolutions: Resolutions) -> None:
        self.index = index
        self._choice = choice
        self._resolutions = resolutions
        self.following = Following(index)
        self._lock = Lock()
        self._embedder: Embedder | None = None
        self._queries: OrderedDict[str, Vectors] = OrderedDict()
        self._pasts: OrderedDict[tuple[str, int, int], tuple[Resolution, Resolution]] = OrderedDict()
        self._threads = ThreadPoolExecutor(EMBEDDING_THREADS, "recall-question")
        self._failures: dict[str, str] = {}
        self.mismatches = 0
        """Hits that the ledger did not confirm, since the start."""

    # ------------------------------------------------------------ the embedder

    def _embed(self, text: str) -> Vectors:
        with self._lock:
            known = self._queries.get(text)
            if known is not None:
                self._queries.move_to_end(text)
                return known
            if self._embedder is None:
                assert self._choice is not None
                self._embedder = self._choice.load()
            embedder = self._embedder
        vector = embedder.embed_query(text)
        with self._lock:
            self._queries[text] = vector
            while len(self._queries) > QUERIES_KEPT:
                self._queries.popitem(last=False)
        return vector

    def _ahead(self, text: str) -> Awaited | None:
        """Begin to embed a question, while what it is asked of and its words are looked up; what it answers waits for the vector."""
        return None if self._choice is None else Awaited(self._threads.submit(self._embed, text))

    # ------------------------------------------------------------ ranking

    def rank(
        self,
        describer: Describer,
        keys: Keys,
        basis: Basis,
        vocabulary: Vocabulary,
        text: str,
        options: RecallOptions,
        filter: StatementFilter,
    ) -> Ranking:
        """What a question finds on a basis. Raises InvalidInput, QueryTooComplex."""
        checked(text, options)
        embed = self._ahead(text) if Arm.VECTOR in options.arms else None
        self._follow(basis.transaction)
        space = self.index.space(basis.namespace)
        if space is None or not basis.transaction:
            return Ranking((), 0, None, tuple(self._lacking(options, basis)))
        reading = self._reading(describer, basis, space, vocabulary, past=filter.include_invalidated)
        start, end = filter.valid_during or (basis.valid_at, basis.valid_at + 1)
        point = Point(basis.transaction, start, end, basis.evidence_until, filter.include_invalidated)
        admission = space.admissions.at(reading, point)
        embedded = {part: table["embedded"] for part, table in (("claims", reading.state.claims), ("episodes", reading.state.episodes))}
        claims, episodes = self._allowed(admission, filter, vocabulary, describer.identity)
        collections = collections_of(space, admission, options.kinds, claims, episodes, embedded)
        query = Query(
            text,
            [number for term in query_tokens(text) if (number := space.indexed.terms.known(term)) is not None],
            options,
            Around(basis.transaction, start if point.instant and not point.past else None, basis.evidence_until),
            embed,
            lambda: self._named(describer, keys, basis, space, admission, text, options),
            self._lacking(options, basis),
            self._note,
        )
        hits = weigh(query, admission, collections)
        weighed = len(hits)
        if options.superseded_last:

            def one_valued(predicate: str, turned: bool) -> bool:
                known = vocabulary.predicate(predicate)
                read = known.inverse if turned and not known.symmetric and known.inverse is not None else predicate
                return traits_of(vocabulary.predicate(read)).one_valued

            hits = superseded_last(hits, admission, point, one_valued)
        hits = one_each(hits, admission)
        if options.max_per_group is not None:
            hits = at_most(hits, admission, options.max_per_group)
        return Ranking(tuple(hits), weighed, admission, tuple(dict.fromkeys(query.degraded)))

    def _follow(self, transaction: int) -> None:
        """Bring the index to a transaction. Raises RecallUnavailable where it cannot follow: no arm can do without it."""
        try:
            self.index.catch_up(transaction)
        except Exception as failure:
            log.exception("the recall index cannot follow the ledger")
            self._note("index", failure)
            raise RecallUnavailable(
                f"the recall index cannot follow the ledger ({type(failure).__name__}); it begins anew with the next question, and"
                " `erstwhile rebuild --index` makes it anew at once"
            ) from failure
        self._note("index", None)

    def version(self, basis: Basis) -> str:
        """Of index and embedder on a basis."""
        self._follow(basis.transaction)
        return self.index.version(basis.transaction)

    def _note(self, part: str, failure: Exception | None) -> None:
        """Remember how a part failed, until it works again."""
        with self._lock:
            if failure is None:
                self._failures.pop(part, None)
            else:
                # A message of our own names the cause; that of another may quote what it was given.
                self._failures[part] = getattr(failure, "message", None) or type(failure).__name__

    def mismatched(self, count: int) -> None:
        """Count hits that the ledger did not confirm."""
        with self._lock:
            self.mismatches += count

    def _lacking(self, options: RecallOptions, basis: Basis) -> list[str]:
        """What the vector arm cannot do now."""
        if Arm.VECTOR not in options.arms:
            return []
        if self._choice is None:
            return ["vector: no embedder is chosen (ERSTWHILE_EMBEDDER)"]
        waiting = self.index.waiting(basis.transaction)
        return [f"vector: {waiting} documents wait for their vectors"] if waiting else []

    def _reading(self, describer: Describer, basis: Basis, space: Space, vocabulary: Vocabulary, *, past: bool) -> Reading:
        """How documents are read on the basis; `past`: where what was believed before counts too. Raises QueryTooComplex."""
        state, identity = space.indexed.state, describer.identity

        def looked_up() -> Identity:
            _look_up(identity, space, state)
            return identity

        if basis.evidence_until is not None:
            resolution = self._resolutions.at(describer.connection, basis.namespace, basis.transaction, basis.evidence_until)
            if past and resolution is not AS_STORED:
                resolution = self._past(describer, basis, vocabulary, resolution)
            return space.readings.of(state, (basis.transaction, id(resolution)), looked_up, resolution)
        if identity.nothing_joined:
            return space.readings.plain(state)
        return space.readings.of(state, (identity.since, vocabulary.version), looked_up)

    def _past(self, describer: Describer, basis: Basis, vocabulary: Vocabulary, now: Resolution) -> Resolution:
        """What was believed before under the limit too: kept for a few bases, since all of it is replayed."""
        name = (basis.namespace, basis.transaction, id(now))
        with self._lock:
            known = self._pasts.get(name)
        if known is None:
            selection = Selection(basis, vocabulary)
            # Kept with what it was made of: its name is that of the object.
            known = now, Gathered(describer, basis, vocabulary, selection).past(now)
        with self._lock:
            self._pasts[name] = known
            self._pasts.move_to_end(name)
            while len(self._pasts) > PASTS_KEPT:
                self._pasts.popitem(last=False)
        return known[1]

    @staticmethod
    def _allowed(admission: Admission, filter: StatementFilter, vocabulary: Vocabulary, identity: Identity) -> tuple[Allowed, Bools]:
        """What may be found of what counts: documents of claims, and of episodes."""
        # What these ask for decides what counts.
        inside = replace(filter, valid_during=None, include_invalidated=False)
        claims = allowed_claims(admission, with_all_keys(inside, identity), vocabulary)
        return claims, allowed_episodes(admission, filter, claims.claims)

    @staticmethod
    def _named(
        describer: Describer, keys: Keys, basis: Basis, space: Space, admission: Admission, text: str, options: RecallOptions
    ) -> Ints:
        """Nodes of the entities that the options name, or else the words of a query."""
        if options.seeds is not None:
            found = set(options.seeds)
        else:
            named = (keys.entity(basis.namespace, name) for name in _names_in(text))
            found = {key for key in named if space.indexed.things.known(key) is not None}
        identity = describer.identity
        identity.load(found)
        if options.seeds is None:
            # A name whose every mention denotes something else finds that.
            found = {describer.directory.followed(key) if identity.concerns(key) else key for key in found}
        numbers = {space.indexed.things.known(identity.root(key)) for key in found}
        nodes = np.array(sorted(thing_node(number) for number in numbers if number is not None), np.int64)
        # What nothing tells of on the basis would take its share of the mass, and later material would change the answer.
        owners, _, _ = Edges(admission).of(nodes)
        return nodes[np.unique(owners)]

    # ------------------------------------------------------------ running

    def notify(self) -> None:
        """The ledger has grown. Returns at once."""
        self.following.notify()

    def close(self) -> None:
        """Stop following."""
        self.following.close()
        self._threads.shutdown()
        self.index.close()

    def health(self) -> list[ComponentHealth]:
        """Whether the index follows, and which parts of recall failed when they were last asked."""
        started = time.perf_counter()
        degraded = None
        try:
            self.index.catch_up()
        except Exception as failure:
            log.exception("the recall index cannot follow the ledger")
            degraded = f"the index cannot follow the ledger ({type(failure).__name__})"
        found = [ComponentHealth("index", degraded is None, degraded, (time.perf_counter() - started) * 1e3)]
        with self._lock:
            failures = dict(self._failures)
            mismatches = self.mismatches
        if mismatches and found[0].ok:
            told = f"{mismatches} hits were not in the ledger on their basis and were left out; `erstwhile rebuild --index` mends it"
            found[0] = replace(found[0], degraded=told)
        behind = self.index.behind
        if behind:
            failures.setdefault("vector", f"{behind} documents wait to be sent to the server of the vectors")
        return found + [ComponentHealth(f"recall.{part}", False, told) for part, told in sorted(failures.items())]


def _names_in(text: str) -> set[str]:
    """What may be names in a query: runs of its words."""
    words = normalise(text).split()[:MOST_WORDS]
    runs = (
        " ".join(words[start : start + length]).strip(_AROUND_NAMES)
        for length in range(1, LONGEST_NAME + 1)
        for start in range(len(words) - length + 1)
    )
    return {name for run in runs for name in (run, run.removesuffix("'s").removesuffix("’s")) if name}


def _look_up(identity: Identity, space: Space, state: State) -> None:
    """Let an identity look up all that identity claims of the namespace name."""
    number = space.indexed.predicates.known(IDENTITY)
    if number is None:
        return
    rows = np.flatnonzero(state.claims["predicate"] == number)
    names = space.indexed.things.names
    identity.load({names[thing] for column in ("subject", "object") for thing in state.claims[column][rows].tolist()})


def checked(text: str, options: RecallOptions) -> None:
    """Raise InvalidInput for what cannot be asked."""
    if not text.strip():
        raise InvalidInput("the query is empty", path=("query",), reason="EMPTY")
    if not 1 <= options.candidates <= MOST_CANDIDATES:
        raise InvalidInput(f"`candidates` is 1 to {MOST_CANDIDATES}", path=("options", "candidates"), reason="OUT_OF_RANGE")
    if options.max_per_group is not None and options.max_per_group < 1:
        raise InvalidInput("`maxPerGroup` is at least 1", path=("options", "maxPerGroup"), reason="OUT_OF_RANGE")
    for name, chosen in (("arms", options.arms), ("kinds", options.kinds)):
        if not chosen:
            raise InvalidInput(f"name at least one of `{name}`", path=("options", name), reason="EMPTY")
