"""Claude Code sessions: JSON Lines of records, of which what the user and the assistant wrote is speech.

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
from ontology.instant import Instant, zone_named
from workers.readers.claude_blocks import Piece, Tools, attached, pieces_of, said_by_person
from workers.readers.conversation import Conversation, Utterance
from workers.readers.files import SourceFile
from workers.readers.lines import Record, read_objects, split_lines
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
_TEXTS = 100_000
"""So many texts back a copy under another uuid is known."""
_METADATA = ("cwd", "gitBranch", "version", "sessionId", "agentId")


def project_of(cwd: Any) -> str | None:
    """The last part of a working directory, of either kind of path; a home folder is no project.

    A worktree that Claude Code made (`billing/.claude/worktrees/fix`) belongs to the project that it is of.
    """
    if not isinstance(cwd, str):
        return None
    parts = [part for part in re.split(r"[/\\]+", cwd) if part.strip()]
    for place in range(1, len(parts) - 2):
        if parts[place : place + 2] == [".claude", "worktrees"]:
            parts = parts[:place]
            break
    home = len(parts) >= 2 and parts[-2].lower() in ("home", "users") and len(parts) <= 3
    return None if not parts or home or parts == ["root"] or parts[-1].endswith(":") else parts[-1]


@dataclass(frozen=True, slots=True)
class ClaudeCodeReader:
    """Reads one session file. `external_id` is the record's uuid, so copies of a line anywhere are one episode.

    A result of a tool has the tool call's ID behind its record's, a summary the uuid of the message that it ends with.
    """

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
        """The session's speech and artifacts in the order of the file."""
        session = _Session(self.source, file, options, report)
        with file.open() as opened:
            for record in read_objects(split_lines(opened), file.name, report):
                if isinstance(record, Rejected):
                    yield record
                else:
                    yield from session.take(record)
        yield from session.close()


class _Session:
    """One file on its way into drafts."""

    def __init__(self, source: str, file: SourceFile, options: ReadOptions, report: ReadReport) -> None:
        self._file, self._options, self._report = file, options, report
        self._zone = zone_named(options.time_zone)
        self._conversation = Conversation(source, file.name, options, report, file.modified, copies=True)
        self._tools = Tools()
        self._texts: dict[int, int] = {}

    def close(self) -> Iterator[EpisodeDraft | Rejected]:
        yield from self._conversation.close()

    def take(self, record: Record) -> Iterator[EpisodeDraft | Rejected]:
        """The drafts of a record."""
        value = record.value
        if not self._is_wanted(value):
            return
        if value["type"] in SPEAKING and not isinstance(value.get("message"), dict):
            yield Rejected(self._file.name, record.line, "text", "the record has no message")
            return
        pieces = [piece for piece in self._pieces(value) if self._is_kept(value, piece)]
        if not pieces:
            return
        try:
            stamp = None if value.get("timestamp") is None else parse_stamp(value["timestamp"], self._zone)
        except InvalidInput as failure:
            yield Rejected(self._file.name, record.line, "timestamp", stamp_problem(value["timestamp"], failure))
            return
        for piece in pieces:
            yield from self._conversation.add(self._utterance(value, piece, record.line, stamp))

    def _is_wanted(self, record: dict[str, Any]) -> bool:
        """Whether the record may hold text to keep; counted where not."""
        kind = record.get("type")
        counted = None
        if kind not in (*SPEAKING, "attachment", "summary"):
            counted = str(kind) if isinstance(kind, str) and kind in KNOWN else f"unknown record: {str(kind)[:40]}"
        elif _is_sidechain(record) and not self._options.include_sidechains:
            counted = "sidechain"
        elif kind in SPEAKING:
            counted = said_by_person(record)
        if counted is not None:
            self._report.skipped[counted] += 1
        return counted is None

    def _pieces(self, record: dict[str, Any]) -> list[Piece]:
        skipped = self._report.skipped
        if record["type"] == "summary":
            text = record.get("summary")
            return [Piece(text, "summary", speaker="assistant")] if isinstance(text, str) else []
        if record["type"] == "attachment":
            return attached(record.get("attachment"), skipped)
        if record.get("isCompactSummary") is True:
            found = pieces_of(record["message"].get("content"), self._tools, skipped)
            return [Piece(piece.text, "compact summary", speaker="assistant") for piece in found if piece.artifact is None]
        return pieces_of(record["message"].get("content"), self._tools, skipped)

    def _is_kept(self, record: dict[str, Any], piece: Piece) -> bool:
        """Whether a piece becomes an episode; counted where not."""
        skipped = self._report.skipped
        if piece.artifact is not None and not self._options.include_artifacts:
            skipped[piece.artifact] += 1
        elif piece.artifact is None and not speech_spans(piece.text):
            skipped["no speech"] += 1
        elif self._is_copy(record, piece.text):
            skipped["copy"] += 1
        else:
            return True
        return False

    def _is_copy(self, record: dict[str, Any], text: str) -> bool:
        """Whether another record of this file says the same in the same reply, or at the same millisecond.

        A uuid is a record's identity, but streaming clients have written a conversation again under new ones.
        """
        message = record.get("message")
        when = message.get("id") if isinstance(message, dict) and isinstance(message.get("id"), str) else record.get("timestamp")
        uuid = record.get("uuid")
        if not isinstance(when, str) or not isinstance(uuid, str):
            return False
        first = self._texts.setdefault(hash((record["type"], when, text)), hash(uuid))
        if len(self._texts) > _TEXTS:
            del self._texts[next(iter(self._texts))]
        return first != hash(uuid)

    def _utterance(self, record: dict[str, Any], piece: Piece, line: int, stamp: Instant | None) -> Utterance:
        uuid, session = _identity(record)
        metadata = {key: record[key] for key in _METADATA if isinstance(record.get(key), str) and record[key]} | dict(piece.metadata)
        speaker, addressee = ("assistant", "user") if record["type"] == "assistant" else ("user", "assistant")
        if _is_sidechain(record):
            # In a sidechain the assistant takes the user's part and a sub-agent its own.
            speaker, addressee = ("assistant", "subagent") if speaker == "user" else ("subagent", "assistant")
            metadata["sidechain"] = True
        external_id = uuid or f"{self._file.stem}:{line}"
        if piece.artifact is not None:
            self._report.artifacts[piece.artifact] += 1
            metadata["artifact"] = piece.artifact
        elif record["type"] == "assistant" and isinstance(record["message"].get("id"), str):
            # The parts of one reply are records of their own.
            metadata["messageId"] = record["message"]["id"][:200]
        return Utterance(
            text=piece.text,
            external_id=external_id + (f"/{piece.place}" if piece.place else ""),
            line=line,
            stamp=stamp,
            speaker=speaker if piece.artifact is None else piece.speaker,
            addressee=addressee if piece.artifact is None else None,
            group=session or (None if record["type"] == "summary" else self._file.stem),
            project=project_of(record.get("cwd")),
            metadata=metadata,
            speech=piece.artifact is None,
        )


def _is_sidechain(record: dict[str, Any]) -> bool:
    """Whether it is of a sub-agent, in the session's file or in one of its own."""
    agent = record.get("agentId")
    return record.get("isSidechain") is True or record.get("sessionKind") == "subagent" or (isinstance(agent, str) and bool(agent))


def _identity(record: dict[str, Any]) -> tuple[str | None, str | None]:
    """uuid and session of a record, of the first one where it is a fork's copy; a summary's is that of the message it ends with."""
    origin = record.get("forkedFrom")
    names = [record.get("uuid"), record.get("sessionId")]
    if isinstance(origin, dict):
        names = [origin.get("messageUuid", names[0]), origin.get("sessionId", names[1])]
    if record["type"] == "summary" and isinstance(record.get("leafUuid"), str):
        names[0] = f"summary/{record['leafUuid']}"
    uuid, session = (name if isinstance(name, str) and name.strip() else None for name in names)
    return uuid, session
