"""The main path of recall: candidates of the arms, weighed together, with what PageRank finds around the best of them.

Everything is counted in work, ordered by scores that are rounded to 1e-6 and then by keys; the statistics are those of the
basis. So an answer depends on what was known on it, and on nothing that came later.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

import numpy as np

from graph.recall import arms
from graph.recall.admission import Admission
from graph.recall.arms import Best, Collection
from graph.recall.columns import Bools, Ints
from graph.recall.dense import Around, Vectors
from graph.recall.filtering import Allowed
from graph.recall.namespace import base_node, episode_node
from graph.recall.pagerank import Edges, Walked, walk
from graph.recall.space import Space
from graph.recall.views import Arm, ArmScore, Kind, RecallOptions
from graph.recall.words import Scored

log = logging.getLogger(__name__)

T = TypeVar("T")

SEEDS = 3
"""How many of the best hits PageRank starts from."""
SHARE = 0.3
"""What PageRank adds to the joined score of the node that it finds most, of those that it did not start from."""
NAMED_MASS = 1.0
"""Mass of an entity that the query names, beside 1 of the best hit."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """A hit: what it is (`unit`: 2 * proposition + polarity, or an episode), its best document and the scores. `way` are nodes."""

    kind: Kind
    unit: int
    doc: int
    score: float
    key: str
    opinions: tuple[ArmScore, ...]
    is_seed: bool = False
    uncapped: float = 0.0
    """What it would score if it could come before what PageRank started from."""
    way: tuple[int, ...] = ()


@dataclass(slots=True)
class Query:
    """A query as it is weighed. `degraded` gathers what could not be used."""

    text: str
    terms: Sequence[int]
    options: RecallOptions
    around: Around
    embed: Callable[[str], Vectors] | None
    named: Callable[[], Ints]
    """Nodes of entities to start PageRank from."""
    degraded: list[str] = field(default_factory=list)
    note: Callable[[str, Exception | None], None] = field(default=lambda part, failure: None)
    """Told of each part whether it worked (None) or how it failed."""
    vector: Vectors | None = None

    def attempt(self, part: str, work: Callable[[], T]) -> T | None:
        """What a part of recall finds; where it fails, nothing, and the failure is named in the answer, in health and in the log."""
        try:
            found = work()
        except Exception as failure:
            log.exception("recall goes on without %s", part)
            self.note(part, failure)
            self.degraded.append(f"{part}: {_told(failure)}")
            return None
        self.note(part, None)
        return found


def _told(failure: Exception) -> str:
    return getattr(failure, "message", None) or f"{type(failure).__name__}"


@dataclass(slots=True)
class _Opinions:
    """What the arms say of the candidates of one kind."""

    kind: Kind
    collection: Collection
    scored: Scored | None = None
    found: dict[Arm, Best] = field(default_factory=dict)
    tops: dict[Arm, float] = field(default_factory=dict)
    by_arm: dict[Arm, dict[int, ArmScore]] = field(default_factory=dict)
    docs: dict[int, int] = field(default_factory=dict)
    joined: dict[int, float] = field(default_factory=dict)

    def note(self, arm: Arm, found: Best | None) -> None:
        """What an arm found; nothing where it failed: then it has no say at all."""
        if found is not None:
            self.found[arm] = found
            return
        for known in (self.found, self.by_arm, self.tops):
            known.pop(arm, None)


def collections_of(
    space: Space, admission: Admission, kinds: Sequence[Kind], claims: Allowed, episodes: Bools, embedded: Mapping[str, Bools]
) -> dict[Kind, Collection]:
    """The documents of the kinds that are asked for; `claims` and `episodes` are those that may be found."""
    state = admission.reading.state
    found: dict[Kind, Collection] = {}
    if Kind.STATEMENT in kinds:
        table = state.claims
        found[Kind.STATEMENT] = Collection(
            state.claim_words,
            space["claims"],
            embedded["claims"],
            claims.units,
            table["high"],
            table["low"],
            admission.claims,
            claims.claims,
            claims.both if claims.both.any() else None,
            admission.reading.tellers,
        )
    if Kind.EPISODE in kinds:
        table = state.episodes
        units = table["episode"].astype(np.int64)
        found[Kind.EPISODE] = Collection(
            state.episode_words,
            space["episodes"],
            embedded["episodes"],
            units,
            table["high"],
            table["low"],
            admission.episodes,
            episodes,
        )
    return found


def weigh(query: Query, admission: Admission, collections: Mapping[Kind, Collection]) -> list[Weighed]:
    """All that was weighed, best first."""
    wanted = set(query.options.arms)
    opinions = [_Opinions(kind, collection) for kind, collection in collections.items()]
    if Arm.BM25 in wanted:
        # First the words: the vector is still being made.
        for each in opinions:
            each.note(Arm.BM25, query.attempt("bm25", partial(_find_by_words, query, each)))
    embed = query.embed
    if Arm.VECTOR in wanted and embed is not None:
        query.vector = query.attempt("vector", lambda: embed(query.text))
    for each in opinions:
        if query.vector is not None:
            each.note(Arm.VECTOR, query.attempt("vector", partial(_find_by_meaning, query, each, query.vector)))
        _judge(query, each, np.concatenate([best.units for best in each.found.values()] or [np.zeros(0, np.int64)]))
    walked = None
    seeds = _seeds(opinions)
    if Arm.PAGERANK in wanted:
        walked = query.attempt("pagerank", lambda: _walk(query, admission, opinions, seeds))
    hits: list[Weighed] = []
    for each in opinions:
        mine = [unit for kind, unit in seeds if kind is each.kind]
        hits += _joined(query, admission, each, walked, mine)
    return sorted(hits, key=lambda hit: (-hit.score, not hit.is_seed, -hit.uncapped, hit.key, hit.kind))


def _find_by_words(query: Query, each: _Opinions) -> Best:
    """The candidates of BM25."""
    each.scored = arms.scored(each.collection, query.terms)
    return arms.by_words(each.collection, each.scored, query.options.candidates)


def _find_by_meaning(query: Query, each: _Opinions, vector: Vectors) -> Best:
    """The candidates of the vectors."""
    return arms.by_meaning(each.collection, vector, query.around, query.options.candidates)


def _judge(query: Query, each: _Opinions, units: Ints) -> None:
    """Rescore candidates exactly in every arm, and join the scores. The greatest scores stay those of the first candidates."""
    collection = each.collection
    fresh = np.unique(units)
    docs = arms.documents_of(collection, fresh) if len(fresh) else np.zeros(0, np.int64)
    scored, vector = each.scored, query.vector
    if Arm.VECTOR in each.found and vector is not None:
        each.note(Arm.VECTOR, query.attempt("vector", lambda: arms.meaning_of(collection, vector, docs, fresh)))
    if Arm.BM25 in each.found and scored is not None:
        each.note(Arm.BM25, query.attempt("bm25", lambda: arms.words_of(collection, scored, docs, fresh)))
    for arm, best in each.found.items():
        each.tops.setdefault(arm, float(best.scores[0]) if len(best.scores) else 0.0)
        each.by_arm[arm] = {
            int(unit): ArmScore(arm, float(score), place + 1)
            for place, (unit, score) in enumerate(zip(best.units, best.scores, strict=True))
        }
        for unit, doc in zip(best.units.tolist(), best.docs.tolist(), strict=True):
            each.docs.setdefault(unit, doc)
    silent = np.array([unit for unit in fresh.tolist() if unit not in each.docs], np.int64)
    if len(silent):
        first = arms.best_of(collection, docs, np.zeros(len(docs)), len(silent), silent)
        each.docs |= dict(zip(first.units.tolist(), first.docs.tolist(), strict=True))
    each.joined = arms.fused(each.by_arm, query.options.fusion, each.tops)


def _seeds(opinions: Sequence[_Opinions]) -> list[tuple[Kind, int]]:
    """The best hits of each kind."""
    found: list[tuple[Kind, int]] = []
    for each in opinions:
        best = sorted(each.joined.items(), key=lambda item: (-item[1], _key(each, item[0])))
        found += [(each.kind, unit) for unit, score in best[:SEEDS] if score > 0]
    return found


def _key(each: _Opinions, unit: int) -> str:
    doc = each.docs[unit]
    key = f"{int(each.collection.high[doc]):016x}{int(each.collection.low[doc]):016x}"
    # A document of what ends may speak for two.
    return f"{key}{unit & 1}" if each.kind is Kind.STATEMENT else key


def _node(kind: Kind, unit: int) -> int:
    return int(base_node(unit >> 1) if kind is Kind.STATEMENT else episode_node(unit))


def _walk(query: Query, admission: Admission, opinions: Sequence[_Opinions], seeds: Sequence[tuple[Kind, int]]) -> Walked | None:
    """Walk from the best hits, each with its score, and from the entities that the query names."""
    joined = {each.kind: each.joined for each in opinions}
    named = query.named().tolist()
    nodes = [_node(kind, unit) for kind, unit in seeds] + named
    mass = [joined[kind][unit] for kind, unit in seeds] + [NAMED_MASS] * len(named)
    if not nodes:
        return None
    begins, place = np.unique(np.array(nodes, np.int64), return_inverse=True)
    return walk(Edges(admission), begins, np.bincount(place, mass).astype(np.float64))


def _joined(query: Query, admission: Admission, each: _Opinions, walked: Walked | None, seeds: Sequence[int]) -> list[Weighed]:
    """The hits of one kind. What was started from keeps its place before all others, which PageRank moves among themselves."""
    ranked = _reached(admission, each, walked, seeds, query.options.candidates) if walked is not None else {}
    strangers = [unit for unit in ranked if unit not in each.docs]
    if strangers:
        _judge(query, each, np.array(sorted({*each.docs, *strangers}), np.int64))
    most = max((said.score for said in ranked.values()), default=0.0)
    lowest = min((each.joined[unit] for unit in seeds), default=np.inf)
    # Scores of RRF are small: the share is one of the best.
    scale = SHARE * (max(each.joined.values(), default=0.0) or 1.0)
    way_to = walked.ways() if walked is not None else None
    hits = []
    for unit, doc in each.docs.items():
        opinions = [each.by_arm[arm][unit] for arm in Arm if unit in each.by_arm.get(arm, ())]
        score = each.joined.get(unit, 0.0)
        way: tuple[int, ...] = ()
        if unit in ranked and way_to is not None:
            said = ranked[unit]
            opinions.append(said)
            score += scale * said.score / most
            way = way_to(_node(each.kind, unit))
        uncapped = round(score, 6)
        capped = uncapped if unit in seeds else min(uncapped, lowest)
        hits.append(Weighed(each.kind, unit, doc, capped, _key(each, unit), tuple(opinions), unit in seeds, uncapped, way))
    return hits


def _reached(admission: Admission, each: _Opinions, walked: Walked, seeds: Sequence[int], limit: int) -> dict[int, ArmScore]:
    """The nodes of a kind that PageRank reached and that may be found, with score and rank; those that it started from aside."""
    statements = each.kind is Kind.STATEMENT
    mine = np.flatnonzero((walked.nodes % 3 == (1 if statements else 2)) & (walked.scores > 0))
    units, scores = walked.nodes[mine] // 3, np.round(walked.scores[mine], 6)
    if statements:
        units = units * 2 + admission.holds[units * 2 + 1]
    known = ~np.isin(units, np.array(seeds, np.int64)) & (scores > 0)
    units, scores = units[known], scores[known]
    if not len(units):
        return {}
    collection = each.collection
    docs = arms.documents_of(collection, units)
    first = arms.best_of(collection, docs, np.zeros(len(docs)), len(units), units)
    # Ascending, as the nodes are.
    said = scores[np.searchsorted(units, first.units)]
    order = np.lexsort((first.units, collection.low[first.docs], collection.high[first.docs], -said))[:limit]
    ranked = zip(first.units[order].tolist(), said[order].tolist(), strict=True)
    return {unit: ArmScore(Arm.PAGERANK, score, place + 1) for place, (unit, score) in enumerate(ranked)}
