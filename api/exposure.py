"""How far the service is exposed: under which names it is asked, with which keys, and with how much at a time."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

from api.credentials import Keyring, parse_keys
from api.settings import MAX_BODY, PATIENCE, Settings
from ontology.errors import InvalidInput

LOOPBACK_NAMES = ("127.0.0.1", "localhost", "::1", "[::1]")
"""Names under which the service is always asked: a web page that points its own name at this machine gets no answer."""


@dataclass(frozen=True, slots=True)
class Exposure:
    """Names of hosts (`*.example.org` and `*` are patterns), keys (None: anybody, on loopback), greatest body in bytes. Picklable.

    `patience`: seconds that a subscriber may leave an event untaken.
    """

    hosts: tuple[str, ...] = LOOPBACK_NAMES
    keyring: Keyring | None = None
    max_body: int = MAX_BODY
    patience: float = PATIENCE


def keyring_of(settings: Settings) -> Keyring | None:
    """The keys that the settings name; None where they name none. Raises InvalidInput, which shows no entry."""
    if settings.api_keys is not None and settings.api_keys_file is not None:
        raise InvalidInput("ERSTWHILE_API_KEYS and ERSTWHILE_API_KEYS_FILE are both set; one holds all keys")
    if settings.api_keys is not None:
        return parse_keys(settings.api_keys.get_secret_value(), "ERSTWHILE_API_KEYS")
    if settings.api_keys_file is None:
        return None
    where = f"ERSTWHILE_API_KEYS_FILE ({settings.api_keys_file})"
    try:
        text = settings.api_keys_file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InvalidInput(f"{where} is no JSON") from None
    except OSError as failure:
        raise InvalidInput(f"{where} cannot be read: {failure.strerror}") from failure
    return parse_keys(text, where)


def exposure_of(settings: Settings) -> Exposure:
    """What the settings say. Raises InvalidInput."""
    keyring = keyring_of(settings)
    if keyring is None and "*" in settings.allowed_hosts:
        raise InvalidInput("ERSTWHILE_ALLOWED_HOSTS: without API keys the service is not asked under every name", path=("allowed_hosts",))
    own = () if is_unspecified(settings.host) else (settings.host,)
    hosts = dict.fromkeys((*LOOPBACK_NAMES, *map(in_header, (*own, *settings.allowed_hosts))))
    return Exposure(tuple(hosts), keyring, int(settings.max_body), settings.subscriber_patience)


def in_header(host: str) -> str:
    """A host as the header `Host` spells it: IPv6 addresses stand in brackets."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


def is_unspecified(host: str) -> bool:
    """Whether an address stands for all of this machine's: no request names it."""
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False
