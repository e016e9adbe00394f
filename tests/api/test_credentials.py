"""API keys: what entries are taken, which header names which key, and what a grant allows."""

from __future__ import annotations

import hmac
import json
import pickle
from base64 import urlsafe_b64encode
from collections.abc import Sequence
from traceback import format_exception
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import api.credentials
from api.credentials import (
    LOCAL,
    PREFIX,
    Access,
    Grant,
    Keyring,
    authorizations_in,
    digest_of,
    entry_of,
    namespace_in,
    new_key,
    parse_keys,
)
from extraction.scrubbing import Scrubber
from ontology.errors import Forbidden, InvalidInput, Unauthenticated

# Made as keys are, and the same in every process: they stand in the names of tests.
ANA, BEN = (PREFIX + urlsafe_b64encode(digest_of(name)).decode().rstrip("=") for name in ("ana", "ben"))
SCRUBBER = Scrubber(b"k" * 32)
ENTRIES = [entry_of(ANA, "ana", [], Access.ADMIN), entry_of(BEN, "ben", ["b.1", "b.2"], Access.READ)]


@pytest.fixture(scope="module")
def keyring() -> Keyring:
    return parse_keys(json.dumps(ENTRIES), "the test")


def parsed(*entries: object) -> Keyring:
    return parse_keys(json.dumps(list(entries)), "the test")


def entry(**other: Any) -> dict[str, Any]:
    return {**ENTRIES[0], **other}


def test_keys_are_of_32_random_bytes_and_known_by_their_prefix() -> None:
    keys = {new_key() for _ in range(100)}
    assert len(keys) == 100
    assert all(key.startswith(PREFIX) and len(key) == len(PREFIX) + 43 for key in keys)


@pytest.mark.parametrize("header", ["Bearer {}", "bearer {}", "BEARER   {}", " Bearer {}\t"])
def test_a_key_is_known_by_its_header(keyring: Keyring, header: str) -> None:
    assert keyring.authenticate([header.format(ANA)]) == Grant("ana", None, Access.ADMIN)
    assert keyring.authenticate([header.format(BEN)]) == Grant("ben", frozenset({"b.1", "b.2"}), Access.READ)


MALFORMED = [
    "",
    "Bearer",
    "Bearer ",
    ANA,
    f"Bearer{ANA}",
    f"Bearer\t{ANA}",
    f"Bearer {ANA} {ANA}",
    f"Bearer {ANA},Bearer {ANA}",
    f"Bearer {ANA}\n",
    f"Bearer {ANA}\x00",
    f"Bearer {ANA}\xa0",
    f'Bearer "{ANA}"',
    f"Bearer={ANA}",
    f"Basic {ANA}",
    f"Token {ANA}",
    f"Bearer Bearer {ANA}",
    f"Bearer {ANA[:-1]}",
    f"Bearer {ANA}=",
    f"Bearer {ANA.swapcase()}",
    f"Bearer {ANA.removeprefix(PREFIX)}",
    f"Bearer {digest_of(ANA).hex()}",
    f"Bearer {ENTRIES[0]['hash']}",
    f"Bеarer {ANA}",
    "Bearer ÿþ\ud800",
]


def refused(keyring: Keyring, headers: Sequence[str]) -> str:
    with pytest.raises(Unauthenticated) as failure:
        keyring.authenticate(headers)
    assert failure.value.code == "UNAUTHENTICATED"
    return failure.value.message


@pytest.mark.parametrize("header", MALFORMED)
def test_a_malformed_or_wrong_header_is_refused_and_not_shown(keyring: Keyring, header: str) -> None:
    message = refused(keyring, [header])
    assert ANA[len(PREFIX) :][:12] not in message
    assert digest_of(ANA).hex()[:12] not in message


@given(header=st.text() | st.text().map("Bearer {}".format) | st.from_regex(r"(?i)bearer +[A-Za-z0-9._~+/-]+=*", fullmatch=True))
def test_no_other_header_is_let_in(header: str) -> None:
    message = refused(parse_keys(json.dumps(ENTRIES), "the test"), [header])
    assert message in {'the header Authorization is not of the form "Bearer KEY"', "the API key is not known"}


@given(random=st.binary(min_size=32, max_size=32), around=st.sampled_from(["{}", "use {} for it", "--key={}.", '"{}"', "curl -u {}:x"]))
@example(random=b"\0" * 32, around="{}")
def test_a_key_that_strays_into_a_text_is_not_stored(random: bytes, around: str) -> None:
    key = PREFIX + urlsafe_b64encode(random).decode().rstrip("=")
    assert len(key) == len(new_key())
    assert key[len(PREFIX) :] not in SCRUBBER.scrub(around.format(key)).text


def test_no_header_is_refused_with_what_to_send(keyring: Keyring) -> None:
    assert "ERSTWHILE_API_KEY" in refused(keyring, [])


def test_two_headers_are_refused_even_where_both_are_right(keyring: Keyring) -> None:
    refused(keyring, [f"Bearer {ANA}", f"Bearer {ANA}"])
    refused(keyring, [f"Bearer {ANA}", f"Bearer {BEN}"])


@pytest.mark.parametrize("key", [ANA, BEN, "wrong"])
def test_every_entry_is_compared_in_constant_time_whichever_fits(monkeypatch: pytest.MonkeyPatch, keyring: Keyring, key: str) -> None:
    compared: list[tuple[Any, Any]] = []

    def compare(left: Any, right: Any) -> bool:
        compared.append((left, right))
        return hmac.compare_digest(left, right)

    monkeypatch.setattr(api.credentials, "compare_digest", compare)
    if key == "wrong":
        refused(keyring, ["Bearer wrong"])
    else:
        keyring.authenticate([f"Bearer {key}"])
    assert compared == [(digest_of(known), digest_of(key)) for known in (ANA, BEN)]


def test_neither_keys_nor_hashes_are_in_what_is_printed(keyring: Keyring) -> None:
    printed = repr(keyring) + repr(vars(keyring))
    assert repr(keyring) == "Keyring(ana, ben)"
    assert digest_of(ANA).hex()[:12] not in printed
    assert repr(digest_of(ANA)) not in printed


def test_a_keyring_travels_to_another_process(keyring: Keyring) -> None:
    assert pickle.loads(pickle.dumps(keyring)).authenticate([f"Bearer {ANA}"]).actor == "ana"


def test_an_entry_alone_is_a_list_of_one() -> None:
    assert len(parse_keys(json.dumps(ENTRIES[0]), "the test")) == 1


def test_access_is_write_where_none_is_stated() -> None:
    stated = {name: value for name, value in ENTRIES[0].items() if name != "access"}
    assert parsed(stated).authenticate([f"Bearer {ANA}"]).access is Access.WRITE


def test_a_name_may_have_two_keys_while_they_change() -> None:
    ring = parsed(ENTRIES[0], entry_of(BEN, "ana", [], Access.ADMIN))
    assert ring.authenticate([f"Bearer {ANA}"]) == ring.authenticate([f"Bearer {BEN}"])


FAULTY: list[tuple[Any, str]] = [
    (entry(hash=ANA), "entry 1: hash is"),
    (entry(hash=f"sha256:{ANA}"), "entry 1: hash is"),
    (entry(hash="sha256:" + "A" * 64), "entry 1: hash is"),
    (entry(hash="md5:" + "0" * 64), "entry 1: hash is"),
    (entry(hash=7), "entry 1: hash is"),
    (entry(hash=ENTRIES[0]["hash"] + "\n"), "entry 1: hash is"),
    (entry(name=""), "entry 1: name is"),
    (entry(name="local"), "entry 1: name is"),
    (entry(name="a b"), "entry 1: name is"),
    (entry(name=ANA + ANA), "entry 1: name is"),
    (entry(namespaces=[]), "entry 1: namespaces is"),
    (entry(namespaces=["*"]), "entry 1: namespaces is"),
    (entry(namespaces=["a/b"]), "entry 1: namespaces is"),
    (entry(namespaces="team"), "entry 1: namespaces is"),
    (entry(namespaces=None), "entry 1: namespaces is"),
    (entry(access="root"), "entry 1: access is"),
    (entry(access=["read"]), "entry 1: access is"),
    (entry(key=ANA), "entry 1 has a field that no entry has"),
    (entry(**{ANA: 1}), "entry 1 has a field that no entry has"),
    ({"name": "ana"}, "entry 1: hash is"),
    (ANA, "entry 1 is no JSON object"),
    (None, "entry 1 is no JSON object"),
]


@pytest.mark.parametrize(("faulty", "told"), FAULTY)
def test_a_faulty_entry_is_told_by_place_and_field_and_not_shown(faulty: Any, told: str) -> None:
    with pytest.raises(InvalidInput) as failure:
        parsed(faulty)
    assert told in failure.value.message
    # With its causes, as a traceback shows them.
    assert ANA[len(PREFIX) :] not in "".join(format_exception(failure.value))


def test_the_place_of_a_faulty_entry_counts_from_one() -> None:
    with pytest.raises(InvalidInput, match=r"^the test: entry 2: name is"):
        parsed(ENTRIES[0], {**ENTRIES[1], "name": ""})


@pytest.mark.parametrize("text", ["", "{", f"[{ANA}]", '"text"', "7", "null", "[]", "{}", "\x00"])
def test_what_is_no_list_of_entries_is_refused_and_not_shown(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"^the test") as failure:
        parse_keys(text, "the test")
    assert ANA not in "".join(format_exception(failure.value))


def test_one_key_twice_is_refused() -> None:
    with pytest.raises(InvalidInput, match="twice"):
        parsed(ENTRIES[0], entry(name="other"))


@pytest.mark.parametrize(("name", "namespaces"), [("local", []), ("", []), ("a b", []), ("ana", ["a b"]), ("ana", [""])])
def test_no_entry_is_made_that_would_be_refused(name: str, namespaces: list[str]) -> None:
    with pytest.raises(InvalidInput, match="the new key"):
        entry_of(new_key(), name, namespaces, Access.READ)


def test_a_grant_reaches_its_namespaces_and_no_others() -> None:
    limited = Grant("ben", frozenset({"b.1"}), Access.READ)
    limited.check_namespace("b.1")
    for namespace in ("default", "b", "b.10", "B.1", "", "*"):
        with pytest.raises(Forbidden):
            limited.check_namespace(namespace)
    LOCAL.check_namespace("whatever")
    LOCAL.check_everywhere()
    with pytest.raises(Forbidden):
        limited.check_everywhere()


@pytest.mark.parametrize("has", Access)
@pytest.mark.parametrize("wanted", Access)
def test_access_includes_all_below_it(has: Access, wanted: Access) -> None:
    grant = Grant("ana", None, has)
    if has >= wanted:
        grant.check_access(wanted)
    else:
        with pytest.raises(Forbidden, match=f"{has.name.lower()} access; this needs {wanted.name.lower()}"):
            grant.check_access(wanted)


def test_a_web_socket_names_key_and_namespace_in_its_first_message() -> None:
    parameters = {"AUTHORIZATION": "Bearer x", "erstwhile-Namespace": "b.1", "other": 1}
    assert authorizations_in(parameters) == ["Bearer x"]
    assert namespace_in(parameters) == "b.1"
    assert authorizations_in({"authorization": None}) == ["None"]
    for nothing in (None, {}, {"other": 1}):
        assert authorizations_in(nothing) == []
        assert namespace_in(nothing) is None
