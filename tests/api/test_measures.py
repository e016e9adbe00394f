"""What to distrust, over GraphQL: the vector, pages that carry their basis, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.clients import Client

FLIPS = """{ asOf { flipFlops { edges { node { subject { name } predicate { name } qualifier changes returns } } } } }"""
STATED = "... on AssertStatementsPayload { transaction }"
PAGE = "edges { cursor node { id subject { name } conflict lastAttestedAt } } pageInfo { hasNextPage endCursor }"
VOLATILITY = "{ asOf { volatility { predicate { name } slots changes perSlotYear medianSeconds } } }"


def lived(client: Client, person: str, *towns: str, said: str = "2020-01-01T00:00:00Z", since: str = "2018-01-01") -> None:
    mutation = f"mutation($input: AssertStatementsInput!) {{ assertStatements(input: $input) {{ __typename {STATED} }} }}"
    statements = [{"subject": {"name": person}, "predicate": "lives_in", "object": {"name": town}, "validFrom": since} for town in towns]
    input = {"source": "chat", "externalId": f"{person} {said}", "saidAt": said, "statements": statements}
    assert client.ok(mutation, input=input)["assertStatements"]["__typename"] == "AssertStatementsPayload"


def test_a_slot_that_came_back_is_told_with_its_changes(client: Client) -> None:
    for year, town in ((2019, "Oslo"), (2020, "Rome"), (2021, "Oslo")):
        lived(client, "Ann", town, said=f"{year}-01-01T00:00:00Z", since=f"{year}-01-01")
    nodes = [edge["node"] for edge in client.ok(FLIPS)["asOf"]["flipFlops"]["edges"]]
    assert nodes == [{"subject": {"name": "Ann"}, "predicate": {"name": "lives_in"}, "qualifier": "", "changes": 2, "returns": 1}]


def test_a_page_goes_on_where_it_began_whatever_is_said_meanwhile(client: Client) -> None:
    for person in ("Ann", "Bo", "Cy"):
        lived(client, person, "Oslo", "Rome")
    query = f"query($after: String) {{ asOf {{ contested(first: 2, after: $after) {{ {PAGE} }} }} }}"
    names: list[str] = []
    after: str | None = None
    for _ in range(3):
        page = client.ok(query, after=after)["asOf"]["contested"]
        names += [edge["node"]["subject"]["name"] for edge in page["edges"]]
        assert all(edge["node"]["conflict"] == "TIED" for edge in page["edges"])
        after = page["pageInfo"]["endCursor"]
        # What ends the ties for a reader who begins now.
        lived(client, "Cy", "Ulm", said="2021-01-01T00:00:00Z")
    assert (sorted(names), page["pageInfo"]["hasNextPage"]) == (["Ann", "Ann", "Bo", "Bo", "Cy", "Cy"], False)
    assert len(client.ok(query, after=None)["asOf"]["contested"]["edges"]) == 2


def test_a_cursor_of_another_measure_is_refused(client: Client) -> None:
    lived(client, "Ann", "Oslo", "Rome")
    [first, _] = client.ok(f"{{ asOf {{ contested {{ {PAGE} }} }} }}")["asOf"]["contested"]["edges"]
    answer = client.send(f"query($after: String) {{ asOf {{ stale(after: $after) {{ {PAGE} }} }} }}", {"after": first["cursor"]})
    assert answer.errors[0]["extensions"]["reason"] == "INVALID_CURSOR"


def test_late_statements_are_listed(client: Client) -> None:
    lived(client, "Ann", "Oslo")
    query = "query($lag: Int!) { asOf { retroEdits(lagSeconds: $lag) { edges { node { subject { name } } } } } }"
    year = 365 * 86_400
    assert client.ok(query, lag=2 * year)["asOf"]["retroEdits"]["edges"] == [{"node": {"subject": {"name": "Ann"}}}]
    assert client.ok(query, lag=68 * year)["asOf"]["retroEdits"]["edges"] == []


def test_volatility_says_how_often_what_changes(client: Client) -> None:
    lived(client, "Ann", "Oslo")
    [found] = client.ok(VOLATILITY)["asOf"]["volatility"]
    assert (found["predicate"]["name"], found["slots"], found["changes"], found["medianSeconds"]) == ("lives_in", 1, 0, None)
    assert 0 < found["perSlotYear"] < 0.25


@pytest.mark.parametrize("field", ["contested", "stale", "flipFlops", "retroEdits"])
def test_each_answers_under_a_said_time_limit(field: str, client: Client) -> None:
    lived(client, "Ann", "Oslo", "Rome")
    lived(client, "Ann", "Ulm", said="2022-01-01T00:00:00Z")
    lag = "(lagSeconds: 0)" if field == "retroEdits" else ""
    query = (
        f'{{ asOf(validAt: "2021-01-01T00:00:00Z", evidenceUntil: "2021-01-01T00:00:00Z") {{ {field}{lag} {{ edges {{ cursor }} }} }} }}'
    )
    counts: dict[str, Any] = {"contested": 2, "stale": 0, "flipFlops": 0, "retroEdits": 2}
    assert len(client.ok(query)["asOf"][field]["edges"]) == counts[field]


def test_a_filter_by_time_and_a_negative_lag_are_refused(client: Client) -> None:
    during = '(filter: {validDuring: {from: "2020-01-01T00:00:00Z"}})'
    for asked in (f"contested{during}", f"stale{during}", f"flipFlops{during}", "retroEdits(lagSeconds: -1)"):
        assert client.send(f"{{ asOf {{ {asked} {{ edges {{ cursor }} }} }} }}").codes == ["BAD_USER_INPUT"]
