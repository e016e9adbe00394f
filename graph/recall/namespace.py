"""What is indexed of one namespace: documents of claims and of episodes, rectangles, and the edges between what they name.

Rows are appended in the ledger's order and never leave. One thread writes; readers take `state`, which only ever shows what a
whole batch has brought.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from graph.ledger.schema import OPEN
from graph.recall import documents
from graph.recall.columns import Columns, Grouped, GroupedView, Numbers
from graph.recall.feed import Changes, ClaimDocument, EpisodeEvent, RectangleRow
from graph.recall.tokens import tokens
from graph.recall.turns import Following, Gone, Turns
from graph.recall.words import Words, WordsView

Contents = Callable[[Sequence[int]], Mapping[int, tuple[str | None, str]]]
"""Speaker and text of copies of episodes by their rows in the ledger."""
Part = Literal["claims", "episodes"]
Wanted = tuple[Part, int, str]
"""The part that a document belongs to, its number and the text of which it wants a vector."""

NOBODY = -1

_CLAIM_COLUMNS: dict[str, Any] = {
    "row": np.int64,
    "high": np.uint64,
    "low": np.uint64,
    "episode": np.int32,
    "group": np.int32,
    "source": np.int32,
    "speaker": np.int32,
    "subject": np.int32,
    "predicate": np.int32,
    "qualifier": np.int32,
    "object": np.int32,
    "paired": np.bool_,
    "base": np.int32,
    "slot": np.int32,
    "inverse_slot": np.int32,
    "replaced": np.int32,
    "replaced_subject": np.int32,
    "replaced_object": np.int32,
    "polarity": np.bool_,
    "ends": np.bool_,
    "is_split": np.bool_,
    "confidence": np.float64,
    "said": np.int64,
    "tx_from": np.int64,
    "tx_to": np.int64,
    "embedded": np.bool_,
}
_RECTANGLE_COLUMNS: dict[str, Any] = {
    "row": np.int64,
    "base": np.int32,
    "polarity": np.bool_,
    "subject": np.int32,
    "predicate": np.int32,
    "qualifier": np.int32,
    "object": np.int32,
    "literal": np.bool_,
    "paired": np.bool_,
    "v_from": np.int64,
    "v_to": np.int64,
    "tx_from": np.int64,
    "tx_to": np.int64,
}
_EPISODE_COLUMNS: dict[str, Any] = {
    "row": np.int64,
    "high": np.uint64,
    "low": np.uint64,
    "episode": np.int32,
    "before": np.int32,
    "before_row": np.int64,
    "group": np.int32,
    "source": np.int32,
    "speaker": np.int32,
    "print": np.uint64,
    "said": np.int64,
    "tx_from": np.int64,
    "tx_to": np.int64,
    "embedded": np.bool_,
}


# Nodes of the graph: entities, propositions and episodes share one row of numbers; so do the edges' reasons: rectangles, claims,
# and documents of episodes (which follow another).
def thing_node(number: Any) -> Any:
    """The node of an entity."""
    return number * 3


def base_node(number: Any) -> Any:
    """The node of a proposition."""
    return number * 3 + 1


def episode_node(number: Any) -> Any:
    """The node of an episode."""
    return number * 3 + 2


@dataclass(frozen=True, slots=True)
class Table:
    """Columns at one time."""

    columns: Mapping[str, NDArray[Any]]
    size: int

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.columns[name]


@dataclass(frozen=True, slots=True)
class State:
    """All that is indexed of a namespace after a batch."""

    claims: Table
    episodes: Table
    rectangles: Table
    claim_words: WordsView
    episode_words: WordsView
    edges: GroupedView


class Indexed:
    """The documents of one namespace."""

    def __init__(self) -> None:
        self.things = Numbers()
        self.bases = Numbers()
        self.slots = Numbers()
        self.predicates = Numbers()
        self.qualifiers = Numbers()
        self.groups = Numbers()
        self.sources = Numbers()
        self.speakers = Numbers()
        self.episode_keys = Numbers()
        self.terms = Numbers()
        # Numbers of things that are no entities.
        self.literals: set[int] = set()
        self.claims = Columns(**_CLAIM_COLUMNS)
        self.episodes = Columns(**_EPISODE_COLUMNS)
        self.rectangles = Columns(**_RECTANGLE_COLUMNS)
        self.claim_words = Words(self.terms)
        self.episode_words = Words(self.terms)
        self.edges = Grouped(other=np.int32, reason=np.int32, predicate=np.int32)
        self.turns = Turns()
        # The document of each episode that is found now.
        self.standing: dict[int, int] = {}
        self.state = self._state()

    def apply(self, changes: Changes, contents: Contents) -> list[Wanted]:
        """Take a batch in; answers with the texts of the new documents."""
        self._close(self.rectangles, changes.closed)
        self._close(self.claims, changes.ended)
        self._add_rectangles(changes.rectangles)
        wanted = self._add_claims(changes.claims)
        wanted += self._follow_episodes(changes.episodes, contents)
        self.settle()
        return wanted

    def settle(self) -> None:
        """Let readers see all that there is."""
        self.state = self._state()

    def _state(self) -> State:
        words = self.claim_words.view(), self.episode_words.view()
        self.edges.settle()
        claims, episodes, rectangles = (Table(columns.kept(), columns.size) for columns in (self.claims, self.episodes, self.rectangles))
        return State(claims, episodes, rectangles, *words, self.edges.view)

    @staticmethod
    def _close(table: Columns, ended: Sequence[tuple[int, int]]) -> None:
        """Note the last transaction of rows; what does not stand here never counted."""
        if not ended or not table.size:
            return
        rows, ends = (np.array(values, np.int64) for values in zip(*ended, strict=True))
        places = np.searchsorted(table["row"], rows)
        known = np.minimum(places, table.size - 1)
        mine = table["row"][known] == rows
        table["tx_to"][known[mine]] = ends[mine]

    def _add_rectangles(self, added: Sequence[RectangleRow]) -> None:
        rows, edges = [], []
        number = self.rectangles.size
        for row in added:
            subject, object, base = self.things.of(row.subject), self.things.of(row.object), self.bases.of(row.base)
            predicate = self.predicates.of(row.predicate)
            what = (base, row.polarity, subject, predicate, self.qualifiers.of(row.qualifier), object)
            when = (row.v_from, row.v_to, row.tx_from, row.tx_to)
            rows.append((row.row, *what, row.object_is_literal, row.paired, *when))
            if row.polarity:
                edges += between(base_node(base), thing_node(subject), number * 3, predicate)
                if not row.object_is_literal:
                    edges += between(base_node(base), thing_node(object), number * 3, predicate)
            number += 1
        self.rectangles.append(rows)
        self.edges.entries.append(edges)

    def _add_claims(self, added: Sequence[ClaimDocument]) -> list[Wanted]:
        rows, edges, told = [], [], []
        wanted: list[Wanted] = []
        number = self.claims.size
        for claim in added:
            base, episode = self.bases.of(claim.proposition), self.episode_keys.of(claim.episode)
            predicate = self.predicates.of(claim.predicate)
            where = (
                self._group(claim.group),
                self.sources.of(claim.source),
                NOBODY if claim.speaker is None else self.speakers.of(claim.speaker),
            )
            what = (self.things.of(claim.subject), predicate, self.qualifiers.of(claim.qualifier), self.things.of(claim.object))
            slots = (self.slots.of(claim.slot), NOBODY if claim.inverse_slot is None else self.slots.of(claim.inverse_slot))
            replaced = (NOBODY, NOBODY, NOBODY)
            if claim.replaced is not None:
                wrong = (self.things.of(str(claim.replaced_subject)), self.things.of(str(claim.replaced_object)))
                replaced = (self.bases.of(claim.replaced), *wrong)
            kind = (*replaced, claim.polarity, claim.ends, claim.is_split, claim.confidence)
            when = (claim.said, claim.tx_from, claim.tx_to)
            rows.append((claim.row, *halves(claim.id), episode, *where, *what, claim.paired, base, *slots, *kind, *when, False))
            edges += between(base_node(base), episode_node(episode), number * 3 + 1, predicate)
            if claim.literal:
                self.literals.add(what[-1])
            texts = documents.of_claim(claim)
            told.append(tokens(texts.words))
            wanted.append(("claims", number, texts.meaning))
            number += 1
        self.claims.append(rows)
        self.edges.entries.append(edges)
        self.claim_words.append(told)
        return wanted

    def _group(self, group: str | None) -> int:
        return NOBODY if group is None else self.groups.of(group)

    def _follow_episodes(self, events: Sequence[EpisodeEvent], contents: Contents) -> list[Wanted]:
        """New documents for the episodes that come, and for those that from now on follow another one than before."""
        followed = self.turns.follow(events)
        opened = [each for each in followed if isinstance(each, Following)]
        rows_wanted = {copy.row for each in opened for copy in (each.episode, each.before) if copy is not None}
        said = contents(sorted(rows_wanted)) if rows_wanted else {}
        wanted: list[Wanted] = []
        for each in followed:
            if isinstance(each, Gone):
                self.episodes["tx_to"][self.standing.pop(self.episode_keys.of(each.key))] = each.transaction
            else:
                wanted.append(self._add_episode(each, said))
        return wanted

    def _add_episode(self, each: Following, said: Mapping[int, tuple[str | None, str]]) -> Wanted:
        episode, before = each.episode, each.before
        number, doc = self.episode_keys.of(episode.key), self.episodes.size
        previous = (NOBODY, NOBODY) if before is None else (self.episode_keys.of(before.key), before.row)
        where = (
            self._group(episode.group),
            self.sources.of(episode.source),
            NOBODY if episode.speaker is None else self.speakers.of(episode.speaker),
        )
        texts = documents.of_episode(*said[episode.row], None if before is None else said[before.row])
        words = tokens(texts.words)
        when = (episode.said, each.transaction, OPEN)
        self.episodes.append([(episode.row, *halves(episode.key), number, *previous, *where, footprint(words), *when, False)])
        self.standing[number] = doc
        if before is not None:
            self.edges.entries.append(between(episode_node(number), episode_node(previous[0]), doc * 3 + 2, NOBODY))
        self.episode_words.append([words])
        return "episodes", doc, texts.meaning


def footprint(words: Sequence[str]) -> int:
    """What two texts share that say the same, word for word."""
    return int.from_bytes(blake2b(" ".join(words).encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def halves(key: str) -> tuple[int, int]:
    """A key of 32 hexadecimal digits as two numbers of 64 bits that order as it does."""
    return int(key[:16], 16), int(key[16:], 16)


def between(one: int, other: int, reason: int, predicate: int) -> list[tuple[int, int, int, int]]:
    """An edge, from both of its ends."""
    return [(one, other, reason, predicate), (other, one, reason, predicate)]
