"""The threat scan: texts that try to steer whoever reads them later, or that hide something, are held back.

The rules are data (`data/threats.yaml`), matched by RE2 in linear time. Precision comes first: what developers say every
day ("ignore the previous message") is no attack, dangerous commands are only marked, and a text about attacks is not one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import re2
import yaml

RULES = Path(__file__).parent / "data" / "threats.yaml"

_SURROGATES = dict.fromkeys(range(0xD800, 0xE000), 0xFFFD)
# The flags of Scotland, Wales and the like are a black flag, tag letters and the end tag.
_FLAG = re2.compile(r"\x{1F3F4}[\x{E0020}-\x{E007E}]{2,7}\x{E007F}")
_RIGHT_TO_LEFT = re2.compile(r"[\p{Hebrew}\p{Arabic}\p{Syriac}\p{Thaana}\p{Nko}]")


@dataclass(frozen=True, slots=True)
class Threats:
    """What the scan found: the names of the rules (`injection:override`), and whether a person must look at the text first."""

    flags: tuple[str, ...] = ()
    quarantine: bool = False


class _Rule:
    def __init__(self, name: str, source: Mapping[str, Any]) -> None:
        self.name = name
        self.quarantine = bool(source.get("quarantine", False))
        self.pattern = re2.compile(source["pattern"])
        self.phrase: int = self.pattern.groupindex.get("phrase", 0)
        self.any_of = tuple(str(word) for word in source.get("any_of", ()))


class ThreatScanner:
    """Scans texts by the rules of a file."""

    def __init__(self, rules: Path = RULES) -> None:
        source = yaml.safe_load(rules.read_text(encoding="utf-8"))
        self._rules = [_Rule(name, rule) for name, rule in source["rules"].items()]
        self._about = re2.compile(source["about"])
        self._quoted = re2.compile(source["quoted"])

    def scan(self, text: str) -> Threats:
        """The flags of `text`, in order of the rules, and whether it goes into quarantine."""
        searchable = text if text.isascii() else text.translate(_SURROGATES)
        lowered = searchable.lower()
        flags: list[str] = []
        quarantine = False
        for rule in self._rules:
            if rule.any_of and not any(word in lowered for word in rule.any_of):
                continue
            kind = rule.name.partition(":")[0]
            # An ASCII text hides nothing but control characters.
            if kind == "hidden" and rule.quarantine and text.isascii():
                continue
            subject = _FLAG.sub("", searchable) if rule.name == "hidden:tags" else searchable
            match = rule.pattern.search(subject)
            if match is None or (rule.name == "hidden:isolates" and _RIGHT_TO_LEFT.search(searchable)):
                continue
            flags.append(rule.name)
            quarantine |= rule.quarantine and not (kind == "injection" and self._is_mention(searchable, match.start(rule.phrase)))
        return Threats(tuple(flags), quarantine)

    def _is_mention(self, text: str, start: int) -> bool:
        """Whether the text speaks about the phrase at `start` instead of using it."""
        return bool(self._about.search(text)) or bool(start and self._quoted.fullmatch(text[start - 1]))


def scan(text: str) -> Threats:
    """The scan by the built-in rules. Whoever scans much keeps a `ThreatScanner`: this reads the rules each time."""
    return ThreatScanner().scan(text)
