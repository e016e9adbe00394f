"""IDs of entities and statements across joins: same ID, same object, same basis."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.clients import Client
from tests.api.stating import state
from tests.api.test_who_is_who import MERGE

ENTITY = "id key name aliases"
STATEMENT = f"id key subject {{ {ENTITY} }} predicate {{ name }} validTime {{ from to }} object {{ ... on Entity {{ key name }} }}"
SEEN = f"""{{ bob: entity(name: "Bob") {{ {ENTITY} statements(role: SUBJECT, filter: {{predicates: ["works_at"]}}) {{ edges {{ node {{
  {STATEMENT} }} }} }} }} robert: entity(name: "Robert") {{ {ENTITY} statements(role: SUBJECT, filter: {{predicates: ["likes"]}}) {{
  edges {{ node {{ {STATEMENT} }} }} }} }} basis {{ transaction recordedAt }} }}"""
NODE = f"query($id: ID!) {{ node(id: $id) {{ __typename id ... on Entity {{ {ENTITY} }} ... on Statement {{ {STATEMENT} }} }} }}"
REJECT = 'mutation($ids: [ID!]!) { rejectClaims(ids: $ids, reason: "two people") { ... on ClaimsPayload { transaction } } }'
AT = "2024-01-01T00:00:00Z"


def seen(client: Client, scope: str) -> Any:
    """Bob, who works, and Robert, who likes tea, on a basis."""
    return client.ok(f"{{ asOf{scope} {SEEN} }}")["asOf"]


def objects(found: Any) -> list[dict[str, Any]]:
    """Both entities and a statement of each, as `node` answers with them."""
    rows = []
    for name in ("bob", "robert"):
        node = dict(found[name])
        statements = [edge["node"] for edge in node.pop("statements")["edges"]]
        rows += [{"__typename": "Entity", **node}, *({"__typename": "Statement", **each} for each in statements)]
    return rows


def node(client: Client, id: str) -> Any:
    return client.ok(NODE, id=id)["node"]


@pytest.fixture
def stages(client: Client) -> dict[str, Any]:
    """What is seen, under no basis and under explicit ones, before a join, while it stands, and after it was taken back."""
    state(client, "1", "2023-01-01", ("Bob", "works_at", "Acme"))
    state(client, "2", "2023-01-02", ("Robert", "likes", "tea"), ("Ada", "likes", "Bob"))
    found: dict[str, Any] = {}

    def look(stage: str) -> Any:
        present = seen(client, "")
        recorded = present["basis"]["recordedAt"]
        found[stage] = {
            "present": present,
            "valid": seen(client, f'(validAt: "{AT}")'),
            "recorded": seen(client, f'(validAt: "{AT}", recordedAt: "{recorded}")'),
        }
        return present

    before = look("apart")
    done = client.ok(MERGE, ids=[before["bob"]["id"], before["robert"]["id"]])["mergeEntities"]
    look("joined")
    client.ok(REJECT, ids=done["claims"])
    look("apart again")
    return found


def test_under_an_explicit_basis_an_id_is_the_same_object_for_good(client: Client, stages: dict[str, Any]) -> None:
    for stage, looks in stages.items():
        for basis in ("valid", "recorded"):
            for each in objects(looks[basis]):
                assert node(client, each["id"]) == each, (stage, basis)


def test_without_a_basis_an_id_is_read_at_the_present(client: Client, stages: dict[str, Any]) -> None:
    now = {each["id"]: each for each in objects(seen(client, ""))}
    for stage, looks in stages.items():
        for each in objects(looks["present"]):
            # Also of what was joined: its ID names the least member's key, and statements stay where their claims speak.
            assert node(client, each["id"]) == now[each["id"]], stage
    for stage in ("apart", "apart again"):
        assert objects(stages[stage]["present"]) == list(now.values()), stage


def test_two_bases_never_share_an_id_and_one_basis_has_one(client: Client, stages: dict[str, Any]) -> None:
    by_id: dict[str, Any] = {}
    for looks in stages.values():
        for basis in ("valid", "recorded"):
            for each in objects(looks[basis]):
                assert by_id.setdefault(each["id"], each) == each
    joined = stages["joined"]
    for basis in ("present", "valid", "recorded"):
        assert joined[basis]["bob"]["id"] == joined[basis]["robert"]["id"], basis
        apart = {stages[stage][basis][name]["id"] for stage in ("apart", "apart again") for name in ("bob", "robert")}
        assert len(apart) == (2 if basis == "present" else 4), basis
        assert basis == "present" or joined[basis]["bob"]["id"] not in apart
    transactions = [looks["recorded"]["basis"]["transaction"] for looks in stages.values()]
    assert transactions == sorted(set(transactions))


def test_one_query_on_two_bases_has_different_ids_of_one_key(client: Client, stages: dict[str, Any]) -> None:
    joined, apart = (stages[stage]["recorded"]["basis"]["recordedAt"] for stage in ("joined", "apart again"))
    scopes = f'then: asOf(recordedAt: "{joined}") {SEEN} now: asOf(recordedAt: "{apart}") {SEEN} plain: asOf {SEEN}'
    found = client.ok(f"{{ {scopes} }}")
    least = found["then"]["bob"]["key"]
    same = [found[scope][name]["id"] for scope in found for name in ("bob", "robert") if found[scope][name]["key"] == least]
    assert len(set(same)) == 3, same
    assert len({found[scope]["bob"]["id"] for scope in found}) == 3


def test_any_members_key_or_id_gives_the_one_entity(client: Client, stages: dict[str, Any]) -> None:
    recorded = stages["joined"]["recorded"]["basis"]["recordedAt"]
    ids = [stages["apart"][basis][name][part] for basis in ("present", "recorded") for name in ("bob", "robert") for part in ("id", "key")]
    fields = " ".join(f'e{place}: entity(id: "{id}") {{ {ENTITY} }}' for place, id in enumerate(ids))
    found = client.ok(f'{{ asOf(validAt: "{AT}", recordedAt: "{recorded}") {{ {fields} }} }}')["asOf"]
    assert len({str(each) for each in found.values()}) == 1
    assert found["e0"]["id"] == stages["joined"]["recorded"]["bob"]["id"]
    assert {found["e0"]["name"], *found["e0"]["aliases"]} == {"Bob", "Robert"}


@pytest.mark.parametrize("which", ["subjects", "objects"])
def test_filters_take_any_members_id(which: str, client: Client, stages: dict[str, Any]) -> None:
    recorded = stages["joined"]["recorded"]["basis"]["recordedAt"]
    scope = f'asOf(validAt: "{AT}", recordedAt: "{recorded}")'
    ask = f"query($filter: StatementFilter) {{ {scope} {{ statements(filter: $filter) {{ edges {{ node {{ id }} }} }} }} }}"
    rows = []
    for name in ("bob", "robert"):
        for basis in ("present", "valid"):
            chosen = {which: [stages["apart"][basis][name]["id"]], "predicates": ["works_at", "likes"]}
            rows.append([edge["node"]["id"] for edge in client.ok(ask, filter=chosen)["asOf"]["statements"]["edges"]])
    assert all(row == rows[0] for row in rows)
    assert len(rows[0]) == (2 if which == "subjects" else 1)
