"""Signed messages: what comes out of Redis is believed only where it bears the mark of who has the key."""

from __future__ import annotations

import hmac
from enum import StrEnum


class Purpose(StrEnum):
    """What a message is. A mark made for one is none for another."""

    EXTRACT = "extract"
    EMBED = "embed"
    RESULT = "result"
    VECTORS = "vectors"
    VOCABULARY = "vocabulary"
    KEY = "key"


class Forged(Exception):
    """A message without a mark, or with one of another key. It says nothing of the message."""


class Signer:
    """Marks messages: HMAC-SHA256 with a key of its own for each purpose, over the very bytes that are sent."""

    def __init__(self, key: bytes) -> None:
        self._keys = {purpose: hmac.digest(key, f"erstwhile/1/{purpose}".encode(), "sha256") for purpose in Purpose}

    def mark(self, purpose: Purpose, body: bytes) -> str:
        """The mark of a message, in hexadecimal."""
        return hmac.new(self._keys[purpose], body, "sha256").hexdigest()

    def check(self, purpose: Purpose, body: object, mark: object) -> bytes:
        """The message, as bytes. Raises Forged."""
        if isinstance(body, str):
            body = body.encode("utf-8", "surrogatepass")
        if isinstance(mark, bytes):
            mark = mark.decode("ascii", "replace")
        if not isinstance(body, bytes) or not isinstance(mark, str) or not mark.isascii():
            raise Forged("not signed")
        if not hmac.compare_digest(self.mark(purpose, body), mark):
            raise Forged("signed with another key")
        return body
