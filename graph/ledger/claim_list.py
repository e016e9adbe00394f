"""Claims as readers see them on a basis: those in the set, and those that a rejection keeps out of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, and_, func, not_, or_, select, text, true, tuple_

from graph.belief.identity import IDENTITY
from graph.ledger.details import Describer
from graph.ledger.directory import Directory
from graph.ledger.identity import Identity
from graph.ledger.readings import kept_out
from graph.ledger.schema import claims, episodes, rejections
from graph.ledger.selection import TOLD_IN, Selection, Wanted, asked
from graph.ledger.sources import episode_views
from graph.ledger.standing import believed_at
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
        describer: Describer,
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
        connection = describer.connection
        filter = self._all_keys(describer.identity, filter)
        query = self._base().where(self._listed(), *self._matching(filter))
        if candidate is not None:
            local = self._local_joins(describer)
            query = query.where(or_(self._candidate(), claims.c.id.in_(local)) == candidate)
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
        return Page(self._views(describer, shown, filter), positions, len(rows) > first)

    def recorded(self, describer: Describer, episode: str) -> tuple[ClaimView, ...]:
        """The claims that the basis' transaction recorded of an episode, in their places; also those that are no evidence."""
        query = self._base().where(claims.c.episode == episode, claims.c.tx_from == self._basis.transaction)
        rows = list(describer.connection.execute(query.order_by(claims.c.place, claims.c.row)))
        return self._views(describer, rows, StatementFilter())

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
        """Whether a claim makes no belief; `_local_joins` are the others that are listed as candidates."""
        return not_(claims.c.believed)

    def _local_joins(self, describer: Describer) -> list[str]:
        """Joins that their own group alone tells: everywhere else they wait for a second group or a person."""
        told = select(claims).where(
            claims.c.namespace == self._basis.namespace,
            # Written out, since a partial index serves no parameter.
            text("claims.predicate = 'also_known_as'"),
            claims.c.extractor != "client",
            believed_at(claims, self._basis.transaction),
        )
        rows = list(describer.connection.execute(told))
        describer.identity.load({key for row in rows for key in (row.subject, row.object)})
        return sorted({row.id for row in rows if _is_local(describer.identity, row)})

    @staticmethod
    def _all_keys(identity: Identity, filter: StatementFilter) -> StatementFilter:
        """The filter with all keys whose mentions may denote the entities that it names."""
        identity.load({*(filter.subjects or ()), *(filter.objects or ())})

        def raws(keys: Sequence[str] | None) -> tuple[str, ...] | None:
            return None if keys is None else tuple(sorted({raw for key in keys for raw in identity.raws(key)}))

        return replace(filter, subjects=raws(filter.subjects), objects=raws(filter.objects))

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
        straight = and_(claims.c.predicate.in_(names.plain), stated)
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

    def _views(self, describer: Describer, rows: Sequence[Row[Any]], filter: StatementFilter) -> tuple[ClaimView, ...]:
        basis, directory, identity = self._basis, describer.directory, describer.identity
        identity.load({key for row in rows for key in (row.subject, row.object)})
        directory.load({_denoted(identity, row, side) for row in rows for side in ("subject", "object")})
        told = episode_views(describer.connection, {(row.episode, row.revision) for row in rows}, basis.transaction)
        return tuple(self._view(row, directory, told[row.episode, row.revision], filter) for row in rows)

    def _view(self, row: Row[Any], directory: Directory, episode: EpisodeView, filter: StatementFilter) -> ClaimView:
        subject, object = _thing(directory, row, "subject"), _thing(directory, row, "object")
        predicate = row.predicate
        if row.predicate == IDENTITY and subject.key == object.key:
            side = "subject" if row.turned else "object"
            object = LiteralView(row._mapping[side], row._mapping[f"{side}_text"], "xsd:string")
        elif row.predicate == IDENTITY and row.turned:
            # As it was told: which is the other name of which.
            subject, object = object, subject
        elif self._selection.turned(row, Wanted(filter)):
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
            row.candidate or (row.rejection is None and _is_local(directory.identity, row)),
            row.rejection is not None,
            row.rejected_for,
            EvidenceView(row.id, episode, row.quote or "", row.start, row.end, row.extractor),
        )


def _is_local(identity: Identity, row: Row[Any]) -> bool:
    """Whether a claim tells a join that does not hold everywhere."""
    if row.predicate != IDENTITY or row.extractor == "client" or not row.believed or not row.polarity or row.kind == str(ClaimKind.END):
        return False
    one, other = (identity.state.after_split(row._mapping[side], row.grp, row.source) for side in ("subject", "object"))
    return identity.root(one) != identity.root(other)


def _denoted(identity: Identity, row: Row[Any], side: str) -> str:
    """The entity that a side of a claim speaks of; names in identity claims are no more than names."""
    raw: str = row._mapping[side]
    if row.scope_group is not None or row.scope_source is not None or (side == "object" and row.datatype is not None):
        return raw
    if row.predicate == IDENTITY:
        return identity.root(identity.state.after_split(raw, row.grp, row.source))
    return identity.denoted(raw, row.grp, row.source)


def _thing(directory: Directory, row: Row[Any], side: str) -> EntityView | LiteralView:
    """A side of a claim; what the basis knows nothing else of (candidates and rejected claims name nothing) as the claim calls it."""
    key, name = _denoted(directory.identity, row, side), row._mapping[f"{side}_text"]
    known = directory.thing(key)
    if known is not None:
        return known
    if side == "object" and row.datatype is not None:
        return LiteralView(key, name, row.datatype)
    return EntityView(key, name, row._mapping[f"{side}_type"])
