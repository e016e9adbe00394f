"""Whether what is newer comes first: pairs of turns of which one supersedes the other, and questions about what was updated."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from api.service import Service
from benchmarks.measuring import table
from benchmarks.recall.asking import DEFAULT, Answers, episodes, ingest, ranking
from benchmarks.recall.measures import told
from benchmarks.recall.questions import Pair
from graph.facade import Snapshot
from graph.recall.tokens import query_tokens
from graph.views import ClaimView, StatementFilter


@dataclass(frozen=True, slots=True)
class Outcome:
    """For each way of asking about a pair whether the newer turn came first. `in_one_slot`: both turns make belief about one slot."""

    in_one_slot: bool
    newer_first: dict[str, bool]


def comes_first(ranked: Sequence[str], newer: Collection[str], older: Collection[str]) -> bool:
    """Whether the first of some is found, and before any of the others."""
    return next((name in newer for name in ranked if name in newer or name in older), False)


def slot_of(snapshot: Snapshot, pair: Pair) -> ClaimView | None:
    """The older turn's claim on a slot on which the newer one has one too."""
    claims = [claim for claim in snapshot.claims(StatementFilter(), first=100).items if not claim.candidate]

    def told_by(turn: str | None) -> dict[tuple[str, str, str], ClaimView]:
        mine = (claim for claim in claims if claim.evidence.episode.external_id == turn)
        return {(claim.subject.key, claim.predicate, claim.qualifier): claim for claim in mine}

    older, newer = told_by(pair.older.external_id), told_by(pair.newer.external_id)
    return next((claim for slot, claim in sorted(older.items()) if slot in newer), None)


def questions_of(pair: Pair, slot: ClaimView | None) -> dict[str, str]:
    """What is asked of a pair: the words that both turns have (else all of both), both turns together, the older turn alone, the slot."""
    older, newer = (f"{turn.speaker} {turn.content}" for turn in (pair.older, pair.newer))
    common = [term for term in dict.fromkeys(query_tokens(older)) if term in query_tokens(newer)]
    asked = {"the words of both": " ".join(common) or f"{older} {newer}", "both turns": f"{older} {newer}", "the older turn": older}
    if slot is not None:
        asked["the slot"] = f"{slot.subject.name} {slot.predicate.replace('_', ' ')} {slot.qualifier}".strip()
    return asked


def outcomes(service: Service, pairs: Sequence[Pair], workers: int) -> dict[bool, list[Outcome]]:
    """Every pair in a namespace of its own, asked with `superseded_last` and without."""
    found: dict[bool, list[Outcome]] = {True: [], False: []}
    for pair in pairs:
        snapshot = ingest(service, f"pair-{pair.id}", [pair.older, pair.newer], workers)
        slot = slot_of(snapshot, pair)
        newer, older = {pair.newer.external_id or ""}, {pair.older.external_id or ""}
        for last, mine in found.items():
            options = episodes(superseded_last=last)
            asked = questions_of(pair, slot).items()
            mine.append(
                Outcome(slot is not None, {way: comes_first(ranking(snapshot, text, options), newer, older) for way, text in asked})
            )
    return found


def pairs_table(found: dict[bool, list[Outcome]]) -> str:
    """The share of pairs whose newer turn came first."""
    rows = []
    for name, chosen in (("in one slot", True), ("all", False)):
        for last, mine in found.items():
            kept = [each for each in mine if each.in_one_slot or not chosen]
            for way in dict.fromkeys(way for each in kept for way in each.newer_first):
                hits = [float(each.newer_first[way]) for each in kept if way in each.newer_first]
                rows.append((name, len(hits), way, "yes" if last else "no", told(hits)))
    return table(("pairs", "number", "asked by", "supersededLast", "newer turn first"), rows)


def updates_line(found: Answers) -> str:
    """The share of questions about something that was updated whose newer turn came before the older one."""
    asked = [
        float(comes_first(ranked, question.newer, question.older))
        for question, _, ranked in found[DEFAULT]
        if question.newer and question.older
    ]
    return f"Of {len(asked)} questions about what was updated the newer turn comes first in {told(asked)}." if asked else ""
