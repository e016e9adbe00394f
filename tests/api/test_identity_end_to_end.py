"""Who is who, rejections, previews and reading again, from GraphQL and the command line down to the ledger and back.

What loads the real extraction again is deep; the README's commands are run with it in any case.
"""

from __future__ import annotations

import io
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.api.cli.running import chat, erstwhile
from tests.api.clients import Client
from tests.api.stating import state
from tests.api.test_claims import CLAIMS, REJECT, RESTORE
from tests.api.test_ingesting import ingest
from tests.api.test_preview import COUNTS, PREVIEW, SIMULATE
from tests.api.test_who_is_who import MERGE, SPLIT

pytestmark = pytest.mark.xdist_group("identity")


def listed(client: Client, **asked: Any) -> list[dict[str, Any]]:
    return [edge["node"] for edge in client.ok(CLAIMS, **asked)["asOf"]["claims"]["edges"]]


def employers(client: Client, name: str = "Ada") -> list[str]:
    """What somebody works for now."""
    ask = 'query($n: String) { asOf { entity(name: $n) { statements(role: SUBJECT, filter: {predicates: ["works_at"]}) { edges { node { \
object { ... on Entity { name } } } } } } } }'
    found = client.ok(ask, n=name)["asOf"]["entity"]
    return [edge["node"]["object"]["name"] for edge in found["statements"]["edges"]] if found else []


def key(client: Client, name: str) -> str:
    return str(client.ok("query($n: String) { asOf { entity(name: $n) { key } } }", n=name)["asOf"]["entity"]["key"])


# ---------------------------------------------------------------- claims


def test_a_rejected_claim_is_no_evidence_until_it_is_restored(client: Client) -> None:
    state(client, "1", "2023-01-01", ("Ada", "works_at", "Acme"))
    state(client, "2", "2024-01-01", ("Ada", "works_at", "Globex"))
    claim = listed(client)[0]["evidence"]["claim"]
    done = client.ok(REJECT, ids=[claim], reason="misread")["rejectClaims"]
    assert done["claims"] == [claim]
    assert [row["invalidation"]["reason"] for row in done["invalidated"]] == ["REJECTED"]
    assert employers(client) == ["Acme"]
    assert [(row["rejected"], row["rejection"]) for row in listed(client, rejected=True)] == [(True, "misread")]
    assert client.ok(RESTORE, ids=[claim])["restoreClaims"]["claims"] == [claim]
    assert employers(client) == ["Globex"]
    kinds = [edge["node"]["kind"] for edge in client.ok("{ transactions { edges { node { kind } } } }")["transactions"]["edges"]]
    assert len(kinds) == 4


def test_candidates_are_listed_and_make_no_belief(client: Client) -> None:
    unsure = {"subject": {"name": "Ada"}, "predicate": "works_at", "object": {"name": "Acme"}, "confidence": 0.3}
    state(client, "1", "2023-01-01", statements=[unsure])
    assert [row["candidate"] for row in listed(client, candidate=True)] == [True]
    assert listed(client, candidate=False) == []
    assert employers(client) == []


def test_claims_refuse_what_is_about_statements(client: Client) -> None:
    assert client.send(CLAIMS, {"filter": {"includeInvalidated": True}}).codes == ["BAD_USER_INPUT"]


# ---------------------------------------------------------------- who is who


def test_joined_names_are_one_entity_until_the_join_is_rejected(client: Client) -> None:
    state(client, "1", "2023-01-01", ("Bob", "works_at", "Acme"))
    state(client, "2", "2023-01-02", ("Robert", "likes", "tea"))
    done = client.ok(MERGE, ids=[key(client, "Bob"), key(client, "Robert")], reason="one desk")["mergeEntities"]
    assert done["__typename"] == "EntityPayload"
    assert key(client, "Bob") == key(client, "Robert") == done["entity"]["key"]
    assert employers(client, "Robert") == ["Acme"]
    assert client.ok(REJECT, ids=done["claims"], reason="two people")["rejectClaims"]["__typename"] == "ClaimsPayload"
    assert key(client, "Bob") != key(client, "Robert")
    assert employers(client, "Robert") == []


def test_a_split_parts_what_other_groups_say_of_a_name(client: Client) -> None:
    state(client, "1", "2023-01-01", ("Alex", "works_at", "Acme"), group="team")
    state(client, "2", "2024-01-01", ("Alex", "works_at", "Globex"), group="club")
    assert employers(client, "Alex") == ["Globex"]
    done = client.ok(SPLIT, id=key(client, "Alex"), groups=["club"], discriminator="of the club")["splitEntity"]
    assert done["__typename"] == "EntityPayload"
    assert employers(client, "Alex") == ["Acme"]
    client.ok(REJECT, ids=done["claims"], reason="the same")
    assert employers(client, "Alex") == ["Globex"]


def test_a_suspected_split_is_resolved_by_its_own_mutation(client: Client) -> None:
    def told(group: str, day: int, employer: str) -> None:
        since = {"subject": {"name": "Alex"}, "predicate": "works_at", "object": {"name": employer}, "validFrom": "2023-12-01"}
        state(client, f"{group} {day}", f"2024-01-0{day}", group=group, statements=[since])

    for day in (1, 3, 5):
        told("team", day, "Acme")
    for day in (2, 4):
        told("club", day, "Globex")
    ask = "{ asOf { suspects { edges { node { name suspectedSplits { values groups command mutation } } } } } }"
    found = client.ok(ask)["asOf"]["suspects"]["edges"]
    assert [edge["node"]["name"] for edge in found] == ["Alex"]
    sign = found[0]["node"]["suspectedSplits"][0]
    assert (sign["values"], sign["groups"]) == (["Acme", "Globex"], ["club"])
    assert client.ok(sign["mutation"])["splitEntity"]["transaction"] > 0
    assert client.ok(ask)["asOf"]["suspects"]["edges"] == []


# ---------------------------------------------------------------- rehearsals


def test_a_preview_is_what_ingesting_does_then(client: Client) -> None:
    state(client, "1", "2022-01-01", ("Ada", "works_at", "Acme"))
    input = {"content": "Ada works_at Globex", "source": "test", "saidAt": "2023-01-01T00:00:00Z"}
    before = client.ok(COUNTS)
    found = client.ok(PREVIEW, input=input)["preview"]
    assert client.ok(COUNTS) == before
    assert [(row["subject"], row["object"], row["quote"]) for row in found["claims"]] == [("Ada", "Globex", "Ada works_at Globex")]
    done = ingest(client, "Ada works_at Globex")
    assert [row["object"] for row in found["asserted"]] == [row["object"]["name"] for row in done["asserted"]] == ["Globex"]
    assert [(row["object"], row["reason"]) for row in found["invalidated"]] == [("Acme", "SUPERSEDED")]


def test_simulating_says_what_stating_would_change(client: Client) -> None:
    state(client, "1", "2022-01-01", ("Ada", "works_at", "Acme"))
    stated = [{"subject": {"name": "Ada"}, "predicate": "works_at", "object": {"name": "Globex"}}]
    before = client.ok(COUNTS)
    found = client.ok(SIMULATE, input={"source": "test", "saidAt": "2023-01-01", "statements": stated})["simulate"]
    assert ([row["object"] for row in found["asserted"]], [row["object"] for row in found["invalidated"]]) == (["Globex"], ["Acme"])
    assert client.ok(COUNTS) == before
    unknown = [{"subject": {"id": "0" * 32}, "predicate": "works_at", "object": {"name": "Globex"}}]
    assert client.send(SIMULATE, {"input": {"source": "test", "statements": unknown}}).codes == ["NOT_FOUND"]


# ---------------------------------------------------------------- the command line, with the real extraction


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = tmp_path_factory.mktemp("identity")
    assert erstwhile("ingest", chat(data), "--data", data, "--workers", "1").status == 0
    return data


def test_a_claim_is_rejected_and_restored_from_the_command_line(kept: Path) -> None:
    claim = erstwhile("claims", "Ana", "--predicate", "lives_in", "--data", kept, "--json").json[0]["evidence"]["claim"]
    assert "rejected in transaction" in erstwhile("reject", claim, "--reason", "misread", "--data", kept).out
    assert claim in erstwhile("claims", "--rejected", "--data", kept).out
    assert "restored in transaction" in erstwhile("restore", claim, "--data", kept).out
    assert claim not in erstwhile("claims", "--rejected", "--data", kept).out


def test_names_are_joined_and_the_join_taken_back_from_the_command_line(kept: Path) -> None:
    out = erstwhile("merge", "Ana", "Ben", "--data", kept).out
    assert out.startswith("joined in transaction")
    command = next(line for line in out.splitlines() if "taken back by:" in line).split("taken back by: ")[1]
    assert "rejected in transaction" in erstwhile(*shlex.split(command)[1:-1], "two people", "--data", kept).out


@pytest.mark.deep
def test_reading_again_changes_nothing_and_keeps_rejections(kept: Path) -> None:
    claim = erstwhile("claims", "Ana", "--data", kept, "--json").json[0]["evidence"]["claim"]
    erstwhile("reject", claim, "--reason", "misread", "--data", kept)
    found = erstwhile("reextract", "--workers", "1", "--data", kept, "--json").json
    assert found["episodes"] == 4
    assert (found["changed"], found["added"], found["gone"], found["failures"]) == ([], 0, 0, [])
    assert claim in erstwhile("claims", "--rejected", "--data", kept).out
    erstwhile("restore", claim, "--data", kept)


@pytest.mark.deep
def test_a_changed_vocabulary_reads_other_claims_and_tells_them_in_words(
    kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text("predicates:\n  lives_in: {cardinality: one, range: Place, patterns: []}\n", encoding="utf-8")
    monkeypatch.setenv("ERSTWHILE_ONTOLOGY", str(overlay))
    gone = erstwhile("reextract", "--workers", "1", "--data", kept).out
    assert "  - Ana | lives_in | Lisbon" in gone
    monkeypatch.delenv("ERSTWHILE_ONTOLOGY")
    assert "  + Ana | lives_in | Lisbon" in erstwhile("reextract", "--workers", "1", "--data", kept).out


def test_an_overlay_is_tried_before_it_is_put_in_force(kept: Path, tmp_path: Path) -> None:
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text("predicates:\n  lives_in: {cardinality: many, range: Place}\n", encoding="utf-8")
    tried = erstwhile("ontology", "check", overlay, "--dry-run", "--data", kept, "--json").json
    assert (tried["inForce"], "changed: lives_in" in tried["predicates"]) == (False, True)
    assert tried["namespaces"]["default"]["opened"] > 0
    assert tried["namespaces"]["default"]["transaction"] is None
    done = erstwhile("ontology", "check", overlay, "--data", kept, "--json").json
    assert done["inForce"] is True
    assert done["namespaces"]["default"]["transaction"] > 0
    assert done["namespaces"]["default"]["opened"] == tried["namespaces"]["default"]["opened"]


def test_a_review_corrects_and_undoes(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = erstwhile("claims", "--rejected", "--data", kept).out
    monkeypatch.setattr(sys, "stdin", io.StringIO("c\nAtlantis\n\n\nu\nr\n\nu\nq\n"))
    out = erstwhile("review", "--since", "2000", "--first", "2", "--data", kept).out
    assert "undone: corrected" in out
    assert "undone: rejected" in out
    assert out.splitlines()[-1] == "kept 0  rejected 0  corrected 0  skipped 0  left 2"
    assert erstwhile("claims", "--rejected", "--data", kept).out == before
    assert "Atlantis" not in erstwhile("as-of", "now", "--data", kept, "--first", "100").out


@pytest.mark.deep
def test_a_preview_of_words_uses_the_real_extraction(kept: Path) -> None:
    out = erstwhile("preview", "I moved to Lisbon. It might rain.", "--speaker", "Zoe", "--data", kept).out
    assert "  Zoe | lives_in | Lisbon" in out
    assert "left out" in out
    assert erstwhile("entities", "Zoe", "--data", kept).out == "nothing is known by that name\n"
