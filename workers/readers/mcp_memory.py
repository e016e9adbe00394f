"""The memory file of the MCP memory server (`memory.jsonl`): entities with observations, and relations between them.

Shapes after `@modelcontextprotocol/server-memory`: `{type: "entity", name, entityType, observations}` and
`{type: "relation", from, to, relationType}`, one on each line. The file states no times.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from graph.views import StatedClaim
from ontology.claim import ClaimDraft, ObjectDraft
from ontology.episode import EpisodeDraft
from ontology.instant import format_instant, zone_named
from ontology.names import MAX_NAME, normalise
from workers.readers.files import SourceFile
from workers.readers.lines import Record, read_objects, split_lines
from workers.readers.options import ReadOptions
from workers.readers.report import ReadReport, Rejected
from workers.readers.stated import StatedEpisode
from workers.readers.texts import parts, storable

_RELATION = ("from", "relationType", "to")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_MAX_PREDICATE = 64
_USER = "default_user"
"""What the server's instructions call whom the assistant talks with."""


def predicate_of(relation: str) -> str | None:
    """A relation's type as the name of a predicate (`worksAt`, `WORKS-AT` and `works at` are `works_at`), or None."""
    name = re.sub(r"[\W_]+", "_", _HUMP.sub("_", relation)).strip("_").lower()[:_MAX_PREDICATE].strip("_")
    return name if name[:1].isalpha() else None


@dataclass(frozen=True, slots=True)
class McpMemoryReader:
    """Reads a memory file.

    A relation and an entity's type are stated claims; each observation is an episode that the entity tells of itself, so that
    words without a subject ("Prefers dark mode") get it. None has an external ID: the same entity and words are one episode. All
    are said when the file was last modified (`saidAtFrom: "file"`), and keep that time when they are read again later.
    """

    source: str = "mcp-memory"

    def recognises(self, file: SourceFile) -> bool:
        """Whether the head holds an entity with observations or a relation."""
        return file.is_lines and any(_is_entity(record) or _is_relation(record) for record in file.first_objects)

    def read(self, file: SourceFile, options: ReadOptions, report: ReadReport) -> Iterator[EpisodeDraft | StatedEpisode | Rejected]:
        """Types, observations and relations in the order of the file."""
        memory = _Memory(self.source, file, options, report)
        with file.open() as opened:
            for record in read_objects(split_lines(opened), file.name, report):
                if isinstance(record, Rejected):
                    yield record
                elif record.value.get("type") == "entity":
                    yield from memory.entity(record)
                elif record.value.get("type") == "relation":
                    yield memory.relation(record)
                else:
                    report.skipped[f"unknown record: {str(record.value.get('type'))[:40]}"] += 1


def _is_entity(record: dict[str, Any]) -> bool:
    return record.get("type") == "entity" and "name" in record and bool({"entityType", "observations"} & record.keys())


def _is_relation(record: dict[str, Any]) -> bool:
    return record.get("type") == "relation" and all(key in record for key in _RELATION)


class _Memory:
    """One file on its way into drafts."""

    def __init__(self, source: str, file: SourceFile, options: ReadOptions, report: ReadReport) -> None:
        zone_named(options.time_zone)
        self._source, self._file, self._options, self._report = source, file, options, report
        self._said = format_instant(file.modified)

    def entity(self, record: Record) -> Iterator[EpisodeDraft | StatedEpisode | Rejected]:
        """The type and the observations of an entity."""
        name = self._name(record, "name")
        if isinstance(name, Rejected):
            yield name
            return
        kind = record.value.get("entityType")
        if isinstance(kind, str) and normalise(kind) and len(kind) <= MAX_NAME:
            kind = storable(kind.strip(), self._report)
            yield self._stated(name, "is_a", kind, f"{name} ({kind})")
        observations = record.value.get("observations", [])
        if not isinstance(observations, list):
            yield Rejected(self._file.name, record.line, "text", "the entity's observations are no list")
            return
        for observation in observations:
            if not isinstance(observation, str):
                yield Rejected(self._file.name, record.line, "text", "an observation is no text")
                continue
            texts = parts(storable(observation, self._report))
            if not texts:
                self._report.skipped["no text"] += 1
            for text in texts:
                yield self._observed(name, text, {"entityType": kind} if isinstance(kind, str) and kind else {})

    def relation(self, record: Record) -> StatedEpisode | Rejected:
        """A relation as a stated claim."""
        names = [self._name(record, key) for key in _RELATION]
        for name in names:
            if isinstance(name, Rejected):
                return name
        subject, relation, target = (str(name) for name in names)
        predicate = predicate_of(relation)
        if predicate is None:
            return Rejected(self._file.name, record.line, "text", "the relation's type is no name of a predicate")
        mapped = self._mapped(subject), self._mapped(target)
        return self._stated(mapped[0], predicate, mapped[1], f"{mapped[0]} {relation} {mapped[1]}", {"relationType": relation})

    def _name(self, record: Record, key: str) -> str | Rejected:
        name = record.value.get(key)
        if not isinstance(name, str) or not normalise(name):
            return Rejected(self._file.name, record.line, "text", f"the {record.value['type']} has no `{key}`")
        if len(name) > MAX_NAME:
            return Rejected(self._file.name, record.line, "name", f"`{key}` has {len(name):,} characters; {MAX_NAME:,} are allowed")
        name = storable(name.strip(), self._report)
        return self._mapped(name) if key == "name" else name

    def _mapped(self, name: str) -> str:
        """The name that the options give to an entity; the user goes by another name here."""
        mapped = self._options.name_of(name, self._source)
        if mapped == name and name.casefold() == _USER:
            return self._options.unnamed(self._source) or name
        return mapped

    def _stated(self, subject: str, predicate: str, target: str, content: str, metadata: dict[str, Any] | None = None) -> StatedEpisode:
        claim = StatedClaim(ClaimDraft(subject, predicate, ObjectDraft(target), rule="client"))
        self._report.read += 1
        return StatedEpisode(self._episode(subject, content, metadata or {}), (claim,))

    def _observed(self, name: str, text: str, metadata: dict[str, Any]) -> EpisodeDraft:
        self._report.read += 1
        return self._episode(name, text, {"about": name, **metadata}, speaker=name)

    def _episode(self, group: str, content: str, metadata: dict[str, Any], speaker: str | None = None) -> EpisodeDraft:
        return EpisodeDraft(
            content=content,
            source=self._source,
            group=group,
            speaker=speaker,
            said_at=self._said,
            time_zone=self._options.time_zone,
            metadata={**metadata, "saidAtFrom": "file"},
        )
