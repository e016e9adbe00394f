"""Who is who, rejections, previews and their like, from GraphQL down to the ledger and back, over each transport."""

from __future__ import annotations

from typing import Any

from tests.api.clients import Client
from tests.api.stating import state
from tests.api.test_claims import CLAIMS, REJECT, RESTORE
from tests.api.test_ingesting import ingest
from tests.api.test_preview import COUNTS, PREVIEW, SIMULATE
from tests.api.test_who_is_who import MERGE, SPLIT


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
