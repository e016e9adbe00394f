"""Predicates of temporal `event`: a claim holds exactly in its own granule or bounds; nothing is projected, nothing rivals."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter

from graph.belief.groups import Groups
from graph.belief.items import Atom
from graph.belief.sweep import Piece
from graph.belief.weighing import Conflict, Support, Verdict, Weighed
from ontology.instant import Instant


def covers(atom: Atom, at: Instant) -> bool:
    """Whether an instant lies in the claim's granule or bounds."""
    return atom.start <= at < atom.end


def weigh_event(fors: Sequence[Atom], against: Sequence[Atom], at: Instant) -> Weighed:
    """Of a claim and a denial that both cover an instant the greater (rank, said) decides; equal ones tie."""
    mine = [atom for atom in fors if covers(atom, at)]
    theirs = [atom for atom in against if covers(atom, at)]
    if not mine:
        return Weighed(Verdict.BEATEN, winners=tuple(theirs)) if theirs else Weighed(Verdict.NOTHING)
    best = max(atom.strength for atom in mine)
    denied = max((atom.strength for atom in theirs), default=None)
    if denied is not None and denied > best:
        return Weighed(Verdict.BEATEN, Support.ATTESTED, winners=tuple(atom for atom in theirs if atom.strength == denied))
    conflict = Conflict.NONE if denied is None else Conflict.TIED if denied == best else Conflict.RESOLVED
    winners = tuple(atom for atom in mine if denied is None or atom.strength >= denied)
    return Weighed(Verdict.HOLDS, Support.ATTESTED, conflict, certain=any(atom.certain(at) for atom in winners), winners=winners)


def sweep_event(fors: Sequence[Atom], against: Sequence[Atom]) -> list[Piece]:
    """The pieces in which the value holds, in order; `winners` stay empty, since every claim that covers an instant is cited."""
    if len(fors) == 1 and not against:
        return [Piece(fors[0].start, fors[0].end, ())]
    mine: Groups[tuple[int, Instant]] = Groups()
    theirs: Groups[tuple[int, Instant]] = Groups()
    steps = [(at, begins, atom, side) for atoms, side in ((fors, mine), (against, theirs)) for atom in atoms for at, begins in _ends(atom)]
    steps.sort(key=itemgetter(0))
    pieces: list[Piece] = []
    since: Instant | None = None
    for at, group in groupby(steps, key=itemgetter(0)):
        for _, begins, atom, side in group:
            if begins:
                side.add(atom.strength, atom)
            else:
                side.remove(atom.strength, atom)
        best, denied = mine.top(), theirs.top()
        holds = best is not None and (denied is None or denied <= best)
        if holds and since is None:
            since = at
        elif not holds and since is not None:
            pieces.append(Piece(since, at, ()))
            since = None
    return pieces


def _ends(atom: Atom) -> tuple[tuple[Instant, bool], tuple[Instant, bool]]:
    return (atom.start, True), (atom.end, False)
