"""No error, and nothing that is stored beside the text, holds a secret that was given in an odd place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from api.settings import Settings
from api.wiring import open_service
from ontology.errors import InvalidInput
from tests.api.cli.running import erstwhile
from tests.api.clients import Client
from tests.api.stating import refused, state
from tests.workers.extracting import SECRET

ADA = {"subject": {"name": "Ada"}, "predicate": "works_at", "object": {"name": "Acme"}}


@pytest.mark.parametrize(
    ("query", "variables"),
    [
        ("query($t: DateTime) { asOf(validAt: $t) { basis { validAt } } }", {"t": f"on {SECRET}"}),
        ("query($n: Int!) { asOf { entities(first: $n) { edges { node { id } } } } }", {"n": SECRET}),
        ("query($a: String) { asOf { entities(first: 1, after: $a) { edges { node { id } } } } }", {"a": SECRET}),
        (f'{{ asOf(validAt: "{SECRET}") {{ basis {{ validAt }} }} }}', {}),
        (f'{{ asOf {{ entities(first: "{SECRET}") {{ edges {{ node {{ id }} }} }} }} }}', {}),
    ],
)
def test_errors_of_queries_show_no_secret(client: Client, query: str, variables: dict[str, Any]) -> None:
    answer = client.send(query, variables)
    assert answer.errors
    assert SECRET not in str(answer.errors)


@pytest.mark.parametrize(
    "more",
    [
        {"saidAt": SECRET},
        {"timeZone": SECRET},
        {"statements": [{**ADA, "validFrom": SECRET}]},
        {"content": "x", "statements": [{**ADA, "quote": SECRET}]},
    ],
)
def test_errors_of_mutations_show_no_secret(client: Client, more: dict[str, Any]) -> None:
    said = more.pop("saidAt", "2023-01-01")
    assert SECRET not in str(refused(client, "1", said, **{"statements": [ADA], **more}))


def test_an_unknown_id_and_a_used_key_come_back_without_secrets(client: Client) -> None:
    retract = "mutation($id: ID) { retractEpisode(id: $id) { __typename ... on NotFoundError { id message } } }"
    unknown = client.ok(retract, id=SECRET)["retractEpisode"]
    assert unknown["__typename"] == "NotFoundError"
    assert SECRET not in str(unknown)
    key = f"key {SECRET}"
    state(client, "1", "2023-01-01", ("Ada", "works_at", "Acme"), idempotencyKey=key)
    assert state(client, "1", "2023-01-01", ("Ada", "works_at", "Acme"), idempotencyKey=key)["deduplicated"]
    conflict = refused(client, "2", "2023-01-01", statements=[ADA], idempotencyKey=key)
    assert conflict["__typename"] == "IdempotencyConflictError"
    assert SECRET not in str(conflict)


def test_no_reason_source_or_key_with_a_secret_is_stored(client: Client, folder: Path) -> None:
    done = state(client, "1", "2023-01-01", ("Ada", "works_at", "Acme"), source=f"source {SECRET}", idempotencyKey=f"key {SECRET}")
    retract = "mutation($id: ID, $reason: String) { retractEpisode(id: $id, reason: $reason) { __typename } }"
    client.ok(retract, id=done["episode"]["id"], reason=f"it held {SECRET}")
    stored = [path for path in folder.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]
    assert stored == []


def test_a_rule_file_of_ones_own_comes_into_force_with_the_service(tmp_path: Path) -> None:
    rules = tmp_path / "hygiene.yaml"
    rules.write_text(
        "secrets: {rules: {badge: {what: Ours, pattern: 'BADGE-\\d{4}', finds: [BADGE-1234, a BADGE-9999], leaves: [BADGE, BADGE-1]}}}"
    )
    service = open_service(Settings(data=tmp_path / "data", hygiene=rules, graph_engine="sql"))
    try:
        assert service.ingestion.shown("my BADGE-5678").startswith("my [REDACTED:badge:")
    finally:
        service.close()


def test_a_wrong_rule_file_is_refused_at_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = tmp_path / "hygiene.yaml"
    rules.write_text("secrets:\n  off: [nothing]\n")
    with pytest.raises(InvalidInput, match=r"line 2, secrets\.off\.0"):
        open_service(Settings(data=tmp_path / "data", hygiene=rules, graph_engine="sql"))
    assert not (tmp_path / "data").exists()
    monkeypatch.setenv("ERSTWHILE_HYGIENE", str(rules))
    served = erstwhile("serve", "--data", tmp_path / "data", "--port", "0")
    assert served.status == 1
    assert f"{rules}, line 2, secrets.off.0" in served.err


def test_the_command_line_shows_no_secret_in_its_refusals(tmp_path: Path) -> None:
    token = "gh" + "p_" + "aB3dE5gH7j" * 4
    ran = erstwhile("as-of", "--at", f"the day of {token}", "Ada", "--data", tmp_path / "data")
    assert ran.status == 1
    assert token not in ran.err
    assert "REDACTED" in ran.err
