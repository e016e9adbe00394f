"""The rules of scrubbing and of the threat scan that are in force: the built-in ones, and what a user's file changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from extraction import scrubbing
from extraction import threats as scanning
from extraction.examples import expanded
from extraction.prefilter import Prefilter, searchable
from extraction.rule_files import HygieneFile, Lines, SecretRule, ThreatRule, read
from extraction.secret_matching import SecretMatcher

Rule = TypeVar("Rule", SecretRule, ThreatRule)


@dataclass(frozen=True, slots=True)
class Hygiene:
    """The rules in force, by name, in the order in which they count."""

    secrets: Mapping[str, SecretRule]
    threats: Mapping[str, ThreatRule]

    def scrubber(self, key: bytes) -> scrubbing.Scrubber:
        """What replaces secrets; `key` (1 byte or more) keys the tags."""
        return scrubbing.Scrubber(key, self.secrets)

    def scanner(self) -> scanning.ThreatScanner:
        """What finds threats."""
        return scanning.ThreatScanner(self.threats)


def load_hygiene(path: Path | None = None) -> Hygiene:
    """The built-in rules, and where `path` is given what that file adds and switches off.

    Raises InvalidInput (INVALID_HYGIENE) naming file, line and key: of a mistake in the file, of a rule of a built-in one's
    name that is not switched off, and of a rule whose own examples fail. No message shows a value of the file.
    """
    secret_rules, threat_rules = scrubbing.built_in().rules, scanning.built_in().rules
    if path is None:
        return Hygiene(secret_rules, threat_rules)
    ours, lines = read(path, HygieneFile)
    hygiene = Hygiene(
        _merged(secret_rules, ours.secrets.rules, ours.secrets.off, lines, "secrets"),
        _merged(threat_rules, ours.threats.rules, ours.threats.off, lines, "threats"),
    )
    _check(ours.secrets.rules, secret_problems, lines, "secrets")
    _check(ours.threats.rules, threat_problems, lines, "threats")
    return hygiene


def _merged(built_in: Mapping[str, Rule], ours: Mapping[str, Rule], off: list[str], lines: Lines, kind: str) -> dict[str, Rule]:
    for place, name in enumerate(off):
        if name not in built_in:
            raise lines.mistake((kind, "off", str(place)), "no built-in rule has this name (docs/hygiene.md lists them)")
    for name in ours:
        if name in built_in and name not in off:
            raise lines.mistake((kind, "rules", name), "a built-in rule has this name; switch it off, or choose another name")
    # A user's own rules come first: where they and a built-in one cover one place, the mark bears their name.
    return {**ours, **{name: rule for name, rule in built_in.items() if name not in off}}


def _check(rules: Mapping[str, Rule], problems: Callable[[str, Rule], Iterable[tuple[str, int, str]]], lines: Lines, kind: str) -> None:
    for name, rule in rules.items():
        for list_name, place, why in problems(name, rule):
            raise lines.mistake((kind, "rules", name, list_name, str(place)), f"example {place} {why}")


def secret_problems(name: str, rule: SecretRule) -> Iterable[tuple[str, int, str]]:
    """(`finds` or `leaves`, place of the example, what is wrong) of each example that the rule alone does not bear out."""
    matcher, prefilter = SecretMatcher(name, rule), Prefilter([rule.any_of])
    for list_name, examples in (("finds", rule.finds), ("leaves", rule.leaves)):
        for place, example in enumerate(examples):
            text, marked = expanded(example)
            content = searchable(text)
            found = list(matcher.spans(content)) if prefilter.wanted(content) else []
            if list_name == "leaves" and found:
                yield list_name, place, "is found by the rule"
            elif list_name == "finds" and not found:
                yield list_name, place, "is not found by the rule"
            elif list_name == "finds" and marked:
                wanted = [(len(searchable(text[:start])), len(searchable(text[:end]))) for start, end in marked]
                if found != wanted:
                    yield list_name, place, "is found, but not what stands in «»"


def threat_problems(name: str, rule: ThreatRule) -> Iterable[tuple[str, int, str]]:
    """The same for a threat: examples of one that quarantines are held back by it or not, of others marked or not."""
    scanner = scanning.ThreatScanner({name: rule})
    for list_name, examples in (("finds", rule.finds), ("leaves", rule.leaves)):
        for place, example in enumerate(examples):
            found = scanner.scan(expanded(example)[0])
            caught = found.quarantine if rule.quarantine else bool(found.flags)
            if caught != (list_name == "finds"):
                done = "held back" if rule.quarantine else "marked"
                yield list_name, place, f"is {'not ' if list_name == 'finds' else ''}{done} by the rule"
