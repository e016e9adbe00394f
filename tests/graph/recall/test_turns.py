"""What follows what, against a naive recomputation at every transaction."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from graph.recall.feed import EpisodeEvent, EpisodeRow
from graph.recall.turns import Following, Gone, Turns


@dataclass
class Told:
    """What was told of an episode: since when, and what it follows."""

    episode: EpisodeRow
    before: EpisodeRow | None


@st.composite
def histories(draw: st.DrawFn) -> list[EpisodeEvent]:
    """Episodes that come, leave, and come back as another copy: within a transaction what leaves does so first."""
    found: list[EpisodeEvent] = []
    standing: dict[str, EpisodeRow] = {}
    row = 0
    for transaction in range(1, draw(st.integers(1, 8)) + 1):
        keys = draw(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=3, unique=True))
        gone, come = [], []
        for key in keys:
            if key in standing:
                gone.append(EpisodeEvent(transaction, False, standing.pop(key)))
                if draw(st.booleans()):
                    continue
            row += 1
            group = draw(st.sampled_from(["g", "h", None, "chat"]))
            copy = EpisodeRow(row, key, group, draw(st.sampled_from(["chat", "notes"])), None, draw(st.integers(0, 3)))
            standing[key] = copy
            come.append(EpisodeEvent(transaction, True, copy))
        found += sorted(gone, key=_order) + sorted(come, key=_order)
    return found


def _order(event: EpisodeEvent) -> tuple[int, str]:
    return event.episode.said, event.episode.key


def naive(standing: list[EpisodeRow]) -> dict[str, EpisodeRow | None]:
    """What each episode follows."""
    found: dict[str, EpisodeRow | None] = {}
    for episode in standing:
        mine = (episode.group is None, episode.group if episode.group is not None else episode.source)
        earlier = [
            other
            for other in standing
            if (other.group is None, other.group if other.group is not None else other.source) == mine
            and (other.said, other.key) < (episode.said, episode.key)
        ]
        found[episode.key] = max(earlier, key=lambda other: (other.said, other.key), default=None)
    return found


def heard(told: dict[str, Told], changes: list[Following | Gone]) -> None:
    """Take changes as the index does: nothing leaves that is not there, nothing comes twice."""
    for change in changes:
        if isinstance(change, Gone):
            del told[change.key]
        else:
            assert change.episode.key not in told
            told[change.episode.key] = Told(change.episode, change.before)


@settings(max_examples=40, deadline=None)
@given(histories(), st.data())
def test_what_is_told_is_what_follows_at_every_transaction(events: list[EpisodeEvent], data: st.DataObject) -> None:
    turns, told = Turns(), dict[str, Told]()
    standing: dict[str, EpisodeRow] = {}
    for transaction in range(1, 9):
        together = [event for event in events if event.transaction == transaction]
        for event in together:
            if event.comes:
                standing[event.episode.key] = event.episode
            else:
                del standing[event.episode.key]
        changes = turns.follow(together)
        assert {change.transaction for change in changes} <= {transaction}
        heard(told, changes)
        assert {key: one.before for key, one in told.items()} == naive(list(standing.values()))
        assert {key: one.episode for key, one in told.items()} == standing
        if data.draw(st.integers(0, 5)) == 5:
            turns = Turns()
            turns.restore(standing.values())


@settings(max_examples=30, deadline=None)
@given(histories())
def test_a_history_told_at_once_says_the_same_as_transaction_by_transaction(events: list[EpisodeEvent]) -> None:
    turns = Turns()
    piecewise = [change for number in range(1, 9) for change in turns.follow([event for event in events if event.transaction == number])]
    assert Turns().follow(events) == piecewise


@settings(max_examples=30, deadline=None)
@given(histories())
def test_nothing_is_told_that_changes_nothing(events: list[EpisodeEvent]) -> None:
    last: dict[str, Told] = {}
    for change in Turns().follow(events):
        if isinstance(change, Following):
            told = Told(change.episode, change.before)
            assert last.get(change.episode.key) != told
            last[change.episode.key] = told


def test_a_group_and_a_source_of_one_name_are_two_conversations() -> None:
    one, other = EpisodeRow(1, "a", "chat", "notes", None, 1), EpisodeRow(2, "b", None, "chat", None, 2)
    found = Turns().follow([EpisodeEvent(1, True, one), EpisodeEvent(1, True, other)])
    assert [each.before for each in found if isinstance(each, Following)] == [None, None]
