"""Scrubbing: every secret in a text becomes `[REDACTED:rule:tag]` before the text is stored, queued, logged or shown.

The rules are data (`data/secrets.yaml`), matched by RE2 in linear time. The tag is a keyed hash of the secret: equal
secrets can be recognised by whoever reads the store, guesses cannot be confirmed without the key.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import re2

from extraction import rule_files
from extraction.prefilter import Prefilter, searchable
from extraction.rule_files import SecretRule, SecretsFile
from extraction.secret_matching import SecretMatcher
from ontology.errors import InvalidInput

MAX_DEPTH = 64
"""How deeply metadata may be nested."""

WIDENING, DEEPEST = 8, 24
"""How often secrets are cut off from a part before what stands round a find goes with it, and before the whole part does."""

_TAG_BYTES = 6
_BLANKS = (b" ", b"\n", b"\t")
# Any rule's mark, not only that of a rule in force: what was scrubbed by another set of rules comes back unchanged too.
_MARK = re2.compile(rf"\[REDACTED:[a-z]+(?:-[a-z0-9]+)*:[0-9a-f]{{{2 * _TAG_BYTES}}}\]")
_Find = tuple[int, int, int]


@lru_cache(maxsize=1)
def built_in() -> SecretsFile:
    """The rules that come along."""
    return rule_files.built_in("secrets.yaml", SecretsFile)


@dataclass(frozen=True, slots=True)
class Scrubbed:
    """A text without secrets. `findings` are the rules that found one (`secret:jwt`), each once, in order of the text.

    `counts` says how many secrets each rule found; their values are nowhere.
    """

    text: str
    findings: tuple[str, ...]
    counts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ScrubbedMetadata:
    """Metadata without secrets, the rules that found one, and how many each found."""

    metadata: dict[str, Any]
    findings: tuple[str, ...]
    counts: Mapping[str, int] = field(default_factory=dict)


class Scrubber:
    """Replaces secrets. `key` (1 byte or more) keys the tags; two scrubbers with one key give equal tags. Thread-safe.

    Scrubbing what was scrubbed changes nothing: what stands between two marks is searched on its own, until no rule
    finds anything in it.
    """

    def __init__(self, key: bytes, rules: Mapping[str, SecretRule] | None = None) -> None:
        """`rules` in order, earlier ones first where two cover one place; without them the built-in ones."""
        if not key:
            raise InvalidInput("the scrubber needs a key for its tags", path=("key",), reason="EMPTY")
        self._key = key if len(key) <= 64 else blake2b(key).digest()
        rules = built_in().rules if rules is None else rules
        self._rules = [SecretMatcher(name, rule) for name, rule in rules.items()]
        self._prefilter = Prefilter([rule.any_of for rule in rules.values()])
        self._secret_name = re2.compile(built_in().secret_names)

    def scrub(self, text: str) -> Scrubbed:
        """`text` with every secret replaced. Lone surrogates stay as they are."""
        content = searchable(text)
        # Of most texts this is all; of what is left most hold no secret either.
        wanted = self._prefilter.wanted(content)
        if not wanted or (b"[REDACTED:" not in content and not self._secrets(content, wanted)):
            return Scrubbed(text, ())
        found: Counter[str] = Counter()
        # Lone surrogates are looked up in the text as it is: both writings have the same length.
        original = content if text.isascii() else text.encode("utf-8", "surrogatepass")
        pieces: list[bytes] = []
        at = 0
        for match in _MARK.finditer(content):
            start, end = match.span()
            self._scrub(content, original, at, start, pieces, found)
            pieces.append(original[start:end])
            at = end
        self._scrub(content, original, at, len(content), pieces, found)
        if not found:
            return Scrubbed(text, ())
        return Scrubbed(b"".join(pieces).decode("utf-8", "surrogatepass"), tuple(found), dict(found))

    def scrub_metadata(self, metadata: Mapping[str, Any]) -> ScrubbedMetadata:
        """The same for all strings and keys inside `metadata`; the value of a key that names a secret is one as a whole.

        Raises InvalidInput where it is nested more than 64 deep.
        """
        found: Counter[str] = Counter()
        scrubbed = self._value(metadata, found, 0)
        return ScrubbedMetadata(scrubbed, tuple(found), dict(found))

    def _value(self, value: Any, found: Counter[str], depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise InvalidInput(f"metadata is nested more than {MAX_DEPTH} deep", path=("metadata",), reason="TOO_DEEP")
        if isinstance(value, str):
            scrubbed = self.scrub(value)
            found.update(scrubbed.counts)
            return scrubbed.text
        if isinstance(value, Mapping):
            return {
                self._value(str(key), found, depth): (self._secret if self._names_secret(str(key)) else self._value)(item, found, depth + 1)
                for key, item in value.items()
            }
        if isinstance(value, (list, tuple)):
            return [self._value(item, found, depth + 1) for item in value]
        return value

    def _names_secret(self, key: str) -> bool:
        return self._secret_name.fullmatch(searchable(key)) is not None

    def _secret(self, value: Any, found: Counter[str], depth: int) -> Any:
        """What stands under a key that names a secret: texts and numbers are secrets, and those in lists of them."""
        if isinstance(value, (list, tuple)) and depth <= MAX_DEPTH:
            return [self._secret(item, found, depth + 1) for item in value]
        if isinstance(value, (str, int, float)) and not isinstance(value, bool) and value != "":
            secret = str(value)
            if _MARK.fullmatch(searchable(secret)):
                return value
            found["secret:metadata"] += 1
            return self._redacted("metadata", secret.encode("utf-8", "surrogatepass")).decode()
        return self._value(value, found, depth)

    def _redacted(self, rule: str, secret: bytes) -> bytes:
        tag = blake2b(secret, key=self._key, digest_size=_TAG_BYTES).hexdigest()
        return f"[REDACTED:{rule}:{tag}]".encode()

    def _scrub(self, content: bytes, original: bytes, start: int, end: int, pieces: list[bytes], found: Counter[str]) -> None:
        """Append the pieces of a part without marks. One in which nothing is found is done; those round a find are searched anew."""
        waiting: list[tuple[int, int, int | None, int]] = [(start, end, None, 0)]
        while waiting:
            at, stop, order, depth = waiting.pop()
            if order is not None:
                name = self._rules[order].name
                found[f"secret:{name}"] += 1
                pieces.append(self._redacted(name, original[at:stop]))
                continue
            secrets = _widened(content[at:stop], self._secrets(content[at:stop]), depth)
            if not secrets:
                pieces.append(original[at:stop])
                continue
            parts: list[tuple[int, int, int | None, int]] = []
            after = at
            for first, last, rule in secrets:
                parts += ((after, at + first, None, depth + 1), (at + first, at + last, rule, depth))
                after = at + last
            parts.append((after, stop, None, depth + 1))
            waiting += reversed(parts)

    def _secrets(self, text: bytes, wanted: Sequence[int] | None = None) -> list[_Find]:
        """(start, end, place of the rule) of the secrets, disjoint, in order; overlapping finds are one, of the earlier rule."""
        finds: list[_Find] = []
        for order in self._prefilter.wanted(text) if wanted is None else wanted:
            finds += ((start, end, order) for start, end in self._rules[order].spans(text))
        return _joined(finds)


def _joined(finds: list[_Find]) -> list[_Find]:
    """Finds that overlap become one, of the earlier rule."""
    joined: list[_Find] = []
    for start, end, order in sorted(finds):
        if joined and start < joined[-1][1]:
            before = joined[-1]
            joined[-1] = (before[0], max(before[1], end), min(before[2], order))
        else:
            joined.append((start, end, order))
    return joined


def _widened(text: bytes, finds: list[_Find], depth: int) -> list[_Find]:
    """The finds of a part that others were cut off from `depth` times.

    A text can be made so that each cut shows one more secret; to search the rest anew each time would take quadratic time.
    So from some depth on a find takes all up to the next blank with it, and at last the whole part.
    """
    if not finds or depth < WIDENING:
        return finds
    if depth >= DEEPEST:
        return [(0, len(text), min(order for _, _, order in finds))]
    wide = []
    for start, end, order in finds:
        before = max(text.rfind(blank, 0, start) for blank in _BLANKS)
        after = [place for place in (text.find(blank, end) for blank in _BLANKS) if place >= 0]
        wide.append((before + 1, min(after, default=len(text)), order))
    return _joined(wide)
