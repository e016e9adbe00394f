"""Recorded meetings as subtitles: WebVTT and SRT, of Zoom, Teams and others."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO

from ontology.episode import EpisodeDraft
from ontology.instant import UNBOUNDED_FUTURE, Instant, format_instant, zone_named
from workers.readers.conversation import Conversation, Utterance
from workers.readers.cue_text import Part, constant_prefixes
from workers.readers.files import SourceFile
from workers.readers.lines import split_lines
from workers.readers.meeting_start import meeting_start
from workers.readers.options import ReadOptions
from workers.readers.report import ReadReport, Rejected
from workers.readers.subtitles import Cue, is_timing, read_cues

PAUSE = 10 * 1_000_000
"""Silence after which an utterance has ended, in microseconds."""

LONG = 60 * 1_000_000
"""An utterance that lasts longer ends with its sentence."""

LONGEST = 5_000
"""Characters after which an utterance ends without the end of a sentence: recognised speech may have none."""

_SENTENCE_END = re.compile(r"[.!?…。！？][\"'”’)\]]*$")
_VTT = re.compile(rb"WEBVTT(?:[ \t\r\n]|$)")
_NOBODY = "Unknown speaker"
"""Who speaks without a name where others are told apart: not the one whom the caller names, and not "user"."""

_NUMBERED = re.compile(r"(?:unknown[ _-]?)?(?:speaker|person|participant|sprecher|guest)[ _#-]*[\dA-Z]{0,3}|unknown", re.IGNORECASE)
_UNKNOWN = (
    "nothing says when this meeting began, so it was not read: say it with --start TIME, or put it into the file's name "
    "(2026-05-20 15-00.vtt) or a note at its head"
)


@dataclass(slots=True)
class _Running:
    """An utterance that may go on."""

    line: int
    start: int
    end: int
    speaker: str | None
    named: str | None
    pieces: list[str] = field(default_factory=list)
    size: int = 0


@dataclass(frozen=True, slots=True)
class MeetingReader:
    """Reads the cues of a meeting as what its speakers said.

    `external_id` is the file's stem with the time of the first cue of an utterance (`standup@2026-05-20T15:00:01Z`, the
    second of that time with `~2`). The said time is the meeting's start and the cue's.
    """

    source: str = "meeting"

    def recognises(self, file: SourceFile) -> bool:
        """Whether the head begins as WebVTT does, or with the times of a cue after at most a number."""
        if _VTT.match(file.start):
            return True
        lines = [line.strip() for line in file.start[:4096].decode(errors="replace").split("\n") if line.strip()]
        return any(is_timing(line) for line in lines[:1]) or (len(lines) > 1 and lines[0].isdigit() and is_timing(lines[1]))

    def read(self, file: SourceFile, options: ReadOptions, report: ReadReport) -> Iterator[EpisodeDraft | Rejected]:
        """The utterances in the order of the cues, or one refusal where nothing says when the meeting began."""
        found = meeting_start(file, options, zone_named(options.time_zone))
        if found is None:
            yield Rejected(file.name, None, "start", _UNKNOWN)
            return
        start, basis = found
        several, names = _voices(file)
        conversation = Conversation(self.source, file.name, options, report, file.modified)
        equal: Counter[Instant] = Counter()
        with file.open() as opened:
            for item in _utterances(read_cues(split_lines(opened), file.name, report, names)):
                if isinstance(item, Rejected):
                    yield item
                    continue
                stamp = start + item.start
                if stamp >= UNBOUNDED_FUTURE:
                    yield Rejected(file.name, item.line, "timestamp", "the cue's time is out of range")
                    continue
                equal[stamp] += 1
                which = f"~{equal[stamp]}" if equal[stamp] > 1 else ""
                yield from conversation.add(
                    Utterance(
                        text=" ".join(item.pieces),
                        external_id=f"{file.stem}@{format_instant(stamp)}{which}",
                        line=item.line,
                        stamp=stamp,
                        speaker=_named(item.speaker or (_NOBODY if several else None), file.stem, options, self.source),
                        group=file.stem,
                        metadata={"startFrom": basis},
                    )
                )
        yield from conversation.close()


def _voices(file: SourceFile) -> tuple[bool, frozenset[str]]:
    """(whether the head tells speakers apart, the prefixes of cues that are names there though they do not look like it)."""
    cues = [cue for cue in read_cues(split_lines(BytesIO(file.head)), file.name, ReadReport()) if isinstance(cue, Cue)]
    names = constant_prefixes(part.text if part.named != "prefix" else f"{part.speaker}: {part.text}" for cue in cues for part in cue.parts)
    return bool(names) or any(part.named for cue in cues for part in cue.parts), names


def _named(speaker: str | None, meeting: str, options: ReadOptions, source: str) -> str | None:
    """The speaker's name. One whom a recogniser only numbers is somebody else in each meeting."""
    if speaker is None or not _NUMBERED.fullmatch(speaker) or options.name_of(speaker, source) != speaker:
        return speaker
    return f"{speaker} ({meeting})"


def _utterances(cues: Iterator[Cue | Rejected]) -> Iterator[_Running | Rejected]:
    """Consecutive parts of one speaker as one utterance.

    It ends where another speaks, after a pause, and with the first sentence that ends after a minute. A cue without a name
    goes on with the one whom a name before a colon introduced; where voices are marked it is nobody's.
    """
    running: _Running | None = None
    for cue in cues:
        if isinstance(cue, Rejected):
            yield cue
            continue
        for part in cue.parts:
            speaker, named = _speaker(part, running)
            if running is not None and not _goes_on(running, cue, part, speaker):
                yield running
                running = None
            if running is None:
                running = _Running(cue.line, cue.start, cue.end, speaker, named)
            running.pieces.append(part.text)
            running.size += len(part.text) + 1
            running.end = max(running.end, cue.end)
    if running is not None:
        yield running


def _speaker(part: Part, running: _Running | None) -> tuple[str | None, str | None]:
    if part.named is None and running is not None and running.named == "prefix":
        return running.speaker, "prefix"
    return part.speaker, part.named


def _goes_on(running: _Running, cue: Cue, part: Part, speaker: str | None) -> bool:
    if speaker != running.speaker or part.named == "change" or cue.start - running.end > PAUSE or cue.start < running.start:
        return False
    if running.size > LONGEST:
        return False
    return cue.start - running.start < LONG or not _SENTENCE_END.search(running.pieces[-1])
