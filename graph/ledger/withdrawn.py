"""Boundaries that a slot had as far as an earlier transaction knew, until one withdrew what they rested on.

What later words have changed is not among them: the boundaries that are believed tell of that.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import select

from graph.drift import BoundaryReason
from graph.ledger.boundaries import Boundary, Standing, Window
from graph.ledger.chunks import among, rows_among
from graph.ledger.details import Describer
from graph.ledger.endings import Ending, ending_of, withdrawal
from graph.ledger.rectangles import Moments, Rectangle, moments
from graph.ledger.scenes import SharedScenes
from graph.ledger.schema import transactions
from graph.views import Basis
from ontology.errors import QueryTooComplex
from ontology.instant import UNBOUNDED_FUTURE, Instant
from ontology.vocabulary import Vocabulary

MOST_SCENES = 200
"""Most transactions that both took and brought evidence of a slot of which one answer weighs what they did."""

_KINDS = select(transactions.c.number, transactions.c.kind).where(among(transactions.c.number))


@dataclass(frozen=True, slots=True)
class _Loss:
    """From `at` on a value was believed by `row` for the last time."""

    row: Rectangle
    at: Instant


class Withdrawn:
    """What transactions up to a basis have withdrawn of a slot."""

    def __init__(self, describer: Describer, vocabulary: Vocabulary, ever: Sequence[Rectangle], standing: Standing) -> None:
        """`ever` are all rectangles that the slot had up to the basis; `standing` tells of all of them on what they are."""
        self._describer = describer
        self._vocabulary = vocabulary
        self._basis: Basis = describer.basis
        self._ever = ever
        self._standing = standing
        self._groups: dict[str, list[Rectangle]] = defaultdict(list)
        for row in ever:
            self._groups[standing.group_of(row)].append(row)

    def boundaries(self, window: Window) -> list[Boundary]:
        """The withdrawn boundaries in a window. Raises QueryTooComplex where too many transactions would have to be weighed."""
        found: dict[tuple[int, Instant, str], list[_Loss]] = defaultdict(list)
        lost = [loss for loss in self._lost() if window.holds(loss.at)]
        changing = self._changing(lost)
        for loss in lost:
            if loss.row.tx_to in changing:
                found[loss.row.tx_to, loss.at, self._standing.group_of(loss.row)].append(loss)
        mixed = {number for number, *_ in found if changing[number]}
        if len(mixed) > MOST_SCENES:
            raise QueryTooComplex(
                f"{len(mixed)} transactions both took and brought evidence there; one answer weighs {MOST_SCENES}: "
                "give a window with `from` and `to`"
            )
        made: list[Boundary] = []
        by_number: dict[int, list[tuple[Instant, str, list[_Loss]]]] = defaultdict(list)
        for (number, at, group), losses in sorted(found.items()):
            by_number[number].append((at, group, losses))
        for number, each in by_number.items():
            made += self._of(number, each, weighed=number in mixed)
        return made

    def _lost(self) -> Iterator[_Loss]:
        """Of each value the stretches that no later transaction believed, by the rectangle that had them last."""
        values: dict[tuple[str, bool], list[Rectangle]] = defaultdict(list)
        for row in self._ever:
            values[self._standing.bases[row], row.polarity].append(row)
        for rows in values.values():
            covered = _Covered()
            for row in sorted(rows, key=lambda row: (-row.tx_to, row.v_from)):
                gaps = covered.add(row.v_from, row.v_to)
                if row.tx_to <= self._basis.transaction:
                    yield from (_Loss(row, at) for at in gaps)

    def _changing(self, lost: Iterable[_Loss]) -> dict[int, bool]:
        """The transactions that may have withdrawn something, and whether what they did has to be weighed."""
        rows = [loss.row for loss in lost]
        if not rows:
            return {}
        describer = self._describer
        places = {row.base: row.place for row in rows}.values()
        until = UNBOUNDED_FUTURE if self._basis.evidence_until is None else self._basis.evidence_until
        known: Moments = moments(describer.connection, describer.identity, self._vocabulary, list(places), self._basis.transaction, until)
        numbers = {row.tx_to for row in rows}
        kinds = {row.number: row.kind for row in rows_among(describer.connection, _KINDS, numbers)}
        return {
            number: number in known.arrivals or number in known.identity or kinds.get(number) == "ontology"
            for number in numbers
            if number in known.departures or number in known.identity or kinds.get(number) == "ontology"
        }

    def _of(self, number: int, lost: list[tuple[Instant, str, list[_Loss]]], *, weighed: bool) -> Iterator[Boundary]:
        """The boundaries that one transaction withdrew."""
        scenes = SharedScenes(self._describer, [loss.row for _, _, losses in lost for loss in losses])
        for at, group, losses in lost:
            ending = self._ending(scenes, losses, weighed=weighed)
            if ending is None:
                continue
            before = [row for row in self._groups[group] if row.tx_from < number <= row.tx_to and row.holds(at)]
            after = [row for row in self._standing.groups.get(group, ()) if row.holds(at)]
            revived = any(self._revived(scenes, row, at, number, group, weighed=weighed) for row in after)
            reason = BoundaryReason.REVIVED if revived else BoundaryReason[ending.reason.name]
            # The claim that joins or splits counts as long as it is in the set itself.
            claims = [ending.claim] if ending.claim is not None and ending.claim.tx_to > self._basis.transaction else []
            yield Boundary(at, reason, ending.rule, tuple(before), tuple(after), tuple(claims), number)

    def _ending(self, scenes: SharedScenes, losses: list[_Loss], *, weighed: bool) -> Ending | None:
        """How some values were withdrawn; None where words have ended them."""
        if not weighed:
            # Nothing came with it: what was lost rested on what left.
            return withdrawal(self._describer.connection, losses[0].at, losses[0].row.tx_to)
        endings = (ending_of(scenes, loss.row, self._basis.transaction, at=loss.at) for loss in losses)
        return next((ending for ending in endings if ending is not None and ending.withdrawn), None)

    def _revived(self, scenes: SharedScenes, now: Rectangle, at: Instant, number: int, group: str, *, weighed: bool) -> bool:
        """Whether what holds now came back with a transaction: not believed just before it, and not told by new words."""
        value = (self._standing.bases[now], now.polarity)
        mine = [row for row in self._groups[group] if (self._standing.bases[row], row.polarity) == value and row.holds(at)]
        if any(row.tx_from < number <= row.tx_to for row in mine) or not any(row.tx_from <= number < row.tx_to for row in mine):
            return False
        if not weighed:
            return True
        before, after = scenes.scene(number - 1, []), scenes.scene(number, [])
        after.identity.load((now.subject, now.object))
        read = after.read(now)
        told = after.units.cited(read.place, read.polarity, at, at + 1)
        return all(atom.made_by.id in before.evidence.rows for atom in told)


class _Covered:
    """A growing set of stretches of time, kept without overlaps and seams."""

    def __init__(self) -> None:
        self._starts: list[Instant] = []
        self._ends: list[Instant] = []

    def add(self, start: Instant, end: Instant) -> list[Instant]:
        """Take a stretch in; answers with where each part of it begins that was not covered."""
        first, last = bisect_left(self._ends, start), bisect_right(self._starts, end)
        starts, ends = self._starts[first:last], self._ends[first:last]
        gaps, at = [], start
        for one, other in zip(starts, ends, strict=True):
            if at < one and at < end:
                gaps.append(at)
            at = max(at, other)
        if at < end:
            gaps.append(at)
        self._starts[first:last] = [min([start, *starts])]
        self._ends[first:last] = [max([end, *ends])]
        return gaps
