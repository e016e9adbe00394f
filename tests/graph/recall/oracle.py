"""Recall by brute force: docs/recall.md in executable form, with floats and dictionaries, sharing no code with the index.

What holds on a basis, and of whom a claim speaks, is read from the ledger; its own oracles hold that to the truth. Everything else is
counted here anew for one question: documents, what counts, both arms, their union, PageRank, and the order in which hits are shown.

docs/recall.md says what users can see; what is left to read here:

1.  The key of a claim's document is the claim's ID, that of an episode's document the episode's key. A hit has the key of its best
    document: of the vector arm, else of BM25, else its first one.
2.  Documents of claims and of episodes have their own statistics.
3.  Names stand in the direction in which the claim is stored.
4.  Only affirmed statements have edges to their subject and object; two claims of one episode make two edges.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import select

from graph.belief.traits import traits_of
from graph.ledger.identity import place_of
from graph.ledger.rectangles import COLUMNS, Rectangle, read_as, rectangle
from graph.ledger.schema import claims, statements
from graph.ledger.sources import episode_views
from graph.recall.arms import RRF_K, SHARES
from graph.recall.documents import BEFORE, SHORT, sentence
from graph.recall.embedding.hashing import HashingEmbedder
from graph.recall.pagerank import DAMPING, LEAST, ROUNDS
from graph.recall.recalling import LONGEST_NAME
from graph.recall.tokens import query_tokens, tokens
from graph.recall.views import DEFAULTS, Arm, Fusion, Kind, RecallOptions
from graph.recall.weighing import NAMED_MASS, SEEDS, SHARE
from graph.recall.words import K1, MOST_TERMS, B
from graph.service import LedgerGraph
from graph.views import EVERYTHING, EntityRef, EpisodeView, StatementFilter
from ontology.claim import ClaimKind
from ontology.episode import EpisodeStatus
from ontology.instant import UNBOUNDED_FUTURE, Instant
from ontology.names import normalise
from tests.graph.ledger.worlds import pages

Unit = tuple[Kind, str, bool]
"""What a document speaks for: (STATEMENT, key of the positive proposition, polarity), or (EPISODE, key, True)."""
Node = tuple[str, str]
"""(`thing`, `base` or `episode`, key)."""

_HIDDEN = (EpisodeStatus.RETRACTED, EpisodeStatus.QUARANTINED, EpisodeStatus.ERASED)


@dataclass(frozen=True)
class Document:
    """One text and what it speaks for."""

    kind: Kind
    key: str
    unit: Unit
    words: tuple[str, ...]
    meaning: str
    conversation: tuple[str, str]
    row: int
    group: str | None
    source: str
    speaker: str | None
    episode: str
    claim: Any = None


@dataclass
class Found:
    """A hit as it was weighed."""

    unit: Unit
    doc: Document
    score: float = 0.0
    uncut: float = 0.0
    opinions: dict[Arm, tuple[float, int]] = field(default_factory=dict)
    seed: bool = False


@dataclass(frozen=True)
class Edge:
    """Of a node to another."""

    other: Node
    weight: float


class Oracle:
    """One basis of a namespace. `waits`: whether a text has no vector yet."""

    def __init__(
        self,
        graph: LedgerGraph,
        namespace: str,
        embedder: HashingEmbedder | None,
        *,
        waits: Callable[[str], bool] = lambda text: False,
        **basis: Any,
    ) -> None:
        self._graph, self._embedder, self._waits = graph, embedder, waits
        self.snapshot = graph.snapshot(namespace, **basis)
        self.basis = self.snapshot.basis
        self._vocabulary = graph._vocabulary_at(self.basis.transaction)

    # ------------------------------------------------------------ asking

    def ask(self, text: str, options: RecallOptions = DEFAULTS, filter: StatementFilter = EVERYTHING) -> Asked:
        """All that a question weighs."""
        start, end = filter.valid_during or (self.basis.valid_at, self.basis.valid_at + 1)
        return Asked(self, text, options, filter, start, end)

    # ------------------------------------------------------------ what the ledger has

    def told(self, *, ever: bool) -> list[Any]:
        """Rows of claims that can make belief: visible, or `ever` so by the basis; read by the identity of the basis."""
        query = select(claims).where(
            claims.c.namespace == self.basis.namespace,
            claims.c.believed,
            claims.c.tx_from <= self.basis.transaction,
            claims.c.tx_from < claims.c.tx_to,
            claims.c.said <= self._until,
        )
        if not ever:
            query = query.where(claims.c.tx_to > self.basis.transaction)
        with self.snapshot._read() as describer:
            rows = list(describer.connection.execute(query.order_by(claims.c.row)))
            describer.identity.load({key for row in rows for key in (row.subject, row.object)})
            return [describer.identity.settled(row) for row in rows]

    def rectangles(self, told: Sequence[Any], start: Instant, end: Instant, *, past: bool) -> list[Rectangle]:
        """What holds in `[start, end)`; `past`: or held before, or was believed to."""
        with self.snapshot._read() as describer:
            identity = describer.identity
            identity.load({key for row in told for key in (row.subject, row.object)})
            if self.basis.evidence_until is not None:
                places = {place.proposition: place for place in map(place_of, told)}
                found = describer.told(places.values())
                return [row for row in found if row.v_from < end and row.v_to > start]
            transaction = self.basis.transaction
            query = select(*COLUMNS).where(statements.c.namespace == self.basis.namespace, statements.c.tx_from <= transaction)
            rows = [rectangle(row) for row in describer.connection.execute(query.order_by(statements.c.row))]
            identity.load({key for row in rows for key in (row.subject, row.object)})
            rows = [read_as(identity, row) for row in rows]
            inside = [row for row in rows if row.v_from < end and row.v_to > start]
            if not past:
                return [row for row in inside if row.tx_to > transaction]
            if end > start + 1:
                return [row for row in inside if _is_last_known(row, rows, transaction)]
            begun = [row for row in rows if row.tx_to <= transaction or row.v_from < end]
            return [row for row in begun if _is_last_known(row, rows, transaction)]

    def episodes(self) -> list[EpisodeView]:
        """Episodes that count, in the order of each conversation; not limited by said time."""
        found: list[EpisodeView] = pages(lambda after: self.snapshot_of_all.episodes(first=100, after=after))
        return sorted(
            (view for view in found if view.status not in _HIDDEN and view.content),
            key=lambda view: (conversation(view.group, view.source), view.said_at, view.key),
        )

    @property
    def snapshot_of_all(self) -> Any:
        """The same basis without a limit of said time."""
        basis = self.basis
        return self._graph.snapshot(basis.namespace, valid_at=basis.valid_at, transaction=basis.transaction)

    @property
    def _until(self) -> Instant:
        return UNBOUNDED_FUTURE if self.basis.evidence_until is None else self.basis.evidence_until

    def one_valued(self, predicate: str) -> bool:
        """Whether a slot of a predicate has one value."""
        return traits_of(self._vocabulary.predicate(predicate)).one_valued

    def inverse(self, predicate: str) -> str:
        """The predicate of the slot on the other side."""
        known = self._vocabulary.predicate(predicate)
        return predicate if known.symmetric else known.inverse or predicate

    def predicates(self, names: Iterable[str]) -> set[str]:
        """Stored names of predicates that are no inverses and no antonyms."""
        return {self._vocabulary.canonical(name).predicate.name for name in names}

    # ------------------------------------------------------------ documents

    def documents(self, told: Sequence[Any], holds: set[tuple[str, bool]]) -> list[Document]:
        """Those of claims whose statement holds."""
        found = []
        with self.snapshot._read() as describer:
            copies = {
                (view.key, view.revision): view
                for row in told
                for view in [self._copy(describer, row.episode, row.revision)]
                if view is not None
            }
        for row in told:
            meant = (row.proposition, bool(row.polarity))
            if meant not in holds and self._ends(row):
                meant = (row.proposition, not row.polarity)
            if meant not in holds:
                continue
            copy = copies[row.episode, row.revision]
            text = claim_text(row, copy.content or "", copy.speaker)
            found.append(
                Document(
                    Kind.STATEMENT,
                    row.id,
                    (Kind.STATEMENT, *meant),
                    tuple(tokens(text)),
                    text,
                    conversation(row.grp, row.source),
                    row.row,
                    row.grp,
                    row.source,
                    copy.speaker,
                    row.episode,
                    row,
                )
            )
        return found

    def _copy(self, describer: Any, episode: str, revision: str) -> EpisodeView | None:
        return episode_views(describer.connection, {(episode, revision)}, self.basis.transaction).get((episode, revision))

    @staticmethod
    def _ends(row: Any) -> bool:
        over = row.kind in (str(ClaimKind.STATE), str(ClaimKind.CORRECTION)) and row.from_lo is None and row.to_lo is not None
        if over:
            over = (row.to_lo if row.to_hi == row.to_lo + 1 else row.to_hi) <= row.said
        return row.kind == str(ClaimKind.END) or over

    def turns(self) -> tuple[list[Document], dict[str, str]]:
        """Documents of episodes that count, and which follows which."""
        found, before = [], {}
        last: EpisodeView | None = None
        for view in self.episodes():
            if last is not None and conversation(last.group, last.source) != conversation(view.group, view.source):
                last = None
            said = spoken(view.speaker, view.content or "")
            meaning = said
            if last is not None:
                before[view.key] = last.key
                if len(view.content or "") < SHORT:
                    meaning = spoken(last.speaker, (last.content or "")[:BEFORE]) + "\n" + said
            if view.said_at <= self._until:
                found.append(
                    Document(
                        Kind.EPISODE,
                        view.key,
                        (Kind.EPISODE, view.key, True),
                        tuple(tokens(said)),
                        meaning,
                        conversation(view.group, view.source),
                        0,
                        view.group,
                        view.source,
                        view.speaker,
                        view.key,
                    )
                )
            last = view
        return found, before

    def cosine(self, text: str, other: str) -> float | None:
        """Of a question and a document; None where that has no vector."""
        if self._embedder is None or self._waits(other):
            return None
        one, two = self._embedder.embed_query(text).tolist(), self._embedder.embed_documents([other])[0].tolist()
        return round(math.fsum(a * b for a, b in zip(one, two, strict=True)), 6)

    @property
    def has_vectors(self) -> bool:
        """Whether there is an embedder."""
        return self._embedder is not None


class Asked:
    """One question on a basis."""

    def __init__(self, oracle: Oracle, text: str, options: RecallOptions, filter: StatementFilter, start: Instant, end: Instant) -> None:
        self._oracle, self._text, self._options, self._filter = oracle, text, options, filter
        past = filter.include_invalidated
        told = oracle.told(ever=past)
        self._visible = oracle.told(ever=False)
        self._rectangles = oracle.rectangles(told, start, end, past=past)
        self._literals = {row.object for row in told if row.datatype is not None}
        self.holds = {(row.base, bool(row.polarity)) for row in self._rectangles}
        self._claims = oracle.documents(told, self.holds)
        self._turns, self._before = oracle.turns()
        self.docs = {Kind.STATEMENT: self._claims, Kind.EPISODE: self._turns}
        allowed = [spoken for doc in self._claims for spoken in self._spoken(doc) if self._matches(spoken)]
        self._allowed = {Kind.STATEMENT: allowed, Kind.EPISODE: [doc for doc in self._turns if self._matches_turn(doc, allowed)]}
        self._opinions: dict[Kind, dict[Arm, dict[Unit, tuple[float, int]]]] = {}
        self._best: dict[Kind, dict[Unit, Document]] = {kind: {} for kind in Kind}
        self.most: dict[Kind, float] = {}
        self.hits = self._weigh()

    # ------------------------------------------------------------ filters

    def _spoken(self, doc: Document) -> list[Document]:
        """A document by what it speaks for: what ends speaks for either polarity that counts."""
        kind, base, polarity = doc.unit
        if not self._oracle._ends(doc.claim) or (base, not polarity) not in self.holds:
            return [doc]
        return [doc, replace(doc, unit=(kind, base, not polarity))]

    def _matches(self, doc: Document) -> bool:
        """Whether the claim of a document matches all that is asked."""
        filter, row = self._filter, doc.claim
        checks = [
            filter.group is None or doc.group == filter.group,
            filter.source is None or doc.source == filter.source,
            filter.speaker is None or doc.speaker == filter.speaker,
            filter.polarity is None or doc.unit[2] == filter.polarity,
            filter.min_confidence is None or row.confidence >= filter.min_confidence,
            filter.predicates is None or row.predicate in self._oracle.predicates(filter.predicates),
        ]
        return all(checks)

    def _matches_turn(self, doc: Document, allowed: Sequence[Document]) -> bool:
        filter = self._filter
        own = (
            (filter.group is None or doc.group == filter.group)
            and (filter.source is None or doc.source == filter.source)
            and (filter.speaker is None or doc.speaker == filter.speaker)
        )
        asked = (
            filter.polarity,
            filter.min_confidence,
            filter.predicates,
            filter.subjects,
            filter.objects,
            filter.aspects,
            filter.valid_during,
        )
        if any(value is not None for value in asked):
            return own and any(claim.episode == doc.key for claim in allowed)
        return own

    # ------------------------------------------------------------ arms

    def bm25(self, kind: Kind) -> dict[str, float]:
        """Scores of documents by their place, with the statistics of all that count."""
        docs = self.docs[kind]
        if not docs:
            return {}
        mean = sum(len(doc.words) for doc in docs) / len(docs) or 1.0
        terms = list(dict.fromkeys(query_tokens(self._text)))
        holding = {term: [number for number, doc in enumerate(docs) if term in doc.words] for term in terms}
        rarest = sorted((term for term in terms if holding[term]), key=lambda term: (len(holding[term]), terms.index(term)))[:MOST_TERMS]
        scores: dict[int, float] = defaultdict(float)
        for term in rarest:
            n = len(holding[term])
            idf = math.log(1 + (len(docs) - n + 0.5) / (n + 0.5))
            for number in holding[term]:
                often = docs[number].words.count(term)
                length = len(docs[number].words) / mean
                scores[number] += idf * often * (K1 + 1) / (often + K1 * (1 - B + B * length))
        return {_name(docs[number]): round(score, 6) for number, score in scores.items()}

    def _scores(self, kind: Kind) -> dict[Arm, list[tuple[float, Document]]]:
        """What each arm says of each document that may be found."""
        found: dict[Arm, list[tuple[float, Document]]] = {}
        if Arm.VECTOR in self._options.arms and self._oracle.has_vectors:
            told = [(self._oracle.cosine(self._text, doc.meaning), doc) for doc in self._allowed[kind]]
            found[Arm.VECTOR] = [(score, doc) for score, doc in told if score is not None]
        if Arm.BM25 in self._options.arms:
            words = self.bm25(kind)
            mine = [(words.get(_name(doc), 0.0), doc) for doc in self._allowed[kind]]
            found[Arm.BM25] = [(score, doc) for score, doc in mine if score > 0]
        return found

    # ------------------------------------------------------------ weighing

    def _weigh(self) -> dict[Unit, Found]:
        kinds = [kind for kind in (Kind.STATEMENT, Kind.EPISODE) if kind in self._options.kinds]
        joined: dict[Unit, float] = {}
        units: dict[Kind, list[Unit]] = {}
        scores = {kind: self._scores(kind) for kind in kinds}
        for kind in kinds:
            chosen = {doc.unit for told in scores[kind].values() for _, doc in _one_each(told)[: self._options.candidates]}
            units[kind] = sorted(chosen)
            joined |= self._judge(kind, scores[kind], units[kind])
        seeds = self._seeds(kinds, joined)
        ranked: dict[Kind, dict[Unit, tuple[float, int]]] = {kind: {} for kind in kinds}
        if Arm.PAGERANK in self._options.arms:
            mass: dict[Node, float] = defaultdict(float)
            for unit in seeds:
                mass[_node(unit)] += joined[unit]
            for key in self.named():
                mass["thing", key] += NAMED_MASS
            walked = pushed(self.edges(), mass)
            for kind in kinds:
                ranked[kind] = self._reached(kind, walked, seeds)
        hits: dict[Unit, Found] = {}
        for kind in kinds:
            if set(ranked[kind]) - set(units[kind]):
                units[kind] = sorted({*units[kind], *ranked[kind]})
                for unit in units[kind]:
                    joined.pop(unit, None)
                joined |= self._judge(kind, scores[kind], units[kind])
            self.most[kind] = max((score for score, _ in ranked[kind].values()), default=0.0)
            mine = [unit for unit in seeds if unit[0] is kind]
            scale = SHARE * (max((joined[unit] for unit in units[kind] if unit in joined), default=0.0) or 1.0)
            lowest = min((joined[unit] for unit in mine), default=math.inf)
            for unit in units[kind]:
                score = joined.get(unit, 0.0)
                opinions = {arm: said[unit] for arm, said in self._opinions[kind].items() if unit in said}
                if unit in ranked[kind]:
                    opinions[Arm.PAGERANK] = ranked[kind][unit]
                    score += scale * ranked[kind][unit][0] / self.most[kind]
                uncut = round(score, 6)
                score = uncut if unit in mine else min(uncut, lowest)
                hits[unit] = Found(unit, self._best[kind][unit], score, uncut, opinions, unit in mine)
        return hits

    def _judge(self, kind: Kind, scores: Mapping[Arm, list[tuple[float, Document]]], units: Sequence[Unit]) -> dict[Unit, float]:
        """What the arms say of some units, and the joined scores."""
        said: dict[Arm, dict[Unit, tuple[float, int]]] = {}
        best: dict[Unit, Document] = {}
        for arm in (Arm.VECTOR, Arm.BM25):
            if arm in scores:
                order = _one_each([(score, doc) for score, doc in scores[arm] if doc.unit in set(units)])
                said[arm] = {doc.unit: (score, place + 1) for place, (score, doc) in enumerate(order)}
                for _, doc in order:
                    best.setdefault(doc.unit, doc)
        for doc in self._allowed[kind]:
            if doc.unit in set(units):
                best.setdefault(doc.unit, doc)
        self._opinions[kind], self._best[kind] = said, best
        joined: dict[Unit, float] = defaultdict(float)
        shares = sum(SHARES[arm] for arm in said)
        for arm in sorted(said):
            top = max((score for score, _ in said[arm].values()), default=0.0)
            for unit, (score, rank) in said[arm].items():
                if self._options.fusion is Fusion.RRF:
                    joined[unit] += 1 / (RRF_K + rank)
                else:
                    joined[unit] += SHARES[arm] / shares * max(score, 0.0) / top if top > 0 else 0.0
        return {unit: round(score, 6) for unit, score in joined.items()}

    def _seeds(self, kinds: Sequence[Kind], joined: Mapping[Unit, float]) -> list[Unit]:
        found: list[Unit] = []
        for kind in kinds:
            mine = sorted((unit for unit in joined if unit[0] is kind), key=lambda unit: (-joined[unit], self._best[unit[0]][unit].key))
            found += [unit for unit in mine[:SEEDS] if joined[unit] > 0]
        return found

    # ------------------------------------------------------------ PageRank

    def named(self) -> set[str]:
        """Keys of the entities that the question names, of those that something leads away from."""
        edges = self.edges()
        if self._options.seeds is not None:
            found = {self._oracle.snapshot.key_of(EntityRef(key=key)) for key in self._options.seeds}
        else:
            words = normalise(self._text).split()
            found = set()
            for first in range(len(words)):
                for last in range(first, min(first + LONGEST_NAME, len(words))):
                    run = " ".join(words[first : last + 1]).strip(".,;:!?\"'()[]")
                    for name in (run, run.removesuffix("'s")):
                        if name:
                            found.add(self._oracle.snapshot.key_of(EntityRef(name=name)))
        return {key for key in found if edges.get(("thing", key))}

    def edges(self) -> dict[Node, list[Edge]]:
        """The graph of the basis, each edge from both ends."""
        counted = Counter(row.predicate for row in self._rectangles)
        found: dict[Node, list[Edge]] = defaultdict(list)

        def join(one: Node, other: Node, weight: float) -> None:
            found[one].append(Edge(other, weight))
            found[other].append(Edge(one, weight))

        for row in self._rectangles:
            if row.polarity:
                weight = 1 / math.log2(2 + counted[row.predicate])
                join(("base", row.base), ("thing", row.subject), weight)
                if row.object not in self._literals:
                    join(("base", row.base), ("thing", row.object), weight)
        for doc in self._claims:
            join(("base", doc.unit[1]), ("episode", doc.episode), 1 / math.log2(2 + counted[doc.claim.predicate]))
        for doc in self._turns:
            if doc.key in self._before:
                join(("episode", doc.key), ("episode", self._before[doc.key]), 1.0)
        return found

    def _reached(self, kind: Kind, walked: Mapping[Node, float], seeds: Sequence[Unit]) -> dict[Unit, tuple[float, int]]:
        """What PageRank says of units that it did not start from."""
        told = []
        for doc in self._allowed[kind]:
            # A proposition is one node: it stands for what is affirmed where that holds.
            shown = kind is Kind.EPISODE or doc.unit[2] == ((doc.unit[1], True) in self.holds)
            score = round(walked.get(_node(doc.unit), 0.0), 6)
            if shown and score > 0 and doc.unit not in seeds:
                told.append((score, doc))
        best = _one_each(told)[: self._options.candidates]
        return {doc.unit: (score, place + 1) for place, (score, doc) in enumerate(best)}

    # ------------------------------------------------------------ the order

    def order(self, scores: Mapping[Unit, float] | None = None) -> list[Unit]:
        """The hits that are shown, in order; `scores` stand in the place of those counted here."""
        given = scores or {}
        hits = sorted(
            self.hits.values(),
            key=lambda hit: (-given.get(hit.unit, hit.score), not hit.seed, -hit.uncut, hit.doc.key, hit.unit[2], hit.unit[0]),
        )
        if self._options.superseded_last:
            hits = self._superseded_last(hits)
        kept: list[Found] = []
        seen: set[tuple[str, ...]] = set()
        for hit in hits:
            if hit.doc.kind is Kind.EPISODE and hit.doc.words in seen:
                continue
            if hit.doc.kind is Kind.EPISODE:
                seen.add(hit.doc.words)
            kept.append(hit)
        if self._options.max_per_group is not None:
            often: Counter[tuple[str, str]] = Counter()
            within = []
            for hit in kept:
                often[hit.doc.conversation] += 1
                if often[hit.doc.conversation] <= self._options.max_per_group:
                    within.append(hit)
            kept = within
        return [hit.unit for hit in kept]

    def enders(self, episode: str) -> set[str]:
        """Episodes that ended all that one says on some slot."""
        counted = {doc.row for doc in self._claims}
        by_slot: dict[tuple[str, bool], list[Any]] = defaultdict(list)
        for row in self._visible:
            one, other = self._oracle.one_valued(row.predicate), self._oracle.one_valued(self._oracle.inverse(row.predicate))
            by_slot[row.slot, one].append(row)
            if row.inverse_slot and row.inverse_slot != row.slot:
                by_slot[row.inverse_slot, other].append(row)
        found = set()
        for (_, one_valued), rows in by_slot.items():
            mine = [row for row in rows if row.episode == episode]
            if any(row.row in counted for row in mine):
                continue
            found |= {
                other.episode
                for row in mine
                for other in rows
                if other.row in counted
                and other.said > row.said
                and (one_valued or row.proposition in (other.proposition, other.replaces_proposition))
            }
        return found

    def _superseded_last(self, hits: Sequence[Found]) -> list[Found]:
        places = {hit.unit[1]: place for place, hit in enumerate(hits) if hit.unit[0] is Kind.EPISODE}
        target: dict[int, int] = {}
        for key, place in places.items():
            later = [places[ender] for ender in self.enders(key) if ender in places]
            if later and min(later) > place:
                target[place] = min(later)
        behind: dict[int, list[int]] = defaultdict(list)
        for place in sorted(target):
            behind[target[place]].append(place)
        order: list[Found] = []

        def put(place: int) -> None:
            order.append(hits[place])
            for moved in behind[place]:
                put(moved)

        for place in range(len(hits)):
            if place not in target:
                put(place)
        return order


def conversation(group: str | None, source: str) -> tuple[str, str]:
    """What an episode is a turn of."""
    return ("source", source) if group is None else ("group", group)


def spoken(speaker: str | None, text: str) -> str:
    """A text with its speaker before it."""
    return f"{speaker}: {text}" if speaker and text else text


def claim_text(row: Any, content: str, speaker: str | None) -> str:
    """The document of a claim."""
    parts = [row.subject_text, *([] if row.polarity else ["not"]), row.predicate.replace("_", " ")]
    told = " ".join([*parts, *([row.qualifier] if row.qualifier else []), row.object_text])
    said = spoken(speaker, sentence(content, row.start, row.end))
    return f"{told}. {said}" if said else told


def pagerank(edges: Mapping[Node, Sequence[Edge]], mass: Mapping[Node, float]) -> dict[Node, float]:
    """By power iteration. What reaches a node that nothing leads away from begins anew."""
    if not mass:
        return {}
    total = sum(mass.values())
    teleport = {node: part / total for node, part in mass.items()}
    rest, scores = dict(teleport), dict.fromkeys(teleport, 0.0)
    for _ in range(60):
        going: dict[Node, float] = defaultdict(float)
        for node, amount in rest.items():
            scores[node] = scores.get(node, 0.0) + (1 - DAMPING) * amount
            out = sum(edge.weight for edge in edges.get(node, ()))
            for edge in edges.get(node, ()):
                going[edge.other] += DAMPING * amount * edge.weight / out
            if not out:
                for begin, part in teleport.items():
                    going[begin] += DAMPING * amount * part
        rest = going
    return scores


def _is_last_known(row: Rectangle, rows: Iterable[Rectangle], transaction: int) -> bool:
    """Whether none that was believed longer overlaps it."""
    return not any(
        (other.base, other.polarity) == (row.base, row.polarity)
        and other.v_from < row.v_to
        and row.v_from < other.v_to
        and min(other.tx_to, transaction + 1) > min(row.tx_to, transaction + 1)
        for other in rows
    )


def pushed(edges: Mapping[Node, Sequence[Edge]], mass: Mapping[Node, float]) -> dict[Node, float]:
    """The same by forward push, round by round: what a node holds goes on where it is enough for each of its edges."""
    if not mass:
        return {}
    total = sum(mass.values())
    teleport = {node: part / total for node, part in mass.items()}
    rest, scores = dict(teleport), dict.fromkeys(teleport, 0.0)
    for _ in range(ROUNDS):
        ready = {node: amount for node, amount in rest.items() if amount > LEAST * max(1, len(edges.get(node, ())))}
        if not ready:
            break
        for node, amount in ready.items():
            rest[node] -= amount
            scores[node] = scores.get(node, 0.0) + (1 - DAMPING) * amount
        for node, amount in ready.items():
            out = sum(edge.weight for edge in edges.get(node, ()))
            for edge in edges.get(node, ()):
                rest[edge.other] = rest.get(edge.other, 0.0) + DAMPING * amount * edge.weight / out
            if not out:
                for begin, part in teleport.items():
                    rest[begin] += DAMPING * amount * part
    return scores


def _name(doc: Document) -> str:
    return f"{doc.kind} {doc.key} {doc.row}"


def _node(unit: Unit) -> Node:
    return ("base" if unit[0] is Kind.STATEMENT else "episode"), unit[1]


def _one_each(told: Sequence[tuple[float, Document]]) -> list[tuple[float, Document]]:
    """The best document of each unit, best first; of equal ones the least key."""
    found, seen = [], set()
    for score, doc in sorted(told, key=lambda each: (-each[0], each[1].key, each[1].unit[2])):
        if doc.unit not in seen:
            found.append((score, doc))
        seen.add(doc.unit)
    return found
