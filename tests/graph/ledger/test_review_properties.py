"""Properties of judging, rehearsing and extracting again, on random histories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import strategies as st
from sqlalchemy import select

from graph.ledger.claim_list import ClaimList
from graph.ledger.details import Describer
from graph.ledger.schema import claims, episodes
from graph.ledger.selection import TOLD_IN
from graph.service import LedgerGraph
from graph.views import Rehearsal, StatedClaim, StatementFilter
from ontology.claim import ClaimDraft
from ontology.errors import InvalidInput
from tests.graph.ledger.reading import told
from tests.graph.ledger.strategies import Event, Told, drafts
from tests.graph.ledger.test_properties import DEEP, QUICK, Check, examined
from tests.graph.ledger.test_rehearsals import WHOLE, shape
from tests.graph.ledger.worlds import World, pages

Place = tuple[str, int]
"""A claim by the text of its episode and its place in it."""
Judgement = tuple[Place, bool]
"""Reject (True) or restore a claim."""


def read_only(events: Sequence[Event]) -> list[Event]:
    """The same, all of it extracted: what is left out of an extracted episode leaves the others their places."""
    return [replace(one, stated=False) if isinstance(one, Told) else one for one in events]


def places(world: World) -> dict[Place, str]:
    """The IDs of all claims on record."""
    query = select(episodes.c.content, claims.c.place, claims.c.id).join(episodes, TOLD_IN).where(claims.c.namespace == world.namespace)
    with world.graph._engine.connect() as connection:
        return {(row.content, row.place): row.id for row in connection.execute(query)}


def judge(world: World, judgement: Judgement) -> None:
    place, wrong = judgement
    if wrong:
        world.graph.reject(world.namespace, [places(world)[place]], reason="wrong")
    else:
        world.graph.restore(world.namespace, [places(world)[place]])


def listed(world: World, **chosen: Any) -> list[Any]:
    """The claims that are listed, by content."""
    snapshot = world.snapshot(**({"transaction": chosen.pop("transaction")} if "transaction" in chosen else {}))
    views = pages(lambda after: snapshot.claims(StatementFilter(), first=3, after=after, **chosen))
    return sorted(
        (told(view), view.kind, view.said_at, view.confidence, view.candidate, view.evidence.episode.content, view.valid_from or "")
        for view in views
    )


def judgements(events: Sequence[Event], known: set[Place], data: st.DataObject) -> list[Judgement]:
    if not known:
        return []
    return data.draw(st.lists(st.tuples(st.sampled_from(sorted(known)), st.sampled_from([True, True, False])), max_size=6))


def played(ledger: LedgerGraph, events: Sequence[Event], judged: Sequence[Judgement], data: st.DataObject) -> World:
    """A world with the events in batches and the judgements among them, these in their order and after what they judge."""
    world, left, waiting = World(ledger), list(events), list(judged)
    while left:
        size = data.draw(st.integers(1, 3))
        world.in_batches(left[:size], [size])
        left = left[size:]
        while waiting and waiting[0][0] in places(world) and data.draw(st.booleans()):
            judge(world, waiting.pop(0))
    for judgement in waiting:
        judge(world, judgement)
    return world


def rejected_claims_count_as_never_told(ledger: LedgerGraph, events: list[Event], data: st.DataObject) -> None:
    """Whatever the order and batches: one picture, that of a ledger which was only given the claims that count."""
    events = read_only(events)
    judged = judgements(events, set(places(World(ledger, events))), data)
    world = played(ledger, events, judged, data)
    other = played(ledger, data.draw(st.permutations(events)), judged, data)
    ids = places(world)
    last = {ids[place]: wrong for place, wrong in judged}

    def counting(one: Event) -> Event:
        if not isinstance(one, Told):
            return one
        # What is out of range is left out and keeps its place.
        kept = [
            replace(draft, confidence=2.0) if last.get(ids.get((one.draft.content, place), "")) else draft
            for place, draft in enumerate(one.claims)
        ]
        return replace(one, claims=tuple(kept))

    fresh = World(ledger, [counting(one) for one in events])
    assert world.picture() == other.picture() == fresh.picture()
    assert listed(world) == listed(other)
    assert listed(world, rejected=False) == listed(fresh)


def judging_leaves_the_past_alone(ledger: LedgerGraph, events: list[Event], data: st.DataObject) -> None:
    """No judgement changes what was answered before it, of statements or of claims."""
    events = read_only(events)
    world = World(ledger, events)
    seen: dict[int, Any] = {}
    for judgement in judgements(events, set(places(world)), data):
        judge(world, judgement)
        number = world.snapshot().basis.transaction
        seen.setdefault(number, (world.everything(number), listed(world, transaction=number)))
    for number, answers in seen.items():
        assert (world.everything(number), listed(world, transaction=number)) == answers


def a_rehearsal_is_what_then_happens(ledger: LedgerGraph, events: list[Event], data: st.DataObject) -> None:
    """Claims, statements that begin and statements that end; and nothing where the episode is known or refused."""
    world = World(ledger)
    for one in events:
        if not isinstance(one, Told):
            world.record(one)
            continue
        if known := sorted(places(world)):
            judge(world, (data.draw(st.sampled_from(known)), data.draw(st.booleans())))
        before = world.snapshot().basis.transaction
        expected = _rehearsed(world, one)
        assert world.snapshot().basis.transaction == before
        receipt = world.record(one)
        assert (expected is None) == (receipt is None)
        if expected is not None and receipt is not None:
            assert shape(expected) == shape(_recorded(world, receipt.episode_key, before))
            assert shape(_rehearsed(world, one) or Rehearsal((), (), ())) == shape(Rehearsal((), (), ()))


def _rehearsed(world: World, one: Told) -> Rehearsal | None:
    graph, held = world.graph, one.held
    if not one.stated:
        return graph.rehearse_extracted(world.namespace, one.draft, one.claims, (), extractor="test", quarantined=held)
    try:
        return graph.rehearse_stated(world.namespace, one.draft, [StatedClaim(claim) for claim in one.claims])
    except InvalidInput:
        return None


def _recorded(world: World, episode: str, before: int) -> Rehearsal:
    basis = world.graph.snapshot(world.namespace).basis
    if basis.transaction == before:
        return Rehearsal((), (), ())
    with world.graph._engine.connect() as connection:
        describer = Describer(connection, world.graph.keys, world.graph._vocabulary_at, basis)
        found = ClaimList(basis, world.graph.vocabulary()).recorded(describer, episode)
    opened = world.graph.opened_by(world.namespace, basis.transaction, want=WHOLE)
    return Rehearsal(found, tuple(opened), tuple(world.graph.closed_by(world.namespace, basis.transaction, want=WHOLE)))


def extracting_again_is_having_extracted_so(ledger: LedgerGraph, events: list[Event], data: st.DataObject) -> None:
    """With the same claims nothing happens; with others it is as if these had been read in the first place."""
    events = read_only(events)
    world = World(ledger, events)
    read = {one.draft.content: one.claims for one in events if isinstance(one, Told)}
    numbers = world.numbers()
    for found in ledger.extracted(world.namespace):
        assert ledger.reextract(world.namespace, found, read[found.draft.content], extractor="newer").transaction == 0
    assert world.numbers() == numbers
    predicates = sorted({claim.predicate for found in read.values() for claim in found}) or ["likes"]
    wrong = data.draw(st.lists(st.sampled_from(sorted(places(world).items())), max_size=3)) if places(world) else []
    for _, id in wrong:
        ledger.reject(world.namespace, [id], reason="wrong")
    for found in ledger.extracted(world.namespace):
        text = found.draft.content
        read[text] = _other(ledger, read[text], predicates, data)
        again = [ledger.reextract(world.namespace, found, read[text], extractor="newer") for _ in range(2)]
        assert again[1].transaction == 0 and again[1].added == again[1].gone == ()
    for _, id in wrong:
        ledger.restore(world.namespace, [id])
    other = [replace(one, claims=read[one.draft.content]) if isinstance(one, Told) else one for one in events]
    fresh = World(ledger, other)
    assert world.picture() == fresh.picture()
    assert listed(world) == listed(fresh)


def _other(ledger: LedgerGraph, claims: Sequence[ClaimDraft], predicates: list[str], data: st.DataObject) -> tuple[ClaimDraft, ...]:
    """Another reading of a text: some claims as before, some surer or less so, some new."""
    kept = [replace(claim, confidence=data.draw(st.sampled_from([claim.confidence, 0.4, 0.8]))) for claim in claims]
    new = data.draw(st.lists(drafts(ledger.vocabulary(), predicates), max_size=2))
    return tuple(data.draw(st.permutations([claim for claim in kept if data.draw(st.booleans())] + new)))


CHECKS: dict[str, Check] = {
    check.__name__: check
    for check in (
        rejected_claims_count_as_never_told,
        judging_leaves_the_past_alone,
        a_rehearsal_is_what_then_happens,
        extracting_again_is_having_extracted_so,
    )
}


@pytest.mark.parametrize("check", CHECKS)
def test_of_random_histories(check: str, ledger: LedgerGraph) -> None:
    examined(CHECKS[check], ledger, QUICK // 2)


@pytest.mark.deep
@pytest.mark.parametrize("check", CHECKS)
def test_of_very_many_random_histories(check: str, ledger: LedgerGraph) -> None:
    examined(CHECKS[check], ledger, DEEP, largest=8)
