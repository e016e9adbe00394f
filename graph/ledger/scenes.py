"""Evidence as of one transaction, loaded for some rectangles together, and what it says of each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Protocol

from sqlalchemy import Connection

from graph.belief.items import Atom, end_of, reads_as_end
from graph.belief.weighing import Weighed
from graph.ledger.evidence import Evidence, Units
from graph.ledger.identity import ClaimRow, Identity, Visibility
from graph.ledger.rectangles import Rectangle, load, read_as
from graph.views import Basis
from ontology.instant import UNBOUNDED_FUTURE, Instant
from ontology.vocabulary import Temporality, Vocabulary


@dataclass(frozen=True, slots=True)
class Cited:
    """What the evidence says of a rectangle: the outcome at the instant shown, the claims that carry it, best first, and how
    its end is stated.
    """

    outcome: Weighed
    atoms: tuple[Atom, ...]
    rows: tuple[ClaimRow, ...]
    to_text: str | None


class Scene:
    """Evidence and units as of one transaction, loaded for some rectangles together."""

    def __init__(
        self,
        connection: Connection,
        vocabulary: Vocabulary,
        visibility: Visibility,
        identity: Identity,
        shown: Collection[Rectangle],
    ) -> None:
        self.identity = identity
        self.evidence = Evidence(connection, vocabulary, visibility, identity)
        identity.load({key for row in shown for key in (row.subject, row.object)})
        load(self.evidence, [self.read(row).place for row in shown])
        self.units = Units(self.evidence)

    def read(self, row: Rectangle) -> Rectangle:
        """A rectangle in terms of the entities that there were."""
        return read_as(self.identity, row)

    def cited(self, row: Rectangle, at: Instant) -> Cited:
        """The evidence of a rectangle, weighed at an instant (outside the rectangle: at its first)."""
        row = self.read(row)
        at = at if row.holds(at) else row.v_from
        outcome = self.units.weigh(row.place, at, row.polarity)
        atoms = self.units.cited(row.place, row.polarity, row.v_from, row.v_to)
        rows = {atom.made_by.id: self.evidence.rows[atom.made_by.id] for atom in atoms}
        best = sorted(rows.values(), key=lambda claim: (-claim.confidence, claim.said, claim.place, claim.id))
        return Cited(outcome, tuple(atoms), tuple(best), _stated_end(best, row.v_to) or self._told_end(row))

    def _told_end(self, row: Rectangle) -> str | None:
        """The end as a claim states it that tells no more than that it is over."""
        if row.v_to == UNBOUNDED_FUTURE or self.evidence.traits(row.predicate).temporal is not Temporality.STATE:
            return None
        ending = (
            item.valid_to.text
            for item in self.evidence.items.get(row.base, ())
            if item.positive == row.polarity and item.valid_to is not None and reads_as_end(item) and end_of(item)[1] == row.v_to
        )
        return min((text for text in ending if text), default=None)


class Loading(Protocol):
    """What loads evidence as of a transaction, on one basis."""

    connection: Connection
    basis: Basis

    def scene(self, transaction: int, shown: Collection[Rectangle], *, who: int | None = None) -> Scene: ...


class SharedScenes:
    """Evidence as of transactions, for some rectangles together: each is loaded once."""

    def __init__(self, scenes: Loading, shown: Collection[Rectangle]) -> None:
        self._from = scenes
        self._transaction = scenes.basis.transaction
        self._at: dict[int, list[Rectangle]] = defaultdict(list)
        for row in shown:
            for moment in [self._transaction] if row.tx_to > self._transaction else [row.tx_to - 1, row.tx_to]:
                self._at[moment].append(row)
        self._scenes: dict[tuple[int, int | None], Scene] = {}

    @property
    def connection(self) -> Connection:
        """Where the ledger is read."""
        return self._from.connection

    def scene(self, transaction: int, shown: Collection[Rectangle], *, who: int | None = None) -> Scene:
        """The evidence as of a transaction; `shown` are some of all the rectangles."""
        found = self._scenes.get((transaction, who))
        if found is None:
            found = self._from.scene(transaction, self._at.get(transaction, shown), who=who)
            self._scenes[transaction, who] = found
        return found


def _stated_end(rows: Iterable[ClaimRow], end: Instant) -> str | None:
    if end == UNBOUNDED_FUTURE:
        return None
    matches = (row.to_text for row in rows if row.to_lo is not None and end in (row.to_hi, row.to_lo) and row.to_text is not None)
    return next(matches, None)
