"""Scrubbing: every secret in a text becomes `[REDACTED:rule:tag]` before the text is stored, queued, logged or shown.

The rules are data (`data/secrets.yaml`), matched by RE2 in linear time. The tag is a keyed hash of the secret: equal
secrets can be recognised by whoever reads the store, guesses cannot be confirmed without the key.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import re2
import yaml

from ontology.errors import InvalidInput

RULES = Path(__file__).parent / "data" / "secrets.yaml"
MAX_DEPTH = 64
"""How deeply metadata may be nested."""

_TAG_BYTES = 6
_SURROGATES = dict.fromkeys(range(0xD800, 0xE000), 0xFFFD)


@dataclass(frozen=True, slots=True)
class Scrubbed:
    """A text without secrets. `findings` are the rules that found one (`secret:jwt`), each once, in order of the text."""

    text: str
    findings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ScrubbedMetadata:
    """Metadata without secrets, and the rules that found one."""

    metadata: dict[str, Any]
    findings: tuple[str, ...]


class _Rule:
    """One rule of the file. `spans(text)` are the `[start, end)` of the secrets that it finds."""

    def __init__(self, name: str, source: Mapping[str, Any]) -> None:
        self.name = name
        self.any_of = tuple(str(word) for word in source.get("any_of", ()))
        self._unless = re2.compile(source["unless"]) if "unless" in source else None
        self._block = "begin" in source
        if self._block:
            self._begin = re2.compile(source["begin"])
            self._pattern = re2.compile(f"{source['begin']}|{source['end']}")
            self._body = re2.compile(source["body"])
        else:
            self._pattern = re2.compile(source["pattern"])
        self._groups = [index for group, index in self._pattern.groupindex.items() if group.startswith("secret")] or [0]

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        if self._block:
            yield from self._blocks(text)
            return
        for match in self._pattern.finditer(text):
            for group in self._groups:
                start, end = match.span(group)
                if start >= 0 and not (self._unless and self._unless.fullmatch(text[start:end])):
                    yield start, end

    def _blocks(self, text: str) -> Iterator[tuple[int, int]]:
        marks = [match.span() for match in self._pattern.finditer(text)]
        begins = [bool(self._begin.fullmatch(text[start:end])) for start, end in marks]
        for place, (start, end) in enumerate(marks):
            if not begins[place]:
                continue
            if place + 1 < len(marks) and not begins[place + 1]:
                yield start, marks[place + 1][1]
            else:
                following = marks[place + 1][0] if place + 1 < len(marks) else len(text)
                yield start, end + int(self._body.match(text[end:following]).end())


class Scrubber:
    """Replaces secrets. `key` (1 byte or more) keys the tags; two scrubbers with one key give equal tags.

    Scrubbing what was scrubbed changes nothing: what stands between two marks is searched on its own, until no rule
    finds anything in it.
    """

    def __init__(self, key: bytes, rules: Path = RULES) -> None:
        if not key:
            raise InvalidInput("the scrubber needs a key for its tags", path=("key",), reason="EMPTY")
        self._key = key if len(key) <= 64 else blake2b(key).digest()
        source = yaml.safe_load(rules.read_text(encoding="utf-8"))
        self._rules = [_Rule(name, rule) for name, rule in source["rules"].items()]
        self._secret_name = re2.compile(source["secret_names"])
        names = "|".join(re2.escape(rule.name) for rule in self._rules)
        self._mark = re2.compile(rf"\[REDACTED:(?:{names}|metadata):[0-9a-f]{{{2 * _TAG_BYTES}}}\]")

    def scrub(self, text: str) -> Scrubbed:
        """`text` with every secret replaced. Lone surrogates stay as they are."""
        pieces: list[str] = []
        found: dict[str, None] = {}
        at = 0
        for match in self._mark.finditer(_searchable(text)):
            pieces += (*self._scrubbed(text[at : match.start()], found), match.group())
            at = match.end()
        pieces += self._scrubbed(text[at:], found)
        return Scrubbed("".join(pieces), tuple(found))

    def scrub_metadata(self, metadata: Mapping[str, Any]) -> ScrubbedMetadata:
        """The same for all strings and keys inside `metadata`; the value of a key that names a secret is one as a whole.

        Raises InvalidInput where it is nested more than 64 deep.
        """
        found: dict[str, None] = {}
        scrubbed = self._value(metadata, found, 0)
        return ScrubbedMetadata(scrubbed, tuple(found))

    def _value(self, value: Any, found: dict[str, None], depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise InvalidInput(f"metadata is nested more than {MAX_DEPTH} deep", path=("metadata",), reason="TOO_DEEP")
        if isinstance(value, str):
            scrubbed = self.scrub(value)
            found.update(dict.fromkeys(scrubbed.findings))
            return scrubbed.text
        if isinstance(value, Mapping):
            return {self._value(str(key), found, depth): self._entry(str(key), item, found, depth + 1) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._value(item, found, depth + 1) for item in value]
        return value

    def _entry(self, key: str, value: Any, found: dict[str, None], depth: int) -> Any:
        if isinstance(value, str) and value and self._secret_name.fullmatch(_searchable(key)):
            if self._mark.fullmatch(_searchable(value)):
                return value
            found["secret:metadata"] = None
            return self._redacted("metadata", value)
        return self._value(value, found, depth)

    def _redacted(self, rule: str, secret: str) -> str:
        tag = blake2b(secret.encode("utf-8", "surrogatepass"), key=self._key, digest_size=_TAG_BYTES).hexdigest()
        return f"[REDACTED:{rule}:{tag}]"

    def _scrubbed(self, text: str, found: dict[str, None]) -> list[str]:
        """The pieces of a text without marks. A piece in which nothing is found is done; the parts round a find are searched anew."""
        done: list[str] = []
        waiting: list[tuple[str, str | None]] = [(text, None)]
        while waiting:
            piece, rule = waiting.pop()
            if rule is not None:
                found[f"secret:{rule}"] = None
                done.append(self._redacted(rule, piece))
                continue
            secrets = self._secrets(piece)
            if not secrets:
                done.append(piece)
                continue
            parts: list[tuple[str, str | None]] = []
            at = 0
            for start, end, name in secrets:
                parts += ((piece[at:start], None), (piece[start:end], name))
                at = end
            parts.append((piece[at:], None))
            waiting += reversed(parts)
        return done

    def _secrets(self, text: str) -> list[tuple[int, int, str]]:
        """(start, end, rule) of the secrets, disjoint, in order; overlapping finds are one, of the earlier rule."""
        if not text:
            return []
        searchable = _searchable(text)
        lowered = searchable.lower()
        finds: list[tuple[int, int, int]] = []
        for order, rule in enumerate(self._rules):
            if not rule.any_of or any(word in lowered for word in rule.any_of):
                finds += ((start, end, order) for start, end in rule.spans(searchable) if start < end)
        joined: list[tuple[int, int, int]] = []
        for start, end, order in sorted(finds):
            if joined and start < joined[-1][1]:
                before = joined[-1]
                joined[-1] = (before[0], max(before[1], end), min(before[2], order))
            else:
                joined.append((start, end, order))
        return [(start, end, self._rules[order].name) for start, end, order in joined]


def _searchable(text: str) -> str:
    """`text` of the same length that UTF-8 can write."""
    return text if text.isascii() else text.translate(_SURROGATES)
