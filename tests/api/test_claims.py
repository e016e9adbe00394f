"""Claims as they are listed, refetched, rejected and restored."""

from __future__ import annotations

from typing import Any

from api.identity import Kind, ObjectId, encode_id
from tests.api.clients import InProcess
from tests.api.stating import state

CLAIM = """id subject { name } predicate { name } qualifier object { ... on Entity { name } } polarity kind modality validFrom validTo
  saidAt confidence rule additive candidate rejected rejection evidence { claim quote start end extractor episode { externalId } }"""
CLAIMS = f"""query($candidate: Boolean, $rejected: Boolean, $filter: StatementFilter, $first: Int, $after: String) {{ asOf {{
  claims(candidate: $candidate, rejected: $rejected, filter: $filter, first: $first, after: $after) {{
    edges {{ cursor node {{ {CLAIM} }} }} pageInfo {{ hasNextPage hasPreviousPage endCursor }} }} }} }}"""
REJECT = """mutation($ids: [ID!]!, $reason: String!) { rejectClaims(ids: $ids, reason: $reason) { __typename
  ... on ClaimsPayload { transaction deduplicated claims asserted { object { ... on Entity { name } } provenance { edges { cursor } } }
    invalidated { object { ... on Entity { name } } invalidation { reason } } }
  ... on NotFoundError { code id } ... on InvalidInputError { code path reason } } }"""
RESTORE = """mutation($ids: [ID!]!) { restoreClaims(ids: $ids) { __typename ... on ClaimsPayload { transaction claims } } }"""


def listed(client: InProcess, **asked: Any) -> list[dict[str, Any]]:
    return [edge["node"] for edge in client.ok(CLAIMS, **asked)["asOf"]["claims"]["edges"]]


def moved(client: InProcess) -> int:
    """Two claims, the second of which supersedes the first; its transaction."""
    state(client, "1", "2023-01-01", ("Ada", "works_at", "Acme"))
    return int(state(client, "2", "2024-01-01", ("Ada", "works_at", "Globex"))["transaction"])


def test_a_claim_tells_what_was_read_where(faced: InProcess) -> None:
    quoted = {"subject": {"name": "Ada"}, "predicate": "works_at", "object": {"name": "Acme"}, "quote": "Ada works at Acme"}
    stated = [{**quoted, "validFrom": "2022-05", "confidence": 0.8}]
    state(faced, "1", "2023-01-01", content="So Ada works at Acme.", statements=stated)
    node = listed(faced)[0]
    assert (node["subject"]["name"], node["predicate"]["name"], node["object"]["name"]) == ("Ada", "works_at", "Acme")
    assert (node["validFrom"], node["saidAt"], node["confidence"]) == ("2022-05", "2023-01-01T00:00:00Z", 0.8)
    assert (node["kind"], node["modality"], node["polarity"], node["additive"]) == ("STATE", "ASSERTED", True, False)
    evidence = node["evidence"]
    assert (evidence["quote"], evidence["start"], evidence["end"]) == ("Ada works at Acme", 3, 20)


def test_claims_are_paged_newest_first_and_filtered(faced: InProcess) -> None:
    for number in range(5):
        state(faced, str(number), f"2023-01-0{number + 1}", ("Ada", "likes", f"tea {number}"))
    state(faced, "5", "2023-01-06", ("Bo", "works_at", "Acme"))
    key = faced.ok('{ asOf { entity(name: "Ada") { key } } }')["asOf"]["entity"]["key"]
    after, seen = None, []
    for more in (True, True, False):
        page = faced.ok(CLAIMS, filter={"subjects": [key]}, first=2, after=after)["asOf"]["claims"]
        seen += [edge["node"]["object"]["name"] for edge in page["edges"]]
        assert (page["pageInfo"]["hasNextPage"], page["pageInfo"]["hasPreviousPage"]) == (more, after is not None)
        after = page["pageInfo"]["endCursor"]
    assert seen == [f"tea {number}" for number in (4, 3, 2, 1, 0)]
    assert faced.send(CLAIMS, {"after": "abc"}).codes == ["BAD_USER_INPUT"]
    assert faced.send(CLAIMS, {"first": 101}).codes == ["BAD_USER_INPUT"]


def test_candidates_and_rejected_claims_are_chosen(faced: InProcess) -> None:
    sure = {"subject": {"name": "Ada"}, "predicate": "likes", "object": {"name": "tea"}}
    state(faced, "1", "2023-01-01", statements=[sure, {**sure, "object": {"name": "jazz"}, "confidence": 0.4}])
    assert [node["object"]["name"] for node in listed(faced, candidate=True)] == ["jazz"]
    assert [node["object"]["name"] for node in listed(faced, candidate=False)] == ["tea"]
    tea = listed(faced, candidate=False)[0]
    faced.ok(REJECT, ids=[tea["id"]], reason="never said so")
    assert [(node["rejected"], node["rejection"]) for node in listed(faced, rejected=True)] == [(True, "never said so")]
    assert [node["object"]["name"] for node in listed(faced, rejected=False)] == ["jazz"]


def test_a_claim_is_refetched_by_its_id_on_the_basis_that_it_names(faced: InProcess) -> None:
    moved(faced)
    ask = "query($id: ID!) { node(id: $id) { id ... on Claim { object { ... on Entity { name } } } } }"
    for scope in ("asOf", 'asOf(validAt: "2023-06-01T00:00:00Z")'):
        for edge in faced.ok(f"{{ {scope} {{ claims {{ edges {{ node {{ id object {{ ... on Entity {{ name }} }} }} }} }} }} }}")["asOf"][
            "claims"
        ]["edges"]:
            assert faced.ok(ask, id=edge["node"]["id"])["node"] == edge["node"]
    gone = encode_id(ObjectId(Kind.CLAIM, "no such claim", subject="x", predicate="works_at"))
    assert faced.ok(ask, id=gone)["node"] is None


def test_rejecting_says_what_began_and_what_ended(faced: InProcess) -> None:
    transaction = moved(faced)
    claim = listed(faced)[0]["evidence"]["claim"]
    done = faced.ok(REJECT, ids=[claim], reason=" misread ")["rejectClaims"]
    assert (done["deduplicated"], done["claims"]) == (False, [claim])
    assert done["transaction"] > transaction
    assert [row["object"]["name"] for row in done["asserted"]] == ["Acme"]
    assert [(row["object"]["name"], row["invalidation"]["reason"]) for row in done["invalidated"]] == [("Globex", "REJECTED")]
    assert [(node["object"]["name"], node["rejection"]) for node in listed(faced)] == [("Globex", "misread"), ("Acme", None)]
    again = faced.ok(REJECT, ids=[claim], reason="misread")["rejectClaims"]
    assert again == {**done, "deduplicated": True, "asserted": again["asserted"]}
    done = faced.ok("{ transactions(first: 1) { edges { node { kind actor reason } } } }")["transactions"]["edges"][0]["node"]
    assert done == {"kind": "reject", "actor": "local", "reason": "misread"}


def test_claims_are_named_by_plain_or_opaque_ids(faced: InProcess) -> None:
    moved(faced)
    node = listed(faced)[0]
    done = faced.ok(REJECT, ids=[node["id"], node["evidence"]["claim"]], reason="misread")["rejectClaims"]
    assert done["claims"] == [node["evidence"]["claim"]]
    assert [row["id"] for row in listed(faced, rejected=True)] != []
    faced.ok(RESTORE, ids=[node["id"]])
    assert listed(faced, rejected=True) == []


def test_what_cannot_be_rejected_is_a_member_of_the_result(faced: InProcess) -> None:
    moved(faced)
    unknown = faced.ok(REJECT, ids=["nothing"], reason="why")["rejectClaims"]
    assert unknown == {"__typename": "NotFoundError", "code": "NOT_FOUND", "id": "nothing"}
    entity = faced.ok('{ asOf { entity(name: "Ada") { id } } }')["asOf"]["entity"]["id"]
    assert faced.ok(REJECT, ids=[entity], reason="why")["rejectClaims"]["__typename"] == "NotFoundError"
    assert faced.ok(REJECT, ids=[], reason="why")["rejectClaims"]["path"] == ["ids"]
    assert faced.ok(REJECT, ids=["x"], reason=" ")["rejectClaims"]["path"] == ["reason"]
