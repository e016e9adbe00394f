"""Pieces of evidence as columns: what `graph.belief.items` and `graph.belief.opposed` say of each claim, of very many at once.

Of claims that no correction touches, and of predicates that are no events. A property holds them to the slow reading.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from ontology.instant import UNBOUNDED_FUTURE, UNBOUNDED_PAST

Int = NDArray[np.int64]
Flag = NDArray[np.bool_]


@dataclass(frozen=True)
class ClaimColumns:
    """Claims, one an element. Bounds are those of their granules, `[lo, hi)`; a start that is not stated, and an end that is not, lie at
    the unbounded future. `state`, `change` and `end` tell their kinds (a patch is none of them), `static` the predicate.
    """

    polarity: Flag
    state: Flag
    change: Flag
    end: Flag
    static: Flag
    from_lo: Int
    from_hi: Int
    to_lo: Int
    to_hi: Int
    said: Int
    rank: Int

    def __len__(self) -> int:
        return len(self.said)


@dataclass(frozen=True)
class AtomColumns:
    """Pieces of evidence as `items.Atom` has them, in no order; `claim` is the place of the claim that makes each. `first` and `last`
    are what it attests, where `attests` is true.
    """

    claim: Int
    positive: Flag
    shadow: Flag
    start: Int
    latest_start: Int
    end: Int
    horizon: Int
    attests: Flag
    first: Int
    last: Int

    def __len__(self) -> int:
        return len(self.claim)


def atoms(claims: ClaimColumns) -> AtomColumns:
    """The pieces of evidence that claims are: of an end what was before and what follows, of any other one."""
    told_start = claims.from_lo != UNBOUNDED_FUTURE
    exact_start = claims.from_hi - claims.from_lo <= 1
    start = np.where(told_start, claims.from_lo, claims.said)
    last_of_start = np.where(claims.from_hi > claims.from_lo, claims.from_hi - 1, claims.from_lo)
    begun = _contain(claims.from_lo, claims.from_hi, claims.said)
    latest_start = np.where((claims.state | claims.end) & begun, claims.said, last_of_start)
    latest_start = np.where(told_start, latest_start, claims.said)
    is_open = claims.to_lo == UNBOUNDED_FUTURE
    latest_end = np.where(claims.to_hi - claims.to_lo <= 1, claims.to_lo, claims.to_hi)
    over = claims.end | (claims.state & ~told_start & ~is_open & (latest_end <= claims.said))
    going = ~claims.static & ~over
    unending = latest_end == UNBOUNDED_FUTURE
    # What has one bound or none.
    projected = np.where(exact_start | ~told_start, start, np.where(begun, claims.said, last_of_start))
    horizon = np.where(claims.change, projected, np.maximum(claims.said, start))
    horizon = np.where(unending, horizon, np.minimum(claims.to_lo, np.maximum(claims.said, start)))
    imprecise = claims.change & unending & told_start & ~exact_start
    parts = [_made(going, claims.polarity, start, latest_start, claims.to_lo, latest_end, horizon, attests=~imprecise)]
    # An end: what was before, and the denial that follows.
    within = _contain(claims.to_lo, claims.to_hi, claims.said)
    earliest = np.where(is_open, claims.said, np.where(within, np.minimum(claims.to_lo, claims.said), claims.to_lo))
    ended = np.where(is_open | within, claims.said, latest_end)
    before = over & ~claims.static
    past, future = np.full_like(claims.said, UNBOUNDED_PAST), np.full_like(claims.said, UNBOUNDED_FUTURE)
    reached = np.minimum(earliest, np.maximum(claims.said, start))
    parts.append(_made(before & told_start, claims.polarity, start, latest_start, earliest, ended, reached))
    parts.append(_made(before & ~told_start, claims.polarity, past, ended, past, ended, past, shadow=True))
    parts.append(_made(before, ~claims.polarity, ended, ended, future, future, np.maximum(claims.said, ended)))
    # Of what never changes every claim attests all times.
    parts.append(_made(claims.static, claims.polarity & ~claims.end, past, past, future, future, future))
    return AtomColumns(*(np.concatenate([getattr(part, each.name) for part in parts]) for each in fields(AtomColumns)))


def _contain(lo: Int, hi: Int, instant: Int) -> Flag:
    found: Flag = ((lo <= instant) & (instant < hi)) | (lo == instant)
    return found


def _made(
    which: Flag,
    positive: Flag,
    start: Int,
    latest_start: Int,
    earliest_end: Int,
    end: Int,
    horizon: Int,
    *,
    attests: Flag | None = None,
    shadow: bool = False,
) -> AtomColumns:
    """Pieces of evidence of some claims."""
    claim = np.flatnonzero(which)
    first, sure = latest_start[claim], earliest_end[claim]
    bounded = (sure != UNBOUNDED_FUTURE) & (sure != UNBOUNDED_PAST)
    last = np.minimum(horizon[claim], sure - bounded)
    attested: Flag = (first <= last) & (sure != UNBOUNDED_PAST) & (not shadow)
    if attests is not None:
        attested &= attests[claim]
    return AtomColumns(
        claim, positive[claim], np.full(len(claim), shadow), start[claim], first, end[claim], horizon[claim], attested, first, last
    )


def may_oppose(atoms: AtomColumns, unit: Int, side: Int, rank: Int, said: Int, count: int) -> Flag:
    """Of `count` units whether something may be contested in them, as `opposed.may_oppose` tells: no unit in which anything is contested is
    left out. For each piece of evidence its unit, its value and polarity as one number, and its strength.
    """
    found: Flag = np.zeros(count, bool)
    found[unit[~atoms.shadow & (atoms.horizon == atoms.start) & (atoms.start < atoms.latest_start)]] = True
    # Side by side in one unit.
    attest = np.flatnonzero(atoms.attests)
    order = attest[np.lexsort((atoms.last[attest], atoms.first[attest], unit[attest]))]
    _meeting(found, unit[order], unit[order], side[order], atoms.first[order], atoms.last[order], touching=True)
    # Last known of at one instant.
    plain = np.flatnonzero(~atoms.shadow)
    order = plain[np.lexsort((atoms.start[plain], atoms.horizon[plain], unit[plain]))]
    units, horizon = unit[order], atoms.horizon[order]
    fresh = _changes(units) | _changes(horizon)
    group = np.cumsum(fresh) - 1
    beside = side[order]
    # Of two sides, and not all of one strength: some are stronger than others.
    uneven = np.zeros(int(group[-1]) + 1 if len(group) else 0, bool)
    several = uneven.copy()
    for strength in (rank[order], said[order]):
        uneven[group[~fresh & (strength != _before(strength))]] = True
    several[group[~fresh & (beside != _before(beside))]] = True
    found[units[(uneven & several)[group]]] = True
    _meeting(found, units, group, beside, atoms.start[order], atoms.end[order], touching=False)
    return found


def _meeting(found: Flag, unit: Int, group: Int, side: Int, first: Int, last: Int, *, touching: bool) -> None:
    """Mark the units in whose groups spans of two sides meet. They come sorted by group and first instant."""
    if not len(group):
        return
    fresh = _changes(group) | _changes(side)
    runs = np.flatnonzero(fresh)
    until = np.maximum.reduceat(last, runs)
    begins, groups = first[runs], group[runs]
    # All runs before end before the next begins, or one of them has met the next.
    meets = (begins[1:] <= until[:-1]) if touching else (begins[1:] < until[:-1])
    found[unit[runs][1:][meets & (groups[1:] == groups[:-1])]] = True


def _changes(values: Int) -> Flag:
    """Where a value differs from the one before; the first does."""
    found: Flag = np.ones(len(values), bool)
    found[1:] = values[1:] != values[:-1]
    return found


def _before(values: Int) -> Int:
    """Of each place the value before it; of the first itself."""
    return np.concatenate([values[:1], values[:-1]])
