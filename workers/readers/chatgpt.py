"""ChatGPT's export: `conversations.json`, an array of conversations that are trees of messages (in the export's zip too).

Shapes after exports of 2023 to 2026. The array may be gigabytes: it is taken apart conversation by conversation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ontology.episode import EpisodeDraft
from ontology.errors import InvalidInput
from ontology.instant import Instant, zone_named
from workers.readers.chatgpt_messages import Found, found_in, is_hidden
from workers.readers.conversation import Conversation, Utterance
from workers.readers.files import SourceFile
from workers.readers.lines import MAX_LINE, Line, Record, read_objects, split_items, split_lines
from workers.readers.options import ReadOptions
from workers.readers.report import ReadReport, Rejected
from workers.readers.stamps import parse_stamp, stamp_problem

_UNIQUE = 16
"""A message's ID that is this long is one of its own in all conversations."""


@dataclass(frozen=True, slots=True)
class ChatGptReader:
    """Reads conversations. `external_id` is the message's ID, with the conversation's before it where that is short.

    A conversation is its current branch: the way from `current_node` up to the root. What an edit or a second answer left
    aside is counted.
    """

    source: str = "chatgpt"

    def recognises(self, file: SourceFile) -> bool:
        """Whether the head holds a conversation's tree."""
        if not (file.is_array or file.start.startswith(b"{")):
            return False
        return "mapping" in file.keys and bool({"current_node", "children", "conversation_id"} & file.keys)

    def read(self, file: SourceFile, options: ReadOptions, report: ReadReport) -> Iterator[EpisodeDraft | Rejected]:
        """All messages of the current branches, conversation by conversation, each in its order."""
        with file.open() as opened:
            if file.is_array:
                lines: Iterator[Line] = split_items(opened)
            elif file.first_objects:
                lines = split_lines(opened)
            else:
                lines = iter([Line(1, 1, opened.read(MAX_LINE) if file.size <= MAX_LINE else None)])
            for record in read_objects(lines, file.name, report):
                if isinstance(record, Rejected):
                    yield record
                else:
                    yield from _Chat(self.source, file, record, options, report).drafts()


class _Chat:
    """One conversation on its way into drafts."""

    def __init__(self, source: str, file: SourceFile, record: Record, options: ReadOptions, report: ReadReport) -> None:
        self._file, self._record, self._options, self._report = file, record, options, report
        self._zone = zone_named(options.time_zone)
        value = record.value
        names = (value.get("conversation_id"), value.get("id"))
        self._name = next((name for name in names if isinstance(name, str) and name.strip()), f"{file.stem}:{record.place}")
        title = value.get("title")
        self._metadata: dict[str, Any] = {"title": title[:1000]} if isinstance(title, str) and title.strip() else {}
        self._began = self._instant(value.get("create_time"))
        self._conversation = Conversation(source, file.name, options, report, file.modified)

    def drafts(self) -> Iterator[EpisodeDraft | Rejected]:
        """The messages of the current branch."""
        mapping = self._record.value.get("mapping")
        if not isinstance(mapping, dict):
            yield Rejected(self._file.name, self._record.line, "not-an-object", "the conversation has no tree of messages")
            return
        branch = _branch(mapping, self._record.value.get("current_node"))
        aside = sum(1 for name, node in mapping.items() if name not in branch and _message(node) is not None)
        self._report.skipped.update({"other branch": aside} if aside else {})
        first = True
        for name in branch:
            message = _message(mapping[name])
            if message is None:
                continue
            for item in self._said(name, message, first):
                first = False
                yield item
        yield from self._conversation.close()

    def _said(self, node: str, message: Mapping[str, Any], first: bool) -> Iterator[EpisodeDraft | Rejected]:
        if is_hidden(message):
            self._report.skipped["hidden"] += 1
            return
        found = found_in(message, self._report.skipped)
        if found is None:
            return
        if found.artifact is not None and not self._options.include_artifacts:
            self._report.skipped[found.artifact] += 1
            return
        stated = message.get("create_time")
        try:
            stamp = None if stated is None else parse_stamp(stated, self._zone)
        except InvalidInput as failure:
            yield Rejected(self._file.name, self._record.line, "timestamp", stamp_problem(stated, failure))
            return
        # A conversation whose head has no time begins when it was made.
        yield from self._conversation.add(self._utterance(node, message, found, self._began if stamp is None and first else stamp))

    def _utterance(self, node: str, message: Mapping[str, Any], found: Found, stamp: Instant | None) -> Utterance:
        own = message.get("id")
        name = own if isinstance(own, str) and own.strip() else node
        speech, metadata = found.artifact is None, dict(self._metadata)
        noted = message.get("metadata")
        model = noted.get("model_slug") if isinstance(noted, dict) else None
        if isinstance(model, str) and model:
            metadata["model"] = model[:200]
        if found.artifact is not None:
            self._report.artifacts[found.artifact] += 1
            metadata["artifact"] = found.artifact
        addressee = ("assistant" if found.speaker == "user" else "user") if speech else None
        return Utterance(
            text=found.text,
            external_id=name if len(name) >= _UNIQUE else f"{self._name}/{name}",
            line=self._record.line,
            stamp=stamp,
            speaker=found.speaker,
            addressee=addressee,
            group=self._name,
            metadata=metadata,
            speech=speech,
        )

    def _instant(self, stamp: Any) -> Instant | None:
        try:
            return parse_stamp(stamp, self._zone)
        except InvalidInput:
            return None


def _message(node: Any) -> Mapping[str, Any] | None:
    message = node.get("message") if isinstance(node, dict) else None
    return message if isinstance(message, dict) else None


def _branch(mapping: Mapping[str, Any], current: Any) -> dict[str, None]:
    """The nodes from the root to the current one, in this order. Without a current one: to the leaf that was written last."""
    if not isinstance(current, str) or current not in mapping:
        current = _last_leaf(mapping)
    found: dict[str, None] = {}
    while isinstance(current, str) and current in mapping and current not in found:
        found[current] = None
        node = mapping[current]
        current = node.get("parent") if isinstance(node, dict) else None
    return dict.fromkeys(reversed(found))


def _last_leaf(mapping: Mapping[str, Any]) -> str | None:
    parents = {node["parent"] for node in mapping.values() if isinstance(node, dict) and isinstance(node.get("parent"), str)}
    leaves = [name for name in mapping if name not in parents and _message(mapping[name]) is not None]

    def written(name: str) -> float:
        at = (_message(mapping[name]) or {}).get("create_time")
        return float(at) if isinstance(at, (int, float)) else 0.0

    return max(leaves, key=written, default=None)
