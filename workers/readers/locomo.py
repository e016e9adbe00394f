"""LoCoMo: conversations of two people in dated sessions (`session_3`, `session_3_date_time`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ontology.episode import EpisodeDraft
from ontology.errors import InvalidInput
from ontology.instant import Instant, zone_named
from workers.readers.conversation import Conversation, Utterance
from workers.readers.files import SourceFile
from workers.readers.lines import MAX_LINE, Line, Record, read_objects, split_items, split_lines
from workers.readers.options import ReadOptions
from workers.readers.report import ReadReport, Rejected
from workers.readers.stamps import parse_stamp, stamp_problem

_SESSION = re.compile(r"session_(\d{1,6})")


@dataclass(frozen=True, slots=True)
class LocomoReader:
    """Reads a file of samples. `external_id` is `sample/dia_id` (`conv-26/D1:3`), the group is the sample."""

    source: str = "locomo"

    def recognises(self, file: SourceFile) -> bool:
        """Whether the head holds a sample's conversation, or the questions that come before it."""
        if file.start[:1] not in (b"[", b"{"):
            return False
        sessions = any(key.startswith("session_") and key.endswith("_date_time") for key in file.keys)
        return sessions or {"dia_id", "speaker"} <= file.keys or {"qa", "question", "evidence"} <= file.keys

    def read(self, file: SourceFile, options: ReadOptions, report: ReadReport) -> Iterator[EpisodeDraft | Rejected]:
        """All turns, sample by sample, in the order of their sessions."""
        with file.open() as opened:
            if file.is_array:
                lines: Iterator[Line] = split_items(opened)
            elif file.is_lines and file.start.count(b"\n") and len(file.first_objects) > 0:
                lines = split_lines(opened)
            else:
                lines = iter([Line(1, 1, opened.read(MAX_LINE) if file.size <= MAX_LINE else None)])
            for record in read_objects(lines, file.name, report):
                if isinstance(record, Rejected):
                    yield record
                else:
                    yield from self._sample(file, record, options, report)

    def _sample(self, file: SourceFile, record: Record, options: ReadOptions, report: ReadReport) -> Iterator[EpisodeDraft | Rejected]:
        inner = record.value.get("conversation", record.value)
        if not isinstance(inner, dict):
            yield Rejected(file.name, record.line, "not-an-object", "the sample's conversation is no object")
            return
        named = record.value.get("sample_id")
        sample = str(named) if isinstance(named, (str, int)) and str(named).strip() else f"{file.stem}:{record.place}"
        people = [name for name in (inner.get("speaker_a"), inner.get("speaker_b")) if isinstance(name, str)]
        conversation = Conversation(self.source, file.name, options, report, file.modified)
        zone = zone_named(options.time_zone)
        numbers = sorted(int(match[1]) for match in map(_SESSION.fullmatch, inner) if match)
        for number in numbers:
            turns = inner[f"session_{number}"]
            if not isinstance(turns, list):
                yield Rejected(file.name, record.line, "not-an-object", f"session_{number} of {sample[:80]} is no list")
                continue
            stated = inner.get(f"session_{number}_date_time")
            try:
                stamp = None if stated is None else parse_stamp(stated, zone)
            except InvalidInput as failure:
                yield Rejected(file.name, record.line, "timestamp", f"session_{number} of {sample[:80]}: {stamp_problem(stated, failure)}")
                continue
            for place, turn in enumerate(turns, 1):
                yield from self._turn(file, record.line, conversation, turn, (sample, number, place), people, stamp, report)
        yield from conversation.close()

    def _turn(
        self,
        file: SourceFile,
        line: int,
        conversation: Conversation,
        turn: Any,
        where: tuple[str, int, int],
        people: list[str],
        stamp: Instant | None,
        report: ReadReport,
    ) -> Iterator[EpisodeDraft | Rejected]:
        sample, number, place = where
        if not isinstance(turn, dict) or not isinstance(turn.get("text"), str):
            yield Rejected(file.name, line, "text", f"turn {place} of session_{number} of {sample[:80]} has no text")
            return
        if turn.get("img_url") or turn.get("blip_caption"):
            report.skipped["image"] += 1
        speaker = turn["speaker"] if isinstance(turn.get("speaker"), str) else None
        others = [name for name in people if name != speaker]
        name = turn.get("dia_id")
        yield from conversation.add(
            Utterance(
                text=turn["text"],
                external_id=f"{sample}/{name}" if isinstance(name, str) and name.strip() else f"{sample}/session_{number}:{place}",
                line=line,
                stamp=stamp,
                speaker=speaker,
                addressee=others[0] if speaker in people and len(others) == 1 else None,
                group=sample,
                metadata={"session": number},
            )
        )
