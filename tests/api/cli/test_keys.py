"""Making API keys, and asking a service that wants one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from api.credentials import Access, Grant, Keyring, parse_keys
from api.folder import owned
from api.service import Service
from tests.api.cli.running import Ran, erstwhile
from tests.api.keyed import Keys, keyed_service


def made(*arguments: str | Path) -> tuple[str, dict[str, Any]]:
    """The key and its entry."""
    ran = erstwhile("keys", "new", *arguments, "--json")
    assert ran.status == 0, ran.err
    return ran.json["key"], ran.json["entry"]


def grant(entry: object, key: str) -> Grant:
    return parse_keys(json.dumps(entry), "the test").authenticate([f"Bearer {key}"])


def test_a_new_key_opens_what_it_was_made_for() -> None:
    key, entry = made("ana")
    assert grant(entry, key) == Grant("ana", None, Access.WRITE)
    key, entry = made("ben", "--namespace", "team-a", "-n", "team-b", "--read-only")
    assert grant(entry, key) == Grant("ben", frozenset({"team-a", "team-b"}), Access.READ)
    key, entry = made("root", "--admin")
    assert grant(entry, key).access is Access.ADMIN


def test_it_is_shown_once_and_its_entry_holds_the_hash_only() -> None:
    ran = erstwhile("keys", "new", "ana")
    title, key, told, entry = ran.out.splitlines()
    assert (title, told) == ("key of ana, shown this once:", "entry for the list of ERSTWHILE_API_KEYS_FILE:")
    assert key not in entry
    assert grant(json.loads(entry), key).actor == "ana"


def test_entries_are_added_to_a_file(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    first, _ = made("ana", "--file", path)
    ran = erstwhile("keys", "new", "ben", "--read-only", "--file", path)
    second = ran.out.splitlines()[1]
    assert "restart" in ran.err
    assert [child.name for child in tmp_path.iterdir()] == ["keys.json"]
    ring: Keyring = parse_keys(path.read_text(), "the file")
    assert [ring.authenticate([f"Bearer {key}"]).actor for key in (first, second)] == ["ana", "ben"]
    assert first not in path.read_text()


def test_an_entry_alone_in_a_file_becomes_a_list(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    key, entry = made("ana")
    path.write_text(json.dumps(entry))
    made("ben", "--file", path)
    assert len(parse_keys(path.read_text(), "the file")) == 2
    assert grant(json.loads(path.read_text()), key).actor == "ana"


@pytest.mark.parametrize("content", ["{", "7", '[{"name": "ana"}]'])
def test_a_file_that_is_no_list_of_keys_stays_as_it_is(tmp_path: Path, content: str) -> None:
    path = tmp_path / "keys.json"
    path.write_text(content)
    ran = erstwhile("keys", "new", "ana", "--file", path)
    assert (ran.status, ran.out, ran.err.count("\n")) == (1, "", 1)
    assert path.read_text() == content


def test_what_makes_no_key_is_one_sentence() -> None:
    for arguments in (["local"], [""], ["a b"], ["ana", "--namespace", "a/b"]):
        ran = erstwhile("keys", "new", *arguments)
        assert (ran.status, ran.out, ran.err.count("\n")) == (1, "", 1), arguments
    assert erstwhile("keys", "new", "ana", "--read-only", "--admin").status == 2


@pytest.fixture(scope="module")
def keys() -> Keys:
    return Keys()


@pytest.fixture(scope="module")
def guarded(service: Service, keys: Keys, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder that a server with keys answers for."""
    folder = tmp_path_factory.mktemp("guarded")
    with keyed_service(service, keys) as url, owned(folder, url):
        yield folder


def test_commands_send_the_key_of_the_environment(guarded: Path, keys: Keys, monkeypatch: pytest.MonkeyPatch) -> None:
    def status(key: str | None, *more: str) -> Ran:
        if key is None:
            monkeypatch.delenv("ERSTWHILE_API_KEY", raising=False)
        else:
            monkeypatch.setenv("ERSTWHILE_API_KEY", key)
        return erstwhile("status", "--data", guarded, *more)

    assert "server at http" in status(keys.reader).out
    assert "server at http" in status(f" {keys.reader}\n").out
    assert "server at http" in status(keys.limited, "--namespace", "keyed-1").out
    for key, told in (
        (None, "ERSTWHILE_API_KEY"),
        ("wrong", "not known"),
        (keys.limited, "does not reach this namespace"),
        ("a\nb", "no API key"),
        ("schlüssel", "no API key"),
    ):
        ran = status(key)
        assert (ran.status, ran.out, ran.err.count("\n")) == (1, "", 1)
        assert told in ran.err
        assert key is None or key not in ran.err
