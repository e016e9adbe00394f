"""One conversation on its way into drafts: said times in order, long texts in parts, names mapped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ontology.episode import EpisodeDraft
from ontology.instant import Instant, format_instant
from ontology.names import MAX_NAME
from workers.readers.options import ReadOptions
from workers.readers.report import ReadReport, Rejected
from workers.readers.texts import parts, storable

_HELD = 1000
"""So many messages may wait for the first stamp of their conversation."""


@dataclass(frozen=True, slots=True)
class Utterance:
    """A message as a reader found it. `stamp` is None where the source states no time; `line` is its place in the file.

    `speech` is False for an artifact: text that is kept and that nobody said. Its speaker is what made it, and is not mapped.
    `revised` is when its text became what it is, where the source says that it was edited.
    """

    text: str
    external_id: str
    line: int
    stamp: Instant | None = None
    speaker: str | None = None
    addressee: str | None = None
    group: str | None = None
    project: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    speech: bool = True
    revised: Instant | None = None


class Conversation:
    """Turns utterances, in their order, into drafts of one `source`.

    Where stamps are equal said times go on by microseconds, so that they strictly increase; a stamp earlier than the one
    before stays (its order is the source's own). A message without a stamp follows the one before by a microsecond; at the
    head of a conversation it precedes the first stamped one; without any stamp in it a conversation begins at
    `file_time`, when the file was last modified. With `copies` a second copy of a message gets the time of the first.
    """

    def __init__(
        self, source: str, name: str, options: ReadOptions, report: ReadReport, file_time: Instant, *, copies: bool = False
    ) -> None:
        self._copies = copies
        self._source, self._name, self._options, self._report, self._file_time = source, name, options, report, file_time
        self._stamp: Instant | None = None
        self._said: Instant = 0
        self._current: dict[str, Instant] = {}
        self._moved: dict[str, Instant] = {}
        self._held: list[tuple[Utterance, list[str]]] = []

    def add(self, utterance: Utterance) -> Iterator[EpisodeDraft | Rejected]:
        """The drafts that can be made now that `utterance` is known."""
        problem = self._problem(utterance)
        if problem is not None:
            yield problem
            return
        texts = parts(storable(utterance.text, self._report))
        if not texts:
            self._report.skipped["no text"] += 1
            return
        if self._stamp is None:
            if utterance.stamp is None:
                self._held.append((utterance, texts))
                if len(self._held) >= _HELD:
                    yield from self._release(self._file_time, "file")
                return
            yield from self._release(utterance.stamp - sum(len(held) for _, held in self._held), "next")
        yield from self._drafts(utterance, texts, utterance.stamp, "previous")

    def close(self) -> Iterator[EpisodeDraft | Rejected]:
        """The drafts that waited for a stamp which did not come."""
        yield from self._release(self._file_time, "file")

    def _problem(self, utterance: Utterance) -> Rejected | None:
        for name in (utterance.speaker, utterance.addressee):
            if name is not None and len(name) > MAX_NAME:
                return Rejected(
                    self._name, utterance.line, "name", f"a speaker's name has {len(name):,} characters; {MAX_NAME:,} are allowed"
                )
        if len(utterance.external_id) > MAX_NAME:
            return Rejected(self._name, utterance.line, "id", f"the message's ID is longer than {MAX_NAME:,} characters")
        return None

    def _release(self, first: Instant, basis: str) -> Iterator[EpisodeDraft]:
        held, self._held = self._held, []
        for utterance, texts in held:
            yield from self._drafts(utterance, texts, first if self._stamp is None else None, basis)

    def _drafts(self, utterance: Utterance, texts: list[str], stamp: Instant | None, basis: str) -> Iterator[EpisodeDraft]:
        said = self._place(utterance.external_id, stamp, len(texts))
        metadata = dict(utterance.metadata)
        if utterance.stamp is None:
            metadata["saidAtFrom"] = basis
        for place, text in enumerate(texts):
            self._report.read += 1
            yield EpisodeDraft(
                content=text,
                source=self._source,
                external_id=storable(utterance.external_id, self._report) + (f"#{place + 1}" if place else ""),
                group=self._shown(utterance.group),
                speaker=self._speaker(utterance),
                addressee=self._shown(utterance.addressee, mapped=True),
                said_at=format_instant(said + place),
                time_zone=self._options.time_zone,
                metadata=metadata,
                project=self._shown(utterance.project),
                speech=utterance.speech,
                revised_at=None if utterance.revised is None else format_instant(utterance.revised),
            )

    def _speaker(self, utterance: Utterance) -> str | None:
        if not utterance.speech:
            return self._shown(utterance.speaker)
        return self._shown(utterance.speaker, mapped=True) or self._shown(self._options.unnamed(self._source))

    def _shown(self, name: str | None, *, mapped: bool = False) -> str | None:
        if name is None or not name.strip():
            return None
        return storable(self._options.name_of(name.strip(), self._source) if mapped else name.strip(), self._report)

    def _place(self, key: str, stamp: Instant | None, slots: int) -> Instant:
        """The said time of a message that takes `slots` microseconds."""
        if key in self._moved:
            return self._moved[key]
        if stamp is None:
            stamp = self._said if self._stamp is None else self._stamp
        if self._stamp is not None and self._stamp <= stamp <= self._said:
            if key in self._current:
                return self._current[key]
            said = self._said + 1
            if self._copies:
                self._moved[key] = said
        else:
            said, self._stamp = stamp, stamp
            self._current.clear()
        if self._copies:
            self._current[key] = said
        self._said = said + slots - 1
        return said
