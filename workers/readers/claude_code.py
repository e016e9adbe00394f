"""Claude Code sessions: JSON Lines of records, of which only what the user and the assistant wrote is speech.

Record shapes after the session schema of Claude Code 2.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from extraction.segmentation import speech_spans
from ontology.episode import EpisodeDraft
from ontology.errors import InvalidInput
from ontology.instant import zone_named
from workers.readers.conversation import Conversation, Utterance
from workers.readers.files import SourceFile
from workers.readers.lines import read_objects, split_lines
from workers.readers.options import ReadOptions
from workers.readers.report import ReadReport, Rejected
from workers.readers.stamps import parse_stamp, stamp_problem

SPEAKING = ("user", "assistant")
KNOWN = frozenset(
    {
        *("system", "summary", "attachment", "progress", "file-history-snapshot", "queue-operation", "pr-link", "agent-name"),
        *("custom-title", "ai-title", "last-prompt", "permission-mode", "agent-setting", "bridge-session", "worktree-state"),
        *("continued-in", "mode", "tag", "result", "file-history-delta", "frame-link"),
    }
)
_RECORD = re.compile(rb'"type"\s*:\s*"(?:user|assistant|summary|system|attachment|file-history-snapshot|queue-operation)"')
_METADATA = ("cwd", "gitBranch", "version", "sessionId", "agentId")
# What marks a message that nobody wrote, and how it is counted.
_UNSAID = (
    ("isCompactSummary", "compact summary"),
    ("isMeta", "meta"),
    ("isVisibleInTranscriptOnly", "transcript only"),
    ("isApiErrorMessage", "api error"),
)


def project_of(cwd: Any) -> str | None:
    """The last part of a working directory, of either kind of path; a home folder is no project."""
    if not isinstance(cwd, str):
        return None
    parts = [part for part in re.split(r"[/\\]+", cwd) if part.strip()]
    home = len(parts) >= 2 and parts[-2].lower() in ("home", "users") and len(parts) <= 3
    return None if not parts or home or parts == ["root"] or parts[-1].endswith(":") else parts[-1]


@dataclass(frozen=True, slots=True)
class ClaudeCodeReader:
    """Reads one session file. `external_id` is the record's uuid, so copies of a line anywhere are one episode."""

    source: str = "claude-code"

    def recognises(self, file: SourceFile) -> bool:
        """Whether the head holds a record with its session, or a line too long for the head looks like one."""
        if not file.is_lines:
            return False
        for record in file.first_objects:
            kind = record.get("type")
            if kind in SPEAKING and isinstance(record.get("message"), dict):
                return True
            if isinstance(kind, str) and kind in KNOWN and any(key in record for key in ("sessionId", "leafUuid", "messageId", "uuid")):
                return True
        return bool({"parentUuid", "isSidechain"} & file.keys) or (bool(_RECORD.search(file.head)) and "sessionId" in file.keys)

    def read(self, file: SourceFile, options: ReadOptions, report: ReadReport) -> Iterator[EpisodeDraft | Rejected]:
        """The session's speech in the order of the file."""
        conversation = Conversation(self.source, file.name, options, report, file.modified, copies=True)
        zone = zone_named(options.time_zone)
        with file.open() as opened:
            for record in read_objects(split_lines(opened), file.name, report):
                if isinstance(record, Rejected):
                    yield record
                    continue
                if not self._is_speech(record.value, options, report):
                    continue
                message = record.value.get("message")
                if not isinstance(message, dict):
                    yield Rejected(file.name, record.line, "text", "the record has no message")
                    continue
                text = self._text(message.get("content"), report)
                if not text:
                    continue
                if not speech_spans(text):
                    report.skipped["no speech"] += 1
                    continue
                try:
                    stamp = None if record.value.get("timestamp") is None else parse_stamp(record.value["timestamp"], zone)
                except InvalidInput as failure:
                    yield Rejected(file.name, record.line, "timestamp", stamp_problem(record.value["timestamp"], failure))
                    continue
                yield from conversation.add(self._utterance(record.value, text, f"{file.stem}:{record.line}", record.line, stamp))
        yield from conversation.close()

    def _is_speech(self, record: dict[str, Any], options: ReadOptions, report: ReadReport) -> bool:
        """Whether a user or an assistant wrote the record; counted where not."""
        kind = record.get("type")
        if kind not in SPEAKING:
            known = isinstance(kind, str) and kind in KNOWN
            report.skipped[str(kind) if known else f"unknown record: {str(kind)[:40]}"] += 1
            return False
        for key, counted in _UNSAID:
            if record.get(key) is True:
                report.skipped[counted] += 1
                return False
        if record.get("isSidechain") is True and not options.include_sidechains:
            report.skipped["sidechain"] += 1
            return False
        message = record.get("message")
        if isinstance(message, dict) and message.get("model") == "<synthetic>":
            report.skipped["synthetic"] += 1
            return False
        return True

    def _text(self, content: Any, report: ReadReport) -> str:
        """The text blocks of a message; the others are counted by their type."""
        if isinstance(content, str):
            return content
        texts = []
        for block in content if isinstance(content, list) else ():
            kind = block.get("type") if isinstance(block, dict) else None
            if isinstance(block, str):
                texts.append(block)
            elif isinstance(block, dict) and kind == "text" and isinstance(block.get("text"), str):
                texts.append(block["text"])
            else:
                report.skipped[str(kind)[:40]] += 1
        return "\n\n".join(text for text in texts if text.strip())

    def _utterance(self, record: dict[str, Any], text: str, fallback: str, line: int, stamp: int | None) -> Utterance:
        uuid = record.get("uuid")
        session = record.get("sessionId")
        metadata = {key: record[key] for key in _METADATA if isinstance(record.get(key), str) and record[key]}
        speaker, addressee = ("user", "assistant") if record["type"] == "user" else ("assistant", "user")
        if record.get("isSidechain") is True:
            # In a sidechain the assistant takes the user's part and a sub-agent its own.
            speaker, addressee = ("assistant", "subagent") if speaker == "user" else ("subagent", "assistant")
            metadata["sidechain"] = True
        return Utterance(
            text=text,
            external_id=uuid if isinstance(uuid, str) and uuid.strip() else fallback,
            line=line,
            stamp=stamp,
            speaker=speaker,
            addressee=addressee,
            group=session if isinstance(session, str) and session else fallback.rpartition(":")[0],
            project=project_of(record.get("cwd")),
            metadata=metadata,
        )
