"""What was said before what: the turns of each conversation in their order, transaction by transaction."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from graph.recall.feed import EpisodeEvent, EpisodeRow

Entry = tuple[int, str, EpisodeRow]
"""(said, key, copy): the order in a conversation."""


@dataclass(frozen=True, slots=True)
class Following:
    """From a transaction on an episode follows another one (`before`), or none."""

    transaction: int
    episode: EpisodeRow
    before: EpisodeRow | None


@dataclass(frozen=True, slots=True)
class Gone:
    """From a transaction on what was last told of an episode no longer counts."""

    transaction: int
    key: str


class Turns:
    """The conversations of a namespace. An episode is a turn of its group, or where it has none of its source."""

    def __init__(self) -> None:
        self._sequences: dict[str, list[Entry]] = defaultdict(list)
        self._before: dict[str, EpisodeRow | None] = {}

    @staticmethod
    def conversation(group: str | None, source: str) -> str:
        """The name of a conversation."""
        return f"s{source}" if group is None else f"g{group}"

    def restore(self, standing: Iterable[EpisodeRow]) -> None:
        """Take over the episodes that are found now."""
        for episode in standing:
            self._sequences[self.conversation(episode.group, episode.source)].append((episode.said, episode.key, episode))
        for sequence in self._sequences.values():
            sequence.sort()
            self._before |= {key: sequence[place - 1][2] if place else None for place, (_, key, _) in enumerate(sequence)}

    def follow(self, events: Sequence[EpisodeEvent]) -> list[Following | Gone]:
        """What changes with some events, in their order. A document tells of what was said before it too: so one that arrives late,
        or is withdrawn, changes that of the next one.
        """
        found: list[Following | Gone] = []
        for transaction, together in groupby(events, key=lambda event: event.transaction):
            touched: set[Entry] = set()
            for event in together:
                episode = event.episode
                sequence = self._sequences[self.conversation(episode.group, episode.source)]
                entry = (episode.said, episode.key, episode)
                if event.comes:
                    insort(sequence, entry)
                    touched.add(entry)
                else:
                    sequence.pop(bisect_left(sequence, entry))
                    touched.discard(entry)
                    del self._before[episode.key]
                    found.append(Gone(transaction, episode.key))
                after = bisect_left(sequence, entry) + event.comes
                touched |= set(sequence[after : after + 1])
            found += self._changed(transaction, sorted(touched))
        return found

    def _changed(self, transaction: int, touched: Sequence[Entry]) -> Iterable[Following | Gone]:
        for entry in touched:
            episode = entry[2]
            sequence = self._sequences[self.conversation(episode.group, episode.source)]
            place = bisect_left(sequence, entry)
            if sequence[place : place + 1] != [entry]:
                # It left again in the same transaction.
                continue
            before = sequence[place - 1][2] if place else None
            if episode.key in self._before:
                if self._before[episode.key] == before:
                    continue
                yield Gone(transaction, episode.key)
            self._before[episode.key] = before
            yield Following(transaction, episode, before)
