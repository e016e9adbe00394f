"""Codex rollouts: JSON Lines of `{timestamp, type, payload}`, and the older form whose lines are the payloads themselves.

Shapes after the rollout files of codex-cli 0.1 to 0.6x (`~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from extraction.segmentation import speech_spans
from ontology.episode import EpisodeDraft
from ontology.errors import InvalidInput
from ontology.instant import Instant, zone_named
from workers.readers.claude_code import project_of
from workers.readers.codex_items import ENVELOPES, ITEMS, Message, Names, is_injected, item_message, spoken_event
from workers.readers.conversation import Conversation, Utterance
from workers.readers.files import SourceFile
from workers.readers.lines import Record, read_objects, split_lines
from workers.readers.options import ReadOptions
from workers.readers.report import ReadReport, Rejected
from workers.readers.stamps import parse_stamp, stamp_problem

_PAUSE = 1_000_000
"""Microseconds after which a line is no more of the copy at a fork's head: that is written in one go."""
_OLDEST: Instant = 0
_HELD = 1000
"""So many event messages may wait for a message item."""
_ENVELOPE = re.compile(rb'"type"\s*:\s*"(?:session_meta|response_item|event_msg|turn_context|compacted)"\s*,\s*"payload"\s*:')


@dataclass(frozen=True, slots=True)
class CodexReader:
    """Reads one rollout.

    Its lines have no IDs. `external_id` is `session:place`, the place among the session's messages (`t` before it: among its
    artifacts). A fork copies what came before under new stamps, behind a repetition of the parent's `session_meta`: that has the
    parent's IDs, and the parent's own copy counts wherever it is read too.
    """

    source: str = "codex"

    def recognises(self, file: SourceFile) -> bool:
        """Whether the head holds an envelope with a payload, or the first line of an older rollout with an item after it."""
        if not file.is_lines:
            return False
        records = file.first_objects
        if any(_kind(record) in ENVELOPES and isinstance(record.get("payload"), dict) for record in records):
            return True
        old = any(_is_old_meta(record) for record in records[:1])
        if old and (len(records) == 1 or any(_is_old_item(record) for record in records[1:])):
            return True
        return bool(_ENVELOPE.search(file.head))

    def read(self, file: SourceFile, options: ReadOptions, report: ReadReport) -> Iterator[EpisodeDraft | Rejected]:
        """The speech and artifacts in the order of the file."""
        rollout = _Rollout(self.source, file, options, report)
        with file.open() as opened:
            for record in read_objects(split_lines(opened), file.name, report):
                if isinstance(record, Rejected):
                    yield record
                else:
                    yield from rollout.take(record)
        yield from rollout.close()


def _kind(record: Mapping[str, Any]) -> str:
    return str(record.get("type"))


def _is_old_meta(record: Mapping[str, Any]) -> bool:
    return isinstance(record.get("id"), str) and "timestamp" in record and {"instructions", "git"} & record.keys() != set()


def _is_old_item(record: Mapping[str, Any]) -> bool:
    return _kind(record) in ITEMS or record.get("record_type") == "state"


class _Rollout:
    """One file on its way into drafts."""

    def __init__(self, source: str, file: SourceFile, options: ReadOptions, report: ReadReport) -> None:
        self._file, self._options, self._report = file, options, report
        self._zone = zone_named(options.time_zone)
        self._conversation = Conversation(source, file.name, options, report, file.modified)
        self._names = Names()
        self._places: Counter[bool] = Counter()
        self._held: list[tuple[Record, Message]] | None = []
        self._session: str | None = None
        self._origin: str | None = None
        self._began: Instant | None = None
        self._last: Instant | None = None
        self._subagent = False
        self._context: dict[str, str] = {}

    def take(self, record: Record) -> Iterator[EpisodeDraft | Rejected]:
        """The drafts of a line."""
        value = record.value
        kind, payload = _kind(value), value.get("payload")
        if kind in ENVELOPES and "payload" in value:
            if not isinstance(payload, dict):
                yield Rejected(self._file.name, record.line, "text", "the record's payload is no object")
                return
        elif _is_old_meta(value) and self._session is None and kind not in ITEMS:
            kind, payload = "session_meta", value
        elif kind in ITEMS:
            kind, payload = "response_item", value
        elif value.get("record_type") == "state":
            self._report.skipped["state"] += 1
            return
        else:
            self._report.skipped[f"unknown record: {kind[:40]}"] += 1
            return
        self._leave_copy(value.get("timestamp"))
        if kind == "session_meta":
            self._meta(payload)
        elif kind == "turn_context":
            self._note(payload)
        elif kind == "event_msg":
            yield from self._event(record, payload)
        else:
            yield from self._item(record, payload, compacted=kind == "compacted")

    def close(self) -> Iterator[EpisodeDraft | Rejected]:
        """What was only told as events, and what waited for a stamp."""
        held, self._held = self._held or [], None
        for record, message in held:
            yield from self._said(record, message)
        yield from self._conversation.close()

    def _meta(self, payload: dict[str, Any]) -> None:
        self._report.skipped["session_meta"] += 1
        name = payload.get("id")
        if not isinstance(name, str) or not name.strip():
            return
        if self._session is None:
            self._session, self._began = name, self._instant(payload.get("timestamp"))
            source = payload.get("source")
            self._subagent = (isinstance(source, dict) and "subagent" in source) or payload.get("thread_source") == "subagent"
        self._origin = name
        if name != self._session:
            return
        git = payload.get("git")
        self._note(payload)
        for key, value in (("version", payload.get("cli_version")), ("gitBranch", git.get("branch") if isinstance(git, dict) else None)):
            if isinstance(value, str) and value:
                self._context[key] = value[:1000]

    def _instant(self, stamp: Any) -> Instant | None:
        try:
            return parse_stamp(stamp, self._zone)
        except InvalidInput:
            return None

    def _leave_copy(self, stamp: Any) -> None:
        """Where the fork's own `session_meta` does not return, its own part begins after the first pause."""
        if self._origin == self._session:
            return
        at = self._instant(stamp)
        if at is not None and self._last is not None and at - self._last > _PAUSE:
            self._origin = self._session
        self._last = at if at is not None else self._last

    def _note(self, payload: dict[str, Any]) -> None:
        for key in ("cwd", "model"):
            if isinstance(payload.get(key), str) and payload[key]:
                self._context[key] = payload[key][:1000]

    def _event(self, record: Record, payload: dict[str, Any]) -> Iterator[EpisodeDraft | Rejected]:
        """Events repeat what items say; they count only in a rollout that has no message among its items."""
        message = spoken_event(payload)
        if message is None or self._held is None:
            self._report.skipped[f"event {str(payload.get('type'))[:40]}"] += 1
            return
        self._held.append((record, message))
        if len(self._held) >= _HELD:
            held, self._held = self._held, []
            for earlier, told in held:
                yield from self._said(earlier, told)

    def _item(self, record: Record, payload: dict[str, Any], *, compacted: bool) -> Iterator[EpisodeDraft | Rejected]:
        if compacted:
            text = payload.get("message")
            message = Message("assistant", text, "compact summary") if isinstance(text, str) and text.strip() else None
            if message is None:
                self._report.skipped["compacted"] += 1
        else:
            message = item_message(payload, self._names, self._report.skipped)
        if message is not None and message.artifact is None and self._held is not None and not is_injected(message):
            self._report.skipped.update({"event copy": len(self._held)} if self._held else {})
            self._held = None
        if message is not None:
            yield from self._said(record, message)

    def _said(self, record: Record, message: Message) -> Iterator[EpisodeDraft | Rejected]:
        skipped = self._report.skipped
        if not is_injected(message):
            # Counted whatever becomes of it, so that no option moves the others.
            self._places[message.artifact is None] += 1
        if self._subagent and not self._options.include_sidechains:
            skipped["sidechain"] += 1
            return
        if message.artifact is not None and not self._options.include_artifacts:
            skipped[message.artifact] += 1
            return
        if message.artifact is None and (is_injected(message) or not speech_spans(message.text)):
            skipped["no speech"] += 1
            return
        try:
            # The lines of older rollouts have no times of their own.
            stamp = self._began if record.value.get("timestamp") is None else parse_stamp(record.value["timestamp"], self._zone)
        except InvalidInput as failure:
            yield Rejected(self._file.name, record.line, "timestamp", stamp_problem(record.value["timestamp"], failure))
            return
        yield from self._conversation.add(self._utterance(record.line, message, stamp))

    def _utterance(self, line: int, message: Message, stamp: Instant | None) -> Utterance:
        origin, speech = self._origin or self._file.stem, message.artifact is None
        metadata: dict[str, Any] = {**self._context, **message.metadata}
        if self._origin is not None:
            metadata["sessionId"] = self._origin[:1000]
        speaker, addressee = ("user", "assistant") if message.role == "user" else ("assistant", "user")
        if self._subagent:
            speaker, addressee = ("assistant", "subagent") if speaker == "user" else ("subagent", "assistant")
            metadata["sidechain"] = True
        if message.artifact is not None:
            self._report.artifacts[message.artifact] += 1
            metadata["artifact"] = message.artifact
        return Utterance(
            text=message.text,
            external_id=f"{origin}:{'' if speech else 't'}{self._places[speech]}",
            line=line,
            stamp=stamp,
            speaker=speaker if speech else message.role,
            addressee=addressee if speech else None,
            group=origin,
            project=project_of(self._context.get("cwd")),
            metadata=metadata,
            speech=speech,
            # A fork's copies bear the time of the fork, which is not when they were said.
            revised=_OLDEST if self._origin != self._session else None,
        )
