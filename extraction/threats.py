"""The threat scan: texts that try to steer whoever reads them later, or that hide something, are held back.

The rules are data (`data/threats.yaml`), matched by RE2 in linear time. Precision comes first: what developers say every
day ("ignore the previous message") is no attack, dangerous commands are only marked, and a text about attacks is not one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any
from unicodedata import normalize

import re2

from extraction import rule_files
from extraction.prefilter import Prefilter, searchable
from extraction.rule_files import ThreatRule, ThreatsFile

NEAR = 300
"""Bytes on either side of a phrase in which a text that speaks about attacks says so."""

# The flags of Scotland, Wales and the like are a black flag, tag letters and the end tag.
_FLAG = re2.compile(r"\x{1F3F4}[\x{E0020}-\x{E007E}]{2,7}\x{E007F}")
_RIGHT_TO_LEFT = re2.compile(r"[\p{Hebrew}\p{Arabic}\p{Syriac}\p{Thaana}\p{Nko}]")
# Soft hyphens, joiners, marks of direction, invisible operators: what has no width.
_INVISIBLE = dict.fromkeys((0xAD, 0x180E, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x206A), 0xFEFF))
# Rules that ask about more than a pattern can say.
_TAGS, _EMBEDDING = "hidden:tags", "hidden:bidi-embedding"


@lru_cache(maxsize=1)
def built_in() -> ThreatsFile:
    """The rules that come along."""
    return rule_files.built_in("threats.yaml", ThreatsFile)


@dataclass(frozen=True, slots=True)
class Threats:
    """What the scan found: the names of the rules (`injection:override`), and whether a person must look at the text first."""

    flags: tuple[str, ...] = ()
    quarantine: bool = False


class _Rule:
    def __init__(self, name: str, source: ThreatRule) -> None:
        self.name = name
        self.kind = name.partition(":")[0]
        self.quarantine = source.quarantine
        self._source = source

    @cached_property
    def pattern(self) -> Any:
        return re2.compile(self._source.pattern)

    @cached_property
    def phrase(self) -> int:
        return int(self.pattern.groupindex.get("phrase", 0))


class ThreatScanner:
    """Scans texts by rules: of `rules`, without them by the built-in ones. Thread-safe."""

    def __init__(self, rules: Mapping[str, ThreatRule] | None = None) -> None:
        rules = built_in().rules if rules is None else rules
        self._rules = [_Rule(name, rule) for name, rule in rules.items()]
        # An ASCII text hides nothing but control characters.
        ascii_too = [not (rule.name in built_in().rules and rule.kind == "hidden" and rule.quarantine) for rule in self._rules]
        self._for_ascii = [rule for rule, kept in zip(self._rules, ascii_too, strict=True) if kept]
        words = [rule.any_of for rule in rules.values()]
        self._prefilter = Prefilter(words)
        self._ascii_prefilter = Prefilter([own for own, kept in zip(words, ascii_too, strict=True) if kept])
        self._about = re2.compile(built_in().about)
        self._quoted = re2.compile(built_in().quoted)

    def scan(self, text: str) -> Threats:
        """The flags of `text`, in order of the rules, and whether it goes into quarantine."""
        content = searchable(text)
        if text.isascii():
            plain, rules, wanted = content, self._for_ascii, self._ascii_prefilter.wanted(content)
        else:
            # What is written in look-alike letters, or with something invisible inside, is read as it looks.
            plain = searchable(normalize("NFKC", text.translate(_INVISIBLE)))
            rules = self._rules
            wanted = sorted({*self._prefilter.wanted(content), *self._prefilter.wanted(plain)})
        flags: list[str] = []
        quarantine = False
        for place in wanted:
            rule = rules[place]
            found, holds = self._speech(rule, plain) if rule.kind == "injection" else self._found(rule, content)
            if found:
                flags.append(rule.name)
                quarantine |= holds
        return Threats(tuple(flags), quarantine)

    def _found(self, rule: _Rule, text: bytes) -> tuple[bool, bool]:
        if rule.name == _TAGS:
            text = _FLAG.sub(b"", text)
        found = rule.pattern.search(text) is not None and not (rule.name == _EMBEDDING and _RIGHT_TO_LEFT.search(text))
        return found, found and rule.quarantine

    def _speech(self, rule: _Rule, text: bytes) -> tuple[bool, bool]:
        """Whether a phrase stands in the text, and whether it is used at least once and not only spoken about."""
        found = False
        for match in rule.pattern.finditer(text):
            found = True
            start, end = match.span(rule.phrase)
            if start < 0:
                start, end = match.span()
            if rule.quarantine and not self._is_mention(text, start, end):
                return True, True
        return found, False

    def _is_mention(self, text: bytes, start: int, end: int) -> bool:
        before = text[max(0, start - 4) : start].decode("utf-8", "ignore")[-1:]
        if before and self._quoted.fullmatch(before):
            return True
        # What stands in the phrase itself says nothing about it: "jailbreak mode enabled".
        sides = (text[max(0, start - NEAR) : start], text[end : end + NEAR])
        return any(self._about.search(side.decode("utf-8", "ignore")) for side in sides)


def scan(text: str) -> Threats:
    """The scan by the built-in rules. Whoever scans much keeps a `ThreatScanner`."""
    return ThreatScanner().scan(text)
