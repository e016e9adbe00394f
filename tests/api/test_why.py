"""Why a slot changed, over GraphQL."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.clients import Client
from tests.api.stating import state
from tests.graph.belief.vectors import VECTORS, text

OBJECT = "object { ... on Entity { name } ... on Literal { value } }"
VARIABLES = "$subject: EntityRef!, $predicate: String!, $from: DateTime, $to: DateTime, $until: DateTime"
WHY = f"""query({VARIABLES}) {{ asOf(evidenceUntil: $until) {{
  whyChanged(subject: $subject, predicate: $predicate, from: $from, to: $to) {{ at reason rule
    before {{ {OBJECT} polarity transactionTime {{ to }} invalidation {{ reason transaction evidence {{ quote }} }} }}
    after {{ {OBJECT} polarity provenance {{ edges {{ evidence {{ quote }} }} }} }}
    evidence {{ claim quote episode {{ externalId }} }} transaction {{ number at kind actor reason }} }} }} }}"""
RETRACT = """mutation($id: String!) { retractEpisode(ref: {source: "test", externalId: $id}, reason: "wrong chat") {
  ... on RetractEpisodePayload { transaction } ... on Error { message } } }"""
REJECT = """mutation($ids: [ID!]!) { rejectClaims(ids: $ids, reason: "irony") { ... on ClaimsPayload { transaction }
  ... on Error { message } } }"""


def why(client: Client, subject: str, predicate: str, **more: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.ok(WHY, subject={"name": subject}, predicate=predicate, **more)["asOf"]["whyChanged"]
    return found


def row(one: dict[str, Any]) -> tuple[Any, ...]:
    """A boundary in short: when, why, the first values, who says so."""
    before, after = (views[0]["object"]["name"] if views else None for views in (one["before"], one["after"]))
    return one["at"][:10], one["reason"], before, after, sorted(each["episode"]["externalId"] for each in one["evidence"])


def test_when_it_changed_and_why(client: Client) -> None:
    (vector,) = (vector for vector in VECTORS["drift"] if vector["id"] == "D07")
    for op in VECTORS["drift_bases"][vector["base"]]:
        statement = {
            "subject": {"name": op["s"]},
            "predicate": op["p"],
            "object": {"name": op["o"]},
            "polarity": op.get("pol") != "-",
            "kind": op.get("kind", "state").upper(),
            **({"replaces": {"name": op["replaces"]}} if "replaces" in op else {}),
        }
        state(client, op["ep"], text(op["said"]), statements=[statement])
    found = [row(one) for one in why(client, vector["why"]["s"], vector["why"]["p"])]
    assert [(at, *rest) for at, _, *rest in found] == [(text(at), *rest) for at, *rest in vector["expect"]]
    assert [reason for _, reason, *_ in found] == ["STARTED", "SUPERSEDED", "SUPERSEDED"]


def test_the_parts_of_the_statements_on_both_sides_come_along(client: Client) -> None:
    state(client, "a", "2019-01-01", ("Anna", "works_at", "Acme"), content="I work at Acme.")
    state(client, "b", "2021-01-01", ("Anna", "works_at", "Beta"), content="I work at Beta.")
    one = why(client, "Anna", "works_at")[1]
    ended = one["before"][0]["invalidation"]
    assert (ended["reason"], ended["transaction"]) == ("SUPERSEDED", one["transaction"] or ended["transaction"])
    assert ended["evidence"] is not None
    assert [edge["evidence"] for edge in one["after"][0]["provenance"]["edges"]] == [{"quote": one["evidence"][0]["quote"]}]


def test_what_was_withdrawn_names_its_transaction(client: Client) -> None:
    state(client, "a", "2019-01-01", ("Anna", "works_at", "Acme"))
    state(client, "b", "2021-01-01", ("Anna", "works_at", "Beta"))
    number = client.ok(RETRACT, id="b")["retractEpisode"]["transaction"]
    first, second = why(client, "Anna", "works_at")
    assert row(second) == ("2021-01-01", "REVIVED", "Beta", "Acme", [])
    told = second["transaction"]
    assert (first["transaction"], told["number"], told["kind"], told["reason"]) == (None, number, "retract", "wrong chat")
    assert [each["transactionTime"]["to"] for each in second["before"]] == [told["at"]]
    assert [each["invalidation"] for each in second["before"]] == [{"reason": "RETRACTED", "transaction": number, "evidence": None}]
    claim = first["evidence"][0]["claim"]
    gone = client.ok(REJECT, ids=[claim])["rejectClaims"]["transaction"]
    assert [(one["reason"], one["transaction"]["number"]) for one in why(client, "Anna", "works_at")] == [
        ("REJECTED", gone),
        ("RETRACTED", number),
    ]


def test_a_window_and_a_said_time_limit_narrow_it(client: Client) -> None:
    for year in (2019, 2020, 2021):
        state(client, f"e{year}", f"{year}-01-01", ("Anna", "works_at", f"Place {year}"))

    def years(**more: Any) -> list[str]:
        return [one["at"][:4] for one in why(client, "Anna", "works_at", **more)]

    assert years(**{"from": "2020-01-01T00:00:00Z", "to": "2021-01-01T00:00:00Z"}) == ["2020"]
    assert years(until="2020-06-01T00:00:00Z") == ["2019", "2020"]


@pytest.mark.parametrize(("to", "reason"), [("2020-01-01T00:00:00Z", "EMPTY_INTERVAL"), ("2019-01-01T00:00:00Z", "INVERTED_INTERVAL")])
def test_a_window_without_an_instant_is_refused(client: Client, to: str, reason: str) -> None:
    bounds = {"from": "2020-01-01T00:00:00Z", "to": to}
    answer = client.send(WHY, {"subject": {"name": "Anna"}, "predicate": "works_at", **bounds})
    assert [(error["extensions"]["code"], error["extensions"]["reason"]) for error in answer.errors] == [("BAD_USER_INPUT", reason)]


def test_one_operation_asks_so_often_only(client: Client) -> None:
    field = 'whyChanged(subject: {name: "A"}, predicate: "works_at") { at }'
    answer = client.send("{ asOf { " + " ".join(f"f{number}: {field}" for number in range(21)) + " } }")
    assert answer.codes == ["QUERY_TOO_COMPLEX"]
