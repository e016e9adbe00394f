"""Names and keys: what makes two spellings one entity, and the keyed hashes that identify things.

IDs are keyed (BLAKE2b with the ledger's secret), so that an ID confirms no guess about a text that was erased.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from hashlib import blake2b

from ontology.echo import echo
from ontology.errors import InvalidInput

MAX_NAME = 1000
MAX_CONTENT = 100_000
DEFAULT_NAMESPACE = "default"

# What cannot be seen: zero-width and direction marks, fillers, variation selectors and control characters that are no space.
# The zero-width joiner is dropped too: an emoji keeps it in its name, only not in its key, where the parts still differ from
# those of other emoji. The tag characters (U+E0020 to U+E007F) stay: by them alone the flags of Scotland and Wales differ.
_INVISIBLE = dict.fromkeys(
    [
        *(0x00AD, 0x034F, 0x061C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFEFF, 0xFFA0),
        *(*range(0x180B, 0x1810), *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070)),
        *(*range(0xFE00, 0xFE10), *range(0xFFF0, 0xFFFC), *range(0xE0100, 0xE01F0)),
        *(*range(0x01, 0x09), *range(0x0E, 0x1C), *range(0x7F, 0x85), *range(0x86, 0xA0)),
    ]
)
_SPACES = re.compile(r"\s+")
_NAMESPACE = re.compile(r"[A-Za-z0-9._-]{1,128}")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


@lru_cache(maxsize=65_536)
def normalise(name: str) -> str:
    """NFKC, case-folded, zero-width and direction marks removed, spaces collapsed. Two names with one result are one entity.

    A direction override is only removed, its text not turned round: it stays apart from what it looks like.
    """
    before, folded = "", name
    while before != folded:
        # Marks first: one between a letter and its accent would keep them from composing. What one step leaves another may
        # change (the fold of a compatibility form, an accent behind a mark that was dropped), so until nothing changes.
        before = folded
        composed = unicodedata.normalize("NFKC", folded.translate(_INVISIBLE)).casefold()
        folded = _SPACES.sub(" ", unicodedata.normalize("NFKC", composed).translate(_INVISIBLE)).strip()
    return folded


def is_text(text: str) -> bool:
    """Whether a text can be stored as it is: no NUL, no lone surrogate."""
    return "\x00" not in text and not _SURROGATE.search(text)


def checked_name(name: str, *, path: tuple[str, ...] = ("name",)) -> str:
    """`name` without outer spaces, or InvalidInput: 1 to 1,000 characters, something visible, no NUL, no lone surrogate."""
    stripped = name.strip()
    if len(stripped) > MAX_NAME:
        raise InvalidInput(f"a name has at most {MAX_NAME:,} characters; this one has {len(stripped):,}", path=path, reason="TOO_LONG")
    if not is_text(stripped):
        raise InvalidInput("a name cannot hold NUL characters or lone surrogates", path=path, reason="INVALID_TEXT")
    if not normalise(stripped):
        raise InvalidInput("a name needs at least one visible character", path=path, reason="EMPTY")
    return stripped


def checked_namespace(namespace: str) -> str:
    """`namespace`, or InvalidInput."""
    if not _NAMESPACE.fullmatch(namespace):
        shown = namespace if len(namespace) <= 40 else f"{namespace[:40]}... ({len(namespace):,} characters)"
        raise InvalidInput(f"{shown!r} is no namespace: 1 to 128 of A-Z a-z 0-9 . _ -", path=("namespace",), reason="INVALID_NAMESPACE")
    return namespace


def checked_content(content: str, *, path: tuple[str, ...] = ("content",)) -> str:
    """`content`, or InvalidInput: 1 to 100,000 characters, no NUL, no lone surrogate."""
    if not content.strip():
        raise InvalidInput("the content is empty", path=path, reason="EMPTY")
    if len(content) > MAX_CONTENT:
        raise InvalidInput(f"content has at most {MAX_CONTENT:,} characters; this has {len(content):,}", path=path, reason="TOO_LONG")
    if not is_text(content):
        raise InvalidInput("content cannot hold NUL characters or lone surrogates", path=path, reason="INVALID_TEXT")
    return content


def checked_predicate(name: str) -> str:
    """A predicate's name, or InvalidInput: 1 to 64 lower-case letters, digits and underscores, beginning with a letter."""
    if not name.replace("_", "").isalnum() or name != name.lower() or not name[:1].isalpha() or len(name) > 64:
        raise InvalidInput(
            f"{echo(name, 80)} is no predicate: write 1 to 64 lower-case letters, digits and '_', such as 'works_at'",
            path=("predicate",),
            reason="INVALID_PREDICATE",
        )
    return name


class Keys:
    """Keyed hashes: 16 bytes, written as 32 hexadecimal digits. Parts are length-prefixed, so no two lists of parts collide."""

    def __init__(self, secret: bytes) -> None:
        self._keyed = blake2b(digest_size=16, key=secret[:64])

    def digest(self, kind: str, *parts: str) -> str:
        """The key of `parts` among things of one kind."""
        # A lone surrogate names nothing that is stored; asking for it finds nothing.
        state = self._keyed.copy()
        state.update("".join([f"{len(part)}:{part}" for part in (kind, *parts)]).encode(errors="surrogatepass"))
        return state.hexdigest()

    def entity(self, namespace: str, name: str, discriminator: str = "") -> str:
        """Key of the entity that a name denotes."""
        return self.digest("entity", namespace, normalise(name), discriminator)

    def literal(self, namespace: str, value: str, datatype: str) -> str:
        """Key of a literal; strings are compared as names are, other types by their exact form."""
        return self.digest("literal", namespace, normalise(value) if datatype == "xsd:string" else value.strip(), datatype)

    def slot(self, namespace: str, subject: str, predicate: str, qualifier: str) -> str:
        """Key of a slot."""
        return self.digest("slot", namespace, subject, predicate, qualifier)

    def proposition(self, namespace: str, subject: str, predicate: str, qualifier: str, object: str, *, symmetric: bool) -> str:
        """Key of an affirmed proposition: `Statement.key`. Of a symmetric relation both directions are one."""
        one, other = sorted((subject, object)) if symmetric else (subject, object)
        return self.digest("proposition", self.slot(namespace, one, predicate, qualifier), other, "+")

    def denial(self, proposition: str) -> str:
        """Key of what denies an affirmed proposition."""
        return self.digest("denial", proposition)
