"""Surveys of namespaces, kept between reads: on a transaction under a limit nothing of them ever changes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock, RLock

import numpy as np
from sqlalchemy import bindparam, func, select

from graph.ledger.column_reading import columns, later
from graph.ledger.columns import Columns, Int
from graph.ledger.details import Describer
from graph.ledger.footing import Footing
from graph.ledger.histories import Lengths, SlotHistories
from graph.ledger.identity import Place
from graph.ledger.known_identity import IdentityCache
from graph.ledger.schema import episodes
from graph.ledger.survey import Found, Span, Surveyor
from graph.views import Basis
from ontology.errors import QueryTooComplex
from ontology.instant import UNBOUNDED_FUTURE, UNBOUNDED_PAST, Instant
from ontology.vocabulary import Vocabulary

MOST_KEPT = 8
"""Most surveys that are kept, of all namespaces."""
MOST_ROWS = 2_000_000
"""Most rectangles of theirs altogether, the last asked for aside; some 1 GB."""
FEW = 500
"""Propositions that are looked at by themselves where nothing is kept."""

_OF = episodes.c.namespace == bindparam("namespace")
_LAST_SAID = select(func.max(episodes.c.said)).where(_OF, episodes.c.said <= bindparam("said_until"))
_ANYTHING_LATER = select(episodes.c.row).where(_OF, episodes.c.said > bindparam("said_until")).limit(1)

Name = tuple[str, int, Instant | None]
"""Namespace, transaction, and under a limit when something was last said by it: limits between which nothing is said are one."""


@dataclass(frozen=True)
class Weighed:
    """What was found of the evidence, by rows of the columns: `attested` of each (of what is open), and the spans in which rows are
    contested.
    """

    attested: Int
    contested: Int
    since: Int
    until: Int

    def contested_at(self, at: Instant) -> Int:
        """The rows that are contested at an instant, if they hold at it; each once."""
        return np.unique(self.contested[(self.since <= at) & (at < self.until)])


class Survey:
    """One namespace on a transaction, under a limit or none: its rectangles as columns, and when first asked what else is needed."""

    def __init__(self, rows: Columns, vocabulary: Vocabulary, epoch: int) -> None:
        """`epoch` is the transaction that last changed who is who."""
        self.columns = rows
        self.vocabulary = vocabulary
        self.epoch = epoch
        self.found: Found | None = None
        self.refused: str | None = None
        """Why its evidence cannot be looked at as a whole."""
        self.first_said: tuple[Int, Int] | None = None
        """Of each row, under a limit, between which instants the evidence first said so, once someone has asked; one where it is known."""
        self.lock = RLock()

    @cached_property
    def histories(self) -> SlotHistories:
        """Its slots, as affirmations are stored."""
        return SlotHistories(self.columns, self.vocabulary)

    @cached_property
    def turned(self) -> SlotHistories:
        """Its slots from the other side of inverse pairs."""
        return SlotHistories(self.columns, self.vocabulary, turned=True)

    @cached_property
    def lengths(self) -> Lengths:
        """How long closed intervals were."""
        return Lengths(self.columns)

    @cached_property
    def weighed(self) -> Weighed:
        """What was `found` of the evidence."""
        assert self.found is not None
        return self.aligned(self.found, np.arange(len(self.columns)))

    def aligned(self, found: Found, rows: Int) -> Weighed:
        """What was found, of some rows; of others nothing is attested or contested."""
        columns = self.columns
        attested = np.full(len(columns), UNBOUNDED_PAST, np.int64)
        opened = rows[columns.v_to[rows] == UNBOUNDED_FUTURE]
        attested[opened] = [found.attested.get(value, UNBOUNDED_PAST) for value in columns.values(opened)]
        contested: list[tuple[int, *Span]] = []
        if found.contested:
            values = zip(rows.tolist(), columns.values(rows), strict=True)
            contested = [(row, *span) for row, value in values if value in found.contested for span in found.contested[value]]
        spans = np.array(contested, np.int64).reshape(-1, 3)
        return Weighed(attested, spans[:, 0], spans[:, 1], spans[:, 2])


@dataclass(slots=True)
class _Entry:
    """One survey, made by the first who asks; the others wait for its lock."""

    lock: RLock = field(default_factory=RLock)
    survey: Survey | None = None


class Surveys:
    """Surveys by namespace, transaction and said-time limit. Thread-safe."""

    def __init__(self, identities: IdentityCache) -> None:
        self._identities = identities
        self._lock = Lock()
        self._kept: OrderedDict[Name, _Entry] = OrderedDict()

    def at(self, describer: Describer, footing: Footing) -> Survey:
        """The survey of a basis. Raises QueryTooComplex where too much was said after its limit."""
        name = self._name(describer, footing.basis)
        with self._lock:
            entry = self._kept.setdefault(name, _Entry())
            self._kept.move_to_end(name)
        with entry.lock:
            if entry.survey is None:
                entry.survey = self._made(describer, footing)
                self._forget()
            return entry.survey

    def weighed(self, describer: Describer, footing: Footing, survey: Survey, rows: Int) -> Weighed:
        """What the evidence says of some rows: of few of them alone, unless all has been looked at.

        Raises QueryTooComplex where more claims than the budget have to be looked at.
        """
        surveyor = Surveyor(describer.connection, footing.vocabulary, describer.visibility(footing.basis.transaction), describer.identity)
        if survey.found is None and len(rows) <= FEW:
            places = self._places(describer, survey.columns, rows, footing.basis.transaction)
            return survey.aligned(surveyor.some(places, survey.columns.opened(rows)), rows)
        with survey.lock:
            if survey.refused is not None:
                raise QueryTooComplex(survey.refused)
            if survey.found is None:
                earlier = self._earlier(footing.basis, survey.epoch, survey.vocabulary, weighed=True)
                opened = survey.columns.opened(np.arange(len(survey.columns)))
                try:
                    carried = None
                    if earlier is not None and earlier[0].found is not None:
                        carried = surveyor.carried(earlier[0].found, earlier[1], opened)
                    survey.found = surveyor.everything(opened) if carried is None else carried
                except QueryTooComplex as refusal:
                    survey.refused = refusal.message
                    raise
            return survey.weighed

    @staticmethod
    def _places(describer: Describer, columns: Columns, rows: Int, transaction: int) -> list[Place]:
        stored = columns.rectangles(describer, rows.tolist(), transaction)
        identity = describer.identity
        identity.load({key for row in stored for key in (row.subject, row.object)})
        return list({place.proposition: place for place in (identity.here(row.place) for row in stored)}.values())

    def _name(self, describer: Describer, basis: Basis) -> Name:
        if basis.evidence_until is None:
            return basis.namespace, basis.transaction, None
        values = {"namespace": basis.namespace, "said_until": basis.evidence_until}
        if describer.connection.execute(_ANYTHING_LATER, values).first() is None:
            return basis.namespace, basis.transaction, None
        # Before all that was said there is one limit.
        said = describer.connection.execute(_LAST_SAID, values).scalar()
        return basis.namespace, basis.transaction, UNBOUNDED_PAST if said is None else said

    def _made(self, describer: Describer, footing: Footing) -> Survey:
        basis, vocabulary = footing.basis, footing.vocabulary
        surveyor = Surveyor(describer.connection, vocabulary, describer.visibility(basis.transaction), describer.identity)
        symmetric = (
            [name for name, known in vocabulary.predicates.items() if known.symmetric] if not describer.identity.nothing_joined else []
        )
        epoch = self._identities.at(describer.connection, basis.namespace, basis.transaction).since
        earlier = self._earlier(basis, epoch, vocabulary)
        rows = None
        if earlier is not None:
            rows = later(describer, earlier[0].columns, basis.namespace, earlier[1], basis.transaction, symmetric)
        if rows is None:
            concerned = surveyor.concerned()
            rows = columns(describer, basis.namespace, basis.transaction, concerned, symmetric)
        return Survey(rows, vocabulary, epoch)

    def _earlier(self, basis: Basis, epoch: int, vocabulary: Vocabulary, *, weighed: bool = False) -> tuple[Survey, int] | None:
        """The survey of the last transaction before that this one can be carried forward from, and that transaction. `weighed`: one
        whose evidence has been looked at.
        """
        if basis.evidence_until is not None:
            return None
        with self._lock:
            kept: Sequence[tuple[Name, _Entry]] = list(self._kept.items())
        found = [
            (transaction, entry.survey)
            for (namespace, transaction, until), entry in kept
            if (namespace, until) == (basis.namespace, None) and transaction < basis.transaction
            if entry.survey is not None and (entry.survey.found is not None or not weighed)
            if (entry.survey.epoch, entry.survey.vocabulary.version) == (epoch, vocabulary.version)
        ]
        if not found:
            return None
        before, known = max(found, key=lambda each: each[0])
        return known, before

    def _forget(self) -> None:
        """Drop what was asked for longest ago, as long as it is too much."""
        with self._lock:
            while len(self._kept) > 1 and (
                len(self._kept) > MOST_KEPT
                or sum(len(each.survey.columns) for each in self._kept.values() if each.survey is not None) > MOST_ROWS
            ):
                self._kept.popitem(last=False)
