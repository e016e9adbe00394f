"""Claims as readers see them on a basis: those in the set, and those that a rejection keeps out of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, func, not_, or_, select, true, tuple_

from graph.ledger.directory import Directory, believed_at
from graph.ledger.readings import kept_out
from graph.ledger.schema import claims, episodes, rejections
from graph.ledger.selection import TOLD_IN, Selection, asked
from graph.ledger.sources import episode_views
from graph.views import Basis, ClaimView, EntityView, EpisodeView, EvidenceView, LiteralView, Page, Positions, StatementFilter
from ontology.claim import ClaimKind, Modality
from ontology.errors import InvalidInput
from ontology.vocabulary import Vocabulary

_QUOTE = func.substr(episodes.c.content, claims.c.start + 1, claims.c.end - claims.c.start)


class ClaimList:
    """The claims of one basis."""

    def __init__(self, basis: Basis, vocabulary: Vocabulary) -> None:
        self._basis = basis
        self._vocabulary = vocabulary
        self._selection = Selection(basis, vocabulary)

    def page(
        self,
        connection: Connection,
        filter: StatementFilter,
        *,
        candidate: bool | None,
        rejected: bool | None,
        first: int,
        after: Positions | None,
    ) -> Page[ClaimView]:
        """Claims that match, newest said first, then by episode, place and ID. Raises InvalidInput for what a claim has not."""
        for name, given in (("validDuring", filter.valid_during is not None), ("includeInvalidated", filter.include_invalidated)):
            if given:
                raise InvalidInput(f"claims are not filtered by {name}", path=("filter", name), reason="UNSUPPORTED_FOR_CLAIMS")
        query = self._base().where(self._listed(), *self._matching(filter))
        if candidate is not None:
            query = query.where(self._candidate() == candidate)
        if rejected is not None:
            there = rejections.c.row.is_not(None)
            query = query.where(there if rejected else not_(there))
        if after is not None:
            said, *place = after
            beyond = tuple_(episodes.c.key, claims.c.place, claims.c.id) > tuple_(*place)
            query = query.where(or_(episodes.c.said < said, and_(episodes.c.said == said, beyond)))
        order = (episodes.c.said.desc(), episodes.c.key, claims.c.place, claims.c.id)
        rows = list(connection.execute(query.order_by(*order).limit(first + 1)))
        shown = rows[:first]
        positions = tuple((row.said, row.episode, row.place, row.id) for row in shown)
        return Page(self._views(connection, shown, filter), positions, len(rows) > first)

    def recorded(self, connection: Connection, episode: str) -> tuple[ClaimView, ...]:
        """The claims that the basis' transaction recorded of an episode, in their places; also those that are no evidence."""
        query = self._base().where(claims.c.episode == episode, claims.c.tx_from == self._basis.transaction)
        rows = list(connection.execute(query.order_by(claims.c.place, claims.c.row)))
        return self._views(connection, rows, StatementFilter())

    def _base(self) -> Select[Any]:
        """Claims beside the copy that they stand in and the rejection that stands on them."""
        there = and_(rejections.c.claim == claims.c.id, believed_at(rejections, self._basis.transaction))
        told = (
            self._candidate().label("candidate"),
            rejections.c.row.label("rejection"),
            rejections.c.reason.label("rejected_for"),
            _QUOTE.label("quote"),
        )
        return select(claims, *told).join(episodes, TOLD_IN).outerjoin(rejections, there)

    def _candidate(self) -> ColumnElement[bool]:
        """Whether a claim makes no belief: the one place that says so."""
        return not_(claims.c.believed)

    def _listed(self) -> ColumnElement[bool]:
        """Claims that the copies which are evidence at the transaction have: the row in the set, or the last one where it is rejected."""
        transaction, until = self._basis.transaction, self._basis.evidence_until
        later = claims.alias()
        newer = select(later.c.row).where(
            later.c.id == claims.c.id,
            later.c.revision == claims.c.revision,
            later.c.row > claims.c.row,
            later.c.tx_from <= transaction,
        )
        out = and_(claims.c.tx_from <= transaction, kept_out(), not_(newer.exists()))
        return and_(
            episodes.c.namespace == self._basis.namespace,
            believed_at(episodes, transaction),
            episodes.c.said <= until if until is not None else true(),
            or_(believed_at(claims, transaction), out),
        )

    def _matching(self, filter: StatementFilter) -> list[ColumnElement[bool]]:
        asks: tuple[tuple[ColumnElement[Any], Any], ...] = (
            (claims.c.grp, filter.group),
            (claims.c.source, filter.source),
            (episodes.c.speaker, filter.speaker),
        )
        found: list[ColumnElement[bool]] = [column == value for column, value in asks if value is not None]
        if filter.min_confidence is not None:
            found.append(claims.c.confidence >= filter.min_confidence)
        if filter.aspects is not None:
            named = [name for name, known in self._vocabulary.predicates.items() if known.aspect in filter.aspects]
            found.append(claims.c.predicate.in_(named))
        stated = true() if filter.polarity is None else claims.c.polarity == filter.polarity
        if filter.predicates is None:
            return [*found, stated, *self._of(filter, frozenset(), self._symmetric)]
        names = asked(self._vocabulary, filter.predicates)
        # An antonym is the same slot with the other polarity: "dislikes" is what denies "likes".
        denied = and_(claims.c.predicate.in_(names.negated), claims.c.polarity == (filter.polarity is False))
        straight = and_(claims.c.predicate.in_(names.plain | names.swapped), stated)
        return [*found, or_(straight, denied), *self._of(filter, names.swapped, names.swapped | self._symmetric)]

    @property
    def _symmetric(self) -> frozenset[str]:
        return frozenset(name for name, predicate in self._vocabulary.predicates.items() if predicate.symmetric)

    @staticmethod
    def _of(filter: StatementFilter, swapped: frozenset[str], turned: frozenset[str]) -> list[ColumnElement[bool]]:
        """Claims on the wanted subjects and objects, as they are seen from the side that is asked for."""
        if filter.subjects is None and filter.objects is None:
            return []
        straight: list[ColumnElement[bool]] = []
        other: list[ColumnElement[bool]] = []
        for keys, one, two in ((filter.subjects, claims.c.subject, claims.c.object), (filter.objects, claims.c.object, claims.c.subject)):
            if keys is not None:
                straight.append(one.in_(keys))
                other.append(two.in_(keys))
        return [or_(and_(claims.c.predicate.not_in(swapped), *straight), and_(claims.c.predicate.in_(turned), *other))]

    def _views(self, connection: Connection, rows: Sequence[Row[Any]], filter: StatementFilter) -> tuple[ClaimView, ...]:
        basis = self._basis
        directory = Directory(connection, basis.namespace, basis.transaction, basis.evidence_until)
        directory.load({key for row in rows for key in (row.subject, row.object)})
        told = episode_views(connection, {(row.episode, row.revision) for row in rows}, basis.transaction)
        return tuple(self._view(row, directory, told[row.episode, row.revision], filter) for row in rows)

    def _view(self, row: Row[Any], directory: Directory, episode: EpisodeView, filter: StatementFilter) -> ClaimView:
        subject, object = _thing(directory, row, "subject"), _thing(directory, row, "object")
        predicate = row.predicate
        if self._selection.turned(row, None, "ANY", filter):
            subject, object = object, subject
            predicate = self._vocabulary.predicate(predicate).inverse or predicate
        return ClaimView(
            row.id,
            subject,  # type: ignore[arg-type]
            predicate,
            row.qualifier,
            object,
            row.polarity,
            ClaimKind(row.kind),
            Modality(row.modality),
            row.from_text,
            row.to_text,
            row.said,
            row.confidence,
            row.rule,
            row.additive,
            row.candidate,
            row.rejection is not None,
            row.rejected_for,
            EvidenceView(row.id, episode, row.quote or "", row.start, row.end, row.extractor),
        )


def _thing(directory: Directory, row: Row[Any], side: str) -> EntityView | LiteralView:
    """A side of a claim; what the basis knows nothing else of (candidates and rejected claims name nothing) as the claim calls it."""
    key, text = row._mapping[side], row._mapping[f"{side}_text"]
    known = directory.thing(key)
    if known is not None:
        return known
    if side == "object" and row.datatype is not None:
        return LiteralView(key, text, row.datatype)
    return EntityView(key, text, row._mapping[f"{side}_type"])
