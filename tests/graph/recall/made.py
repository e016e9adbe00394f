"""Indexed documents made by hand: claims, rectangles and episodes in short words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from graph.ledger.schema import OPEN
from graph.recall.admission import Admission, Point, admit
from graph.recall.feed import Changes, ClaimDocument, EpisodeEvent, EpisodeRow, RectangleRow
from graph.recall.namespace import Indexed
from graph.recall.reading import Reading

AGES = 1_000_000


def key(name: str) -> str:
    """A key of 32 hexadecimal digits."""
    return blake2b(name.encode(), digest_size=16).hexdigest()


def base(words: str) -> str:
    """The key of what some words say."""
    return key(f"base {words}")


@dataclass
class Made:
    """An index of one namespace. `words` are `subject predicate object`; a row's number is its place."""

    indexed: Indexed = field(default_factory=Indexed)
    rows: int = 0
    texts: dict[int, tuple[str | None, str]] = field(default_factory=dict)

    def _row(self) -> int:
        self.rows += 1
        return self.rows

    def _apply(self, changes: Changes) -> None:
        def contents(rows: Sequence[int]) -> Mapping[int, tuple[str | None, str]]:
            return {row: self.texts[row] for row in rows}

        self.indexed.apply(changes, contents)

    def rectangle(self, words: str, v_from: int, v_to: int, *, tx: tuple[int, int] = (1, OPEN), polarity: bool = True) -> int:
        """A rectangle; answers with its place."""
        subject, predicate, object = words.split()
        where = (base(words), polarity, key(subject), predicate, "", key(object), False, False)
        self._apply(Changes(rectangles=[RectangleRow(self._row(), *where, v_from, v_to, *tx)]))
        return self.indexed.rectangles.size - 1

    def claim(self, words: str, episode: str = "e", **fields: Any) -> int:
        """The document of a claim; answers with its number."""
        subject, predicate, object = words.split()
        row = self._row()
        replaced = fields.pop("replaced", None)
        wrong: list[str] = replaced.split() if replaced else ["", "", ""]
        told = ClaimDocument(
            row=row,
            id=fields.pop("id", key(f"claim {row}")),
            episode=key(episode),
            group=fields.pop("group", "g"),
            source=fields.pop("source", "chat"),
            speaker=None,
            subject=key(subject),
            predicate=predicate,
            qualifier="",
            object=key(object),
            literal=False,
            paired=False,
            proposition=base(words),
            slot=key(f"slot {subject} {predicate}"),
            inverse_slot=fields.pop("inverse_slot", None),
            replaced=base(replaced) if replaced else None,
            replaced_subject=key(wrong[0]) if replaced else None,
            replaced_object=key(wrong[2]) if replaced else None,
            polarity=fields.pop("polarity", True),
            ends=fields.pop("ends", False),
            is_split=False,
            confidence=1.0,
            subject_text=subject,
            object_text=object,
            window="",
            start=0,
            end=0,
            said=fields.pop("said", 0),
            tx_from=fields.pop("tx_from", 1),
            tx_to=fields.pop("tx_to", OPEN),
        )
        assert not fields, fields
        self._apply(Changes(claims=[told]))
        return self.indexed.claims.size - 1

    def episode(self, name: str, text: str = "", *, said: int = 0, tx: int = 1, group: str | None = "g", speaker: str | None = None) -> int:
        """An episode that comes with a transaction; answers with the number of its document."""
        row = self._row()
        self.texts[row] = (speaker, text or name)
        copy = EpisodeRow(row, key(name), group, "chat", speaker, said)
        self._apply(Changes(episodes=[EpisodeEvent(tx, True, copy)]))
        return self.indexed.standing[self.indexed.episode_keys.of(copy.key)]

    def admission(self, at: int, *, until: int | None = None, tx: int = 1, end: int | None = None, past: bool = False) -> Admission:
        """What counts at an instant, or in `[at, end)`."""
        return admit(Reading(self.indexed, self.indexed.state), self.point(at, until=until, tx=tx, end=end, past=past))

    @staticmethod
    def point(at: int, *, until: int | None = None, tx: int = 1, end: int | None = None, past: bool = False) -> Point:
        return Point(tx, at, at + 1 if end is None else end, until, past)
