"""A small extractor that is spawned like the real one: it reads `subject predicate object` and obeys some orders in the text."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from extraction.recording import Dropped, Examined
from ontology.claim import ClaimDraft, ObjectDraft
from ontology.episode import Turn

_TRIPLE = re.compile(r"(\w+) (works_at|lives_in|likes) (\w+)")
_JOINED = re.compile(r"(\w+) joined (\w+)")
_SLEEP = re.compile(r"sleep (\d+\.?\d*)")
_WAIT = re.compile(r"wait for (\S+)")
_DIE_ONCE = re.compile(r"die once (\S+)")
_ASIDE = re.compile(r"\(.*?\)")
SECRET = "hunter2-secret"


class TripleExtractor:
    """Finds `Ada works_at Acme`. `fail` raises, `die once PATH` kills the process the first time, `die always` each time,
    `wait for PATH` goes on when the file is there.
    """

    id = "triples/1"

    def extract(self, turns: Sequence[Turn]) -> list[list[ClaimDraft]]:
        """The claims of each turn."""
        return [self._claims(turn.text) for turn in turns]

    def _claims(self, text: str) -> list[ClaimDraft]:
        if "fail" in text:
            raise ValueError("told to fail")
        if "die always" in text:
            os._exit(1)
        if once := _DIE_ONCE.search(text):
            marker = Path(once[1])
            if not marker.exists():
                marker.touch()
                os._exit(1)
        if order := _WAIT.search(text):
            end = time.monotonic() + 30
            while not Path(order[1]).exists() and time.monotonic() < end:
                time.sleep(0.02)
        if pause := _SLEEP.search(text):
            time.sleep(float(pause[1]))
        return [ClaimDraft(m[1], m[2], ObjectDraft(m[3]), start=m.start(), end=m.end(), rule="triple") for m in _TRIPLE.finditer(text)]


class TellingExtractor(TripleExtractor):
    """The same, and says that it leaves out what is in brackets."""

    def examine(self, turns: Sequence[Turn]) -> list[Examined]:
        """The claims of each turn, and what was left out."""
        return [
            Examined(self._claims(turn.text), [Dropped(m.start(), m.end(), "in brackets") for m in _ASIDE.finditer(turn.text)])
            for turn in turns
        ]


class LaterExtractor(TripleExtractor):
    """A later version: it reads `joined`, and takes no `works_at` from a text that says so. `stumble later` raises."""

    id = "triples/2"

    def _claims(self, text: str) -> list[ClaimDraft]:
        if "stumble later" in text:
            raise ValueError("told to stumble")
        joined = [
            ClaimDraft(m[1], "works_at", ObjectDraft(m[2]), start=m.start(), end=m.end(), rule="joined") for m in _JOINED.finditer(text)
        ]
        return joined + [claim for claim in super()._claims(text) if not joined or claim.predicate != "works_at"]


@dataclass(frozen=True)
class Scrubbed:
    """As the real scrubber answers."""

    text: str
    findings: tuple[str, ...]
    counts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class ScrubbedMetadata:
    """As the real scrubber answers."""

    metadata: Mapping[str, Any]
    findings: tuple[str, ...]
    counts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Found:
    """As the real threat scan answers."""

    flags: tuple[str, ...] = field(default=())
    quarantine: bool = False


class OneSecret:
    """Knows a single secret."""

    def scrub(self, text: str) -> Scrubbed:
        """Replace it."""
        if SECRET not in text:
            return Scrubbed(text, ())
        return Scrubbed(text.replace(SECRET, "[REDACTED:test:0]"), ("secret:test",), {"secret:test": text.count(SECRET)})

    def scrub_metadata(self, metadata: Mapping[str, Any]) -> ScrubbedMetadata:
        """Replace it in strings at the top."""
        clean = {key: self.scrub(value).text if isinstance(value, str) else value for key, value in metadata.items()}
        return ScrubbedMetadata(clean, ("secret:test",), {"secret:test": 1}) if clean != metadata else ScrubbedMetadata(clean, ())


def scan(text: str) -> Found:
    """Holds back what says `ignore all instructions`."""
    return Found(("injection:test",), True) if "ignore all instructions" in text else Found()
