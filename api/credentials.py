"""API keys: what an entry says, which key is meant by a header, and what its holder may do. Pure: reads no file and no clock.

A key is 32 random bytes, so its plain SHA-256 can stand in a file: nobody finds a preimage by trying, as people do with
passwords, for which slow hashes are made. A slow one would only let strangers spend our time.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from hashlib import sha256
from hmac import compare_digest
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from ontology.errors import ErstwhileError, Forbidden, InvalidInput, Unauthenticated
from ontology.names import checked_namespace

PREFIX = "erstwhile_"
"""Begins every key, so that scanners for secrets find one that has strayed."""

SCHEME = "sha256:"
LOCAL_ACTOR = "local"
ALL = "*"
NAMESPACE_KEY = "erstwhile-namespace"

# RFC 6750, section 2.1: "Bearer" in any case, spaces, one b64token.
_BEARER = re.compile(r"bearer +([A-Za-z0-9._~+/-]+=*)", re.IGNORECASE)


class Access(IntEnum):
    """What a key may do; each includes those before it. ADMIN: what concerns all namespaces, such as a rebuild."""

    READ = 1
    WRITE = 2
    ADMIN = 3


@dataclass(frozen=True, slots=True)
class Grant:
    """What a request may do. `actor` is the name that its transactions bear; `namespaces` None stands for all."""

    actor: str
    namespaces: frozenset[str] | None = None
    access: Access = Access.ADMIN

    def check_namespace(self, namespace: str) -> None:
        """Raises Forbidden where the key does not reach the namespace, whether or not that exists."""
        if self.namespaces is not None and namespace not in self.namespaces:
            raise Forbidden(f"the key {self.actor!r} does not reach this namespace")

    def check_access(self, wanted: Access) -> None:
        """Raises Forbidden where the key may do less."""
        if self.access < wanted:
            raise Forbidden(f"the key {self.actor!r} has {self.access.name.lower()} access; this needs {wanted.name.lower()} access")

    def check_everywhere(self) -> None:
        """Raises Forbidden for a key that is limited to namespaces: what is asked for tells of all."""
        if self.namespaces is not None:
            raise Forbidden(f"the key {self.actor!r} is limited to namespaces; this tells of all of them")


LOCAL = Grant(LOCAL_ACTOR)
"""Everybody's where there are no keys: the service listens on loopback only then."""


@dataclass(frozen=True, slots=True)
class Key:
    """One entry: the key's hash, and what it grants."""

    digest: bytes = field(repr=False)
    grant: Grant


class Keyring:
    """All keys that are in force."""

    def __init__(self, keys: Iterable[Key]) -> None:
        self._keys = tuple(keys)

    def __repr__(self) -> str:
        return f"Keyring({', '.join(sorted(key.grant.actor for key in self._keys))})"

    def __len__(self) -> int:
        return len(self._keys)

    def authenticate(self, authorizations: Sequence[str]) -> Grant:
        """The grant of the key that the values of the header `Authorization` name. Raises Unauthenticated."""
        if not authorizations:
            raise Unauthenticated(
                'this service answers with an API key only: send "Authorization: Bearer KEY" (the command line takes ERSTWHILE_API_KEY)'
            )
        match = _BEARER.fullmatch(authorizations[0].strip(" \t")) if len(authorizations) == 1 else None
        if match is None:
            raise Unauthenticated('the header Authorization is not of the form "Bearer KEY"')
        presented = digest_of(match[1])
        found = None
        # No early end: how long it takes tells nothing of which entries come close.
        for key in self._keys:
            if compare_digest(key.digest, presented):
                found = key.grant
        if found is None:
            raise Unauthenticated("the API key is not known")
        return found


def digest_of(key: str) -> bytes:
    """SHA-256 of a key's characters."""
    return sha256(key.encode("utf-8", "surrogatepass")).digest()


def new_key() -> str:
    """A new key: the prefix, and 32 random bytes in URL-safe base 64."""
    return PREFIX + secrets.token_urlsafe(32)


def entry_of(key: str, name: str, namespaces: Sequence[str], access: Access) -> dict[str, Any]:
    """What stands in the list of keys for a key. No namespaces: all. Raises InvalidInput for a name that no entry may have."""
    entry = {
        "name": name,
        "hash": SCHEME + digest_of(key).hex(),
        "namespaces": list(namespaces) or ALL,
        "access": access.name.lower(),
    }
    parse_keys(json.dumps(entry), "the new key")
    return entry


def authorizations_in(parameters: Mapping[str, object] | None) -> list[str]:
    """The credentials that a web socket's `connection_init` carries: browsers cannot set headers on one."""
    named = (parameters or {}).items()
    return [str(value) for name, value in named if name.lower() == "authorization"]


def namespace_in(parameters: Mapping[str, object] | None) -> str | None:
    """The namespace that it names."""
    return next((str(value) for name, value in (parameters or {}).items() if name.lower() == NAMESPACE_KEY), None)


class _Entry(BaseModel):
    # What is wrong may be a key that was pasted in the place of its hash: it is never shown.
    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True, strict=True)

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$")]
    hash: Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]
    namespaces: Literal["*"] | Annotated[list[str], Field(min_length=1)]
    access: Literal["read", "write", "admin"] = "write"


_ENTRIES: TypeAdapter[list[_Entry]] = TypeAdapter(list[_Entry])

_MEANT = {
    "name": "a word of up to 64 letters, digits and ._@- that is not 'local'",
    "hash": "'sha256:' and 64 hexadecimal digits of the key's hash, not the key",
    "namespaces": "a list of namespaces, or '*' for all",
    "access": "read, write or admin",
}


def parse_keys(text: str, where: str) -> Keyring:
    """The keys of a JSON list of entries, or of one entry alone. `where` names the source in errors.

    Two entries may have one name, so that a key can be changed while the old one is still in use. Raises InvalidInput, which
    shows nothing of what was written but the names of fields.
    """
    try:
        found = json.loads(text)
    except ValueError:
        # Not even as its cause: the error holds the text.
        raise InvalidInput(f"{where} is no JSON", reason="UNPARSEABLE") from None
    try:
        entries = _ENTRIES.validate_python([found] if isinstance(found, dict) else found)
    except ValidationError as failure:
        raise InvalidInput(f"{where}: {_complaint(failure)}") from None
    if not entries:
        raise InvalidInput(f"{where} holds no key; leave it out to listen on loopback only, without keys")
    keys = [_key(entry, f"{where}: entry {number}") for number, entry in enumerate(entries, 1)]
    if len({key.digest for key in keys}) < len(keys):
        raise InvalidInput(f"{where} holds one key twice")
    return Keyring(keys)


def _complaint(failure: ValidationError) -> str:
    place = failure.errors(include_input=False, include_url=False, include_context=False)[0]["loc"]
    if not place:
        return "this is a list of entries, or one entry"
    number = int(place[0]) + 1
    if len(place) == 1:
        return f"entry {number} is no JSON object"
    known = str(place[1])
    return f"entry {number}: {known} is {_MEANT[known]}" if known in _MEANT else f"entry {number} has a field that no entry has"


def _key(entry: _Entry, where: str) -> Key:
    if entry.name == LOCAL_ACTOR:
        raise InvalidInput(f"{where}: name is {_MEANT['name']}")
    names = None if entry.namespaces == ALL else frozenset(entry.namespaces)
    try:
        for name in names or ():
            checked_namespace(name)
    except ErstwhileError:
        raise InvalidInput(f"{where}: namespaces is {_MEANT['namespaces']}, each of up to 128 letters, digits and ._-") from None
    return Key(bytes.fromhex(entry.hash.removeprefix(SCHEME)), Grant(entry.name, names, Access[entry.access.upper()]))
