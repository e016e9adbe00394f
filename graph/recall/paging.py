"""Pages of hits: what was ranked, confirmed by the ledger and described by it."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam, select

from graph.ledger.chunks import among, rows_among
from graph.ledger.citing import citing
from graph.ledger.details import Describer
from graph.ledger.identity import Place
from graph.ledger.rectangles import COLUMNS, Rectangle, outlived_among, read_as, rectangle
from graph.ledger.schema import episodes, statements
from graph.ledger.selection import Selection, Wanted
from graph.ledger.slots import Slots
from graph.ledger.sources import episodes_at, views_of
from graph.ledger.standing import standing
from graph.recall.admission import Admission
from graph.recall.filtering import with_all_keys
from graph.recall.namespace import NOBODY
from graph.recall.recalling import Ranking, Recall
from graph.recall.views import Hit, Kind, Recalled
from graph.recall.weighing import Weighed
from graph.views import Basis, EpisodeView, LiteralView, Page, Positions, StatementFilter, Want
from ontology.episode import EpisodeStatus
from ontology.errors import InvalidInput

log = logging.getLogger(__name__)

_HOLDING = select(*COLUMNS).where(
    among(statements.c.base), statements.c.v_from < bindparam("end"), statements.c.v_to > bindparam("start"), standing(statements)
)
_HIDDEN = (EpisodeStatus.RETRACTED, EpisodeStatus.QUARANTINED, EpisodeStatus.ERASED)
_MOST_VERSIONS = 1_000
_AHEAD = 8
"""Hits that are confirmed beyond the page, in case that some are not."""

_Shown = tuple[Weighed, Rectangle | EpisodeView, int]
"""A hit, what it shows, and which of the hit's intervals that is."""


@dataclass(frozen=True, slots=True)
class Pager:
    """Makes pages on one basis."""

    recall: Recall
    describer: Describer
    basis: Basis
    selection: Selection
    slots: Slots
    filter: StatementFilter

    def page(self, ranking: Ranking, first: int, after: Positions | None, want: frozenset[Want]) -> Recalled:
        """The hits after a position."""
        hits = ranking.hits
        start, beyond = _place_of(hits, after) if after is not None else (0, 0)
        shown: list[_Shown] = []
        at = start
        while at < len(hits) and len(shown) <= first:
            chunk = hits[at : at + first + 1 + (_AHEAD if self.basis.evidence_until is None else 0) - len(shown)]
            for hit, found in self._confirmed(ranking, chunk):
                skipped = beyond if at == start and hit.key == hits[start].key and hit.kind is hits[start].kind else 0
                shown += [(hit, each, number) for number, each in enumerate(found) if number >= skipped]
            at += len(chunk)
        page = shown[:first]
        last = next((place for place, hit in enumerate(hits) if page and hit is page[-1][0]), start - 1)
        return Recalled(
            Page(self._described(ranking, page, want), tuple(_position(*each) for each in page), len(shown) > first),
            max(ranking.weighed - last - 1, 0),
            ranking.degraded,
        )

    # ------------------------------------------------------------ confirming

    def _confirmed(self, ranking: Ranking, hits: Sequence[Weighed]) -> list[tuple[Weighed, Sequence[Rectangle | EpisodeView]]]:
        """What the ledger has of hits: the statements' rectangles, or the episodes. What it does not have is left out, and counted."""
        admission = ranking.admission
        assert admission is not None
        found: dict[tuple[Kind, int], list[Any]] = defaultdict(list)
        told = [hit for hit in hits if hit.kind is Kind.STATEMENT]
        if told:
            rows = self._rectangles(ranking, told)
            matching = self._citing([row for unit in rows.values() for row in unit])
            for hit in told:
                found[Kind.STATEMENT, hit.unit] = rows[hit.unit]
        copies = {int(admission.reading.state.episodes["row"][hit.doc]): hit.unit for hit in hits if hit.kind is Kind.EPISODE}
        if copies:
            query = episodes_at(self.basis.transaction).where(among(episodes.c.row))
            known = [copy for copy in rows_among(self.describer.connection, query, copies) if copy.shown_status not in _HIDDEN]
            for copy, view in zip(known, views_of(self.describer.connection, known), strict=True):
                found[Kind.EPISODE, copies[copy.row]].append(view)
        missing = [hit for hit in hits if not found[hit.kind, hit.unit]]
        # Of the past under a said-time limit the stored rectangles tell too much: what was believed by evidence said later.
        if missing and not (self.filter.include_invalidated and self.basis.evidence_until is not None):
            self.recall.mismatched(len(missing))
            log.warning("%d hits of recall are not in the ledger on their basis: the index is wrong", len(missing))
        if told and matching is not None:
            for hit in told:
                found[Kind.STATEMENT, hit.unit] = [row for row in found[Kind.STATEMENT, hit.unit] if row in matching]
        return [(hit, found[hit.kind, hit.unit]) for hit in hits if found[hit.kind, hit.unit]]

    def _citing(self, rows: Sequence[Rectangle]) -> set[Rectangle] | None:
        """Of rectangles those that cite a claim that matches the filter; None where it asks nothing of claims.

        The document that was found tells of the same statement, but may be evidence for another stretch of time.
        """
        told = self.selection.told(self.filter)
        if not told:
            return None
        return citing(self.describer, rows, told)

    def _rectangles(self, ranking: Ranking, hits: Sequence[Weighed]) -> dict[int, list[Rectangle]]:
        """The rectangles of statements by unit, the newest first."""
        admission = ranking.admission
        assert admission is not None
        places = [place_of(admission, hit.doc) for hit in hits]
        identity = self.describer.identity
        identity.load({key for place in places for key in (place.subject, place.object)})
        start, end = self.filter.valid_during or (self.basis.valid_at, self.basis.valid_at + 1)
        if self.basis.evidence_until is not None:
            past = self.filter.include_invalidated
            rows = self.slots.past(self.describer, places) if past else self.describer.told(places)
            if past and self.filter.valid_during is None:
                rows = [row for row in rows if row.v_from < end or row.tx_to <= self.basis.transaction]
            else:
                rows = [row for row in rows if row.v_from < end and row.v_to > start]
        else:
            stored = sorted({key for place in places for key in identity.kept_under(place)})
            rows = self._past(stored) if self.filter.include_invalidated else self._holding(stored, start, end)
        identity.load({key for row in rows for key in (row.subject, row.object)})
        numbers = admission.reading.indexed.bases
        found: dict[int, list[Rectangle]] = defaultdict(list)
        for row in sorted(rows, key=lambda row: (-row.v_from, row.proposition, -row.tx_from)):
            base = numbers.known(read_as(identity, row).base)
            if base is not None:
                found[base * 2 + row.polarity].append(row)
        return found

    def _holding(self, stored: Sequence[str], start: int, end: int) -> list[Rectangle]:
        values = {"start": start, "end": end, "transaction": self.basis.transaction}
        return [rectangle(row) for row in rows_among(self.describer.connection, _HOLDING, stored, **values)]

    def _past(self, stored: Sequence[str]) -> list[Rectangle]:
        """The last known intervals of propositions."""
        filter = StatementFilter(include_invalidated=True, valid_during=self.filter.valid_during)
        found: list[Rectangle] = []
        for base in stored:
            query, values = self.selection.query(Wanted(filter, bases=(base,)), after=None, limit=_MOST_VERSIONS)
            found += [rectangle(row[: len(COLUMNS)]) for row in self.describer.connection.execute(query, values)]
        outlived = outlived_among(self.describer.connection, self.describer.identity, found, self.basis.transaction)
        return [row for row in found if row not in outlived]

    # ------------------------------------------------------------ describing

    def _described(self, ranking: Ranking, page: Sequence[_Shown], want: frozenset[Want]) -> tuple[Hit, ...]:
        rows = [row for _, row, _ in page if isinstance(row, Rectangle)]
        wanted = Wanted(with_all_keys(self.filter, self.describer.identity))
        turned = frozenset(row.base for row in rows if self.selection.turned(row, wanted)) if _from_a_side(self.filter) else frozenset()
        described = iter(self.describer.views(rows, want, turned, sided=wanted.sided))
        keys = {node: key for hit, _, _ in page for node, key in self._on_the_way(ranking, hit)}
        directory = self.describer.directory
        directory.load(keys.values())
        names = {}
        for node, key in keys.items():
            thing = directory.required(key)
            names[node] = thing.value if isinstance(thing, LiteralView) else thing.name
        hits = []
        for hit, shown, _ in page:
            path = tuple(names[node] for node, _ in self._on_the_way(ranking, hit))
            hits.append(Hit(next(described) if isinstance(shown, Rectangle) else shown, hit.score, hit.opinions, path))
        return tuple(hits)

    @staticmethod
    def _on_the_way(ranking: Ranking, hit: Weighed) -> list[tuple[int, str]]:
        """The entities on the way to a hit."""
        assert ranking.admission is not None
        names = ranking.admission.reading.indexed.things.names
        return [(node, names[node // 3]) for node in hit.way if node % 3 == 0]


def _from_a_side(filter: StatementFilter) -> bool:
    """Whether a filter asks for statements as they are seen from one of their ends."""
    return any(part is not None for part in (filter.predicates, filter.subjects, filter.objects))


def place_of(admission: Admission, doc: int) -> Place:
    """Where the proposition of a claim's document stands, by the keys of the basis."""
    reading = admission.reading
    indexed, table = reading.indexed, reading.state.claims
    inverse = int(reading.claims["inverse_slot"][doc])
    return Place(
        indexed.bases.names[reading.claims["base"][doc]],
        indexed.slots.names[reading.claims["slot"][doc]],
        None if inverse == NOBODY else indexed.slots.names[inverse],
        indexed.predicates.names[table["predicate"][doc]],
        indexed.things.names[reading.claims["subject"][doc]],
        indexed.qualifiers.names[table["qualifier"][doc]],
        indexed.things.names[reading.claims["object"][doc]],
    )


def _position(hit: Weighed, _: object, number: int) -> tuple[Any, ...]:
    return (hit.score, str(hit.kind), hit.key, number)


def _place_of(hits: Sequence[Weighed], after: Positions) -> tuple[int, int]:
    """The hit that a page begins with, and how many of its intervals earlier pages have shown."""
    try:
        score, kind, key, number = after
        score, number = float(score), int(number)
    except (TypeError, ValueError) as failure:
        raise InvalidInput("this cursor is none of recall", path=("after",), reason="INVALID_CURSOR") from failure
    for place, hit in enumerate(hits):
        if (hit.kind, hit.key) == (kind, key):
            return place, number + 1
    # It was found while other vectors were there: go on below its score.
    return next((place for place, hit in enumerate(hits) if hit.score < score), len(hits)), 0
