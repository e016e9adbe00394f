"""Where the service listens, under which names it answers, and where its keys come from."""

from __future__ import annotations

import json
import socket
from functools import partial
from pathlib import Path

import httpx
import pytest
from pydantic import ValidationError

from api.app import create_app
from api.credentials import PREFIX, Access, entry_of
from api.exposure import LOOPBACK_NAMES, Exposure, exposure_of, keyring_of
from api.server import listen, serve, url_of
from api.service import Service
from api.settings import Settings
from ontology.errors import InvalidInput
from tests.api.clients import served
from tests.api.conftest import Borrowed

# The same in every process: it stands in the names of tests.
KEY = PREFIX + "k" * 43
ENTRIES = json.dumps([entry_of(KEY, "ana", [], Access.WRITE)])


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("API_KEYS", "API_KEYS_FILE", "API_KEY", "ALLOWED_HOSTS", "MAX_BODY", "HOST"):
        monkeypatch.delenv(f"ERSTWHILE_{name}", raising=False)


def settings(monkeypatch: pytest.MonkeyPatch, **named: str) -> Settings:
    for name, value in named.items():
        monkeypatch.setenv(f"ERSTWHILE_{name.upper()}", value)
    return Settings()


def test_keys_come_from_the_environment_or_from_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert keyring_of(Settings()) is None
    path = tmp_path / "keys.json"
    path.write_text(ENTRIES)
    for found in (keyring_of(Settings(api_keys_file=path)), keyring_of(settings(monkeypatch, api_keys=ENTRIES))):
        assert found is not None
        assert found.authenticate([f"Bearer {KEY}"]).actor == "ana"
    with pytest.raises(InvalidInput, match="both"):
        keyring_of(settings(monkeypatch, api_keys_file=str(path)))


CONTENTS = {"nothing": b"", "no keys": b"[]", "torn": b"{", "no text": b"\xff\xfe", "a bare key": json.dumps(KEY).encode()}


@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS)
def test_a_file_without_keys_is_refused_rather_than_taken_for_none(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "keys.json"
    path.write_bytes(content)
    with pytest.raises(InvalidInput, match=r"ERSTWHILE_API_KEYS_FILE \(.*keys\.json\)") as failure:
        keyring_of(Settings(api_keys_file=path))
    assert KEY not in failure.value.message


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.json", tmp_path):
        with pytest.raises(InvalidInput, match="cannot be read"):
            keyring_of(Settings(api_keys_file=path))


def test_settings_show_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    printed = repr(settings(monkeypatch, api_keys=ENTRIES, api_key=KEY))
    assert KEY not in printed
    assert "sha256" not in printed


@pytest.mark.parametrize(
    ("named", "known"),
    [
        ("api", ("api",)),
        (" api , *.example.org,10.0.0.7 ", ("api", "*.example.org", "10.0.0.7")),
        ("fd00::7,[fd00::8]", ("[fd00::7]", "[fd00::8]")),
        ("", ()),
    ],
)
def test_names_of_hosts_are_added_to_those_of_loopback(monkeypatch: pytest.MonkeyPatch, named: str, known: tuple[str, ...]) -> None:
    found = exposure_of(settings(monkeypatch, allowed_hosts=named))
    assert [name for name in found.hosts if name not in LOOPBACK_NAMES] == list(known)
    assert found.hosts[: len(LOOPBACK_NAMES)] == LOOPBACK_NAMES


@pytest.mark.parametrize("named", ["http://api", "api:8000", "a/b", "*api", "*.*", "a b", "fd00::7]:1", ";"])
def test_what_no_host_is_called_is_refused(monkeypatch: pytest.MonkeyPatch, named: str) -> None:
    with pytest.raises(ValidationError, match="host names"):
        settings(monkeypatch, allowed_hosts=named)


def test_every_name_is_taken_with_keys_only(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidInput, match="without API keys"):
        exposure_of(settings(monkeypatch, allowed_hosts="*"))
    assert "*" in exposure_of(settings(monkeypatch, api_keys=ENTRIES)).hosts


@pytest.mark.parametrize(
    ("host", "own"), [("127.0.0.1", ()), ("0.0.0.0", ()), ("::", ()), ("192.0.2.7", ("192.0.2.7",)), ("fd00::7", ("[fd00::7]",))]
)
def test_the_address_that_is_listened_on_is_a_name_unless_it_is_all_of_them(host: str, own: tuple[str, ...]) -> None:
    assert exposure_of(Settings(host=host)).hosts == (*LOOPBACK_NAMES, *own)


def test_a_body_may_be_sized_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    assert exposure_of(Settings()).max_body == 128 * 2**20
    assert exposure_of(settings(monkeypatch, max_body="3MiB")).max_body == 3 * 2**20
    with pytest.raises(ValidationError):
        settings(monkeypatch, max_body="1000")


def test_with_keys_any_address_is_listened_on_and_reached_by_loopback() -> None:
    with listen("0.0.0.0", 0, anywhere=True) as listening:
        url = url_of(listening)
        assert url.startswith("http://127.0.0.1:")
        socket.create_connection(("127.0.0.1", int(url.rsplit(":", 1)[1])), timeout=10).close()


def test_without_keys_it_listens_on_loopback_only_and_says_what_to_set(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="ERSTWHILE_API_KEYS_FILE"):
        serve(Settings(data=tmp_path, host="0.0.0.0", port=0))
    assert list(tmp_path.iterdir()) == []


def test_faulty_keys_keep_it_from_starting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidInput, match="ERSTWHILE_API_KEYS holds no key"):
        serve(settings(monkeypatch, api_keys="[]", data=str(tmp_path)))


def test_it_answers_under_its_names_only(service: Service, http: httpx.Client) -> None:
    exposure = Exposure((*LOOPBACK_NAMES, "api", "*.example.org"))
    with served(create_app(partial(Borrowed, service.graph, service.ingestion), exposure=exposure)) as url:
        for name in ("api", "API:8000", "a.example.org", "127.0.0.1", "localhost:1", "[::1]:8000"):
            assert http.get(f"{url}/livez", headers={"Host": name}).status_code == 200, name
        for name in ("other", "example.org", "api.evil.org", "a.example.org.evil.org", "0.0.0.0", ""):
            assert http.get(f"{url}/livez", headers={"Host": name}).status_code == 400, name
