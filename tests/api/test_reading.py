"""What is read, over each transport: snapshots, what `evidenceUntil` reaches, namespaces."""

from __future__ import annotations

from tests.api.clients import Client
from tests.api.stating import state

OBJECT = "object { ... on Entity { name } }"
STATEMENTS = f"statements {{ edges {{ node {{ {OBJECT} }} }} }}"


def test_a_slot_is_read_as_of_two_times_in_one_query(client: Client) -> None:
    state(client, "1", "2023-01-01", ("Ada", "works_at", "Acme"))
    done = state(client, "2", "2024-01-01", ("Ada", "works_at", "Globex"))
    assert done["invalidated"][0]["object"]["name"] == "Acme"
    assert done["invalidated"][0]["invalidation"] == {"reason": "SUPERSEDED", "by": {"object": {"name": "Globex"}}}
    assert [row["object"]["name"] for row in done["asserted"]] == ["Globex"]
    assert done["asserted"][0]["provenance"]["edges"][0]["node"]["externalId"] == "2"
    entity = f'entity(name: "ada") {{ name {STATEMENTS} }}'
    data = client.ok(
        f'{{ then: asOf(validAt: "2023-06-01T00:00:00Z") {{ {entity} }} now: asOf {{ {entity} basis {{ transaction indexVersion }} }} }}'
    )
    values = {alias: [edge["node"]["object"]["name"] for edge in scope["entity"]["statements"]["edges"]] for alias, scope in data.items()}
    assert values == {"then": ["Acme"], "now": ["Globex"]}
    assert data["now"]["basis"] == {"transaction": done["transaction"], "indexVersion": "1"}


WHOLE = """{ asOf(validAt: "2023-06-01T00:00:00Z") { statements(filter: {includeInvalidated: true}) { edges { node {
  id key subject { id key name aliases type } predicate { name cardinality temporal declared afterRival aspect symmetric }
  qualifier object { __typename ... on Entity { name } ... on Literal { value datatype } } polarity text confidence
  validTime { from to fromStated toStated } transactionTime { from to } support conflict certainty lastAttestedAt evidenceCount
  invalidation { reason rule decidedAt by { id object { ... on Entity { name } } } evidence { quote start end extractor claim
    episode { externalId } } }
  history { validTime { from to } transactionTime { from to } }
  provenance { edges { cursor node { externalId content } evidence { quote start end } } pageInfo { hasNextPage } }
} } } } }"""


def test_a_statement_is_whole(client: Client) -> None:
    quoted = {"subject": {"name": "Ada"}, "predicate": "works_at", "quote": "Ada works at Acme", "object": {"name": "Acme"}}
    state(client, "1", "2023-01-01", content="Ada works at Acme. Later she moves.", statements=[quoted])
    state(client, "2", "2024-01-01", ("Ada", "works_at", "Globex"))
    nodes = [edge["node"] for edge in client.ok(WHOLE)["asOf"]["statements"]["edges"]]
    acme = next(node for node in nodes if node["object"]["name"] == "Acme")
    assert acme["validTime"]["from"] == "2023-01-01T00:00:00Z"
    assert acme["predicate"]["cardinality"] == "ONE"
    assert acme["provenance"]["edges"][0]["evidence"] == {"quote": "Ada works at Acme", "start": 0, "end": 17}
    assert acme["provenance"]["pageInfo"] == {"hasNextPage": False}
    assert acme["invalidation"]["by"]["object"]["name"] == "Globex"
    assert acme["invalidation"]["evidence"]["episode"] == {"externalId": "2"}
    assert len(acme["history"]) == 2


def test_provenance_is_paged(client: Client) -> None:
    for number in range(5):
        state(client, str(number), f"2023-01-0{number + 1}", ("Ada", "likes", "tea"))
    ask = """query($after: String) { asOf(validAt: "2023-02-01T00:00:00Z") { statements { edges { node { evidenceCount
      provenance(first: 2, after: $after) { edges { node { externalId } } pageInfo { hasNextPage endCursor } } } } } } }"""
    after, seen = None, []
    for _ in range(3):
        node = client.ok(ask.replace('"2023-02-01T00:00:00Z"', '"2023-02-01T00:00:00Z"'), after=after)["asOf"]["statements"]["edges"][0][
            "node"
        ]
        assert node["evidenceCount"] == 5
        seen += [edge["node"]["externalId"] for edge in node["provenance"]["edges"]]
        after = node["provenance"]["pageInfo"]["endCursor"]
    assert seen == ["0", "1", "2", "3", "4"]
    assert node["provenance"]["pageInfo"]["hasNextPage"] is False
    state(client, "more", "2023-01-09", ("Ada", "likes", "tea"))
    assert client.send(ask, {"after": after}).codes == ["BAD_USER_INPUT"]


def test_evidence_until_is_followed_by_every_field(client: Client) -> None:
    done = state(client, "1", "2023-01-01", ("Ada", "works_at", "Acme"), ("Ada", "knows", "Bob"))
    state(client, "2", "2024-01-01", ("Ada", "works_at", "Globex"), ("Bob", "knows", "Cy"))
    scope = 'asOf(evidenceUntil: "2023-06-01T00:00:00Z")'
    slot = 'subject: {name: "Ada"}, predicate: "works_at"'
    segments = f"segments {{ statements {{ {OBJECT} }} }}"
    names = "edges { node { name } }"
    data = client.ok(
        f"{{ {scope} {{ basis {{ evidenceUntil }} timeline({slot}) {{ {segments} }} "
        f'ask({slot}, object: {{name: "Acme"}}) {{ value }} '
        f'entity(name: "Ada") {{ timeline(predicate: "works_at") {{ {segments} }} {STATEMENTS} neighbors(depth: 2) {{ {names} }} }} '
        f"{STATEMENTS} entities {{ {names} }} episodes {{ edges {{ node {{ externalId {STATEMENTS} }} }} }} "
        f"suspects {{ {names} }} claims {{ edges {{ node {{ {OBJECT} }} }} }} undeclaredPredicates(least: 1) {{ name claims }} }} }}"
    )["asOf"]
    assert data["basis"] == {"evidenceUntil": "2023-06-01T00:00:00Z"}
    for timeline in (data["timeline"], data["entity"]["timeline"]):
        assert [s["object"]["name"] for segment in timeline["segments"] for s in segment["statements"]] == ["Acme"]
    assert data["ask"] == {"value": "YES"}
    (episode,) = (edge["node"] for edge in data["episodes"]["edges"])
    assert episode["externalId"] == "1"
    for listed in (data, data["entity"], episode):
        assert sorted(edge["node"]["object"]["name"] for edge in listed["statements"]["edges"]) == ["Acme", "Bob"]
    assert sorted(edge["node"]["object"]["name"] for edge in data["claims"]["edges"]) == ["Acme", "Bob"]
    assert [edge["node"]["name"] for edge in data["entities"]["edges"]] == ["Acme", "Ada", "Bob"]
    assert [edge["node"]["name"] for edge in data["entity"]["neighbors"]["edges"]] == ["Acme", "Bob"]
    assert data["suspects"] == {"edges": []}
    assert all(row["claims"] == 1 for row in data["undeclaredPredicates"])
    assert done["deduplicated"] is False


def test_under_a_limit_the_transaction_time_is_when_its_evidence_first_said_so(client: Client) -> None:
    state(client, "1", "2023-01-01", ("Ada", "works_at", "Acme"))
    state(client, "later", "2024-01-01", ("Ada", "works_at", "Globex"))
    state(client, "2", "2023-02-01", ("Ada", "works_at", "Initech"))
    at = {
        row["node"]["number"]: row["node"]["at"]
        for row in client.ok("{ transactions { edges { node { number at } } } }")["transactions"]["edges"]
    }
    first, _, third = (at[number] for number in sorted(at)[-3:])
    fields = f"{OBJECT} transactionTime {{ from to }} invalidation {{ decidedAt by {{ {OBJECT} transactionTime {{ from }} }} }}"
    filter = 'filter: {validDuring: {from: "2022-01-01T00:00:00Z", to: "2025-01-01T00:00:00Z"}}'
    scope = f'{{ asOf(evidenceUntil: "2023-06-01T00:00:00Z") {{ statements({filter}) {{ edges {{ node {{ %s }} }} }} }} }}'
    found = [edge["node"] for edge in client.ok(scope % fields)["asOf"]["statements"]["edges"]]
    told = {node["object"]["name"]: node["transactionTime"]["from"] for node in found}
    # That Acme has an end the third one said first: by then, and by what was said by June.
    assert told == {"Initech": third, "Acme": third} and first < third
    (ended,) = (node["invalidation"] for node in found if node["invalidation"] is not None)
    assert ended == {"decidedAt": third, "by": {"object": {"name": "Initech"}, "transactionTime": {"from": third}}}


def test_reading_creates_nothing(client: Client) -> None:
    slot = 'subject: {name: "Nobody"}, predicate: "never_heard_of"'
    data = client.ok(
        '{ asOf { basis { recordedAt transaction } entity(name: "Nobody") { id } '
        f"timeline({slot}) {{ subject {{ id }} segments {{ validTime {{ from }} }} predicate {{ name declared }} }} "
        f'ask({slot}, object: {{name: "x"}}) {{ value statements {{ id }} }} }} '
        "stats { episodes entities statements current slots transactions pendingEpisodes } }"
    )
    assert data["asOf"]["basis"] == {"recordedAt": "1970-01-01T00:00:00Z", "transaction": 0}
    assert data["asOf"]["entity"] is None
    assert data["asOf"]["timeline"] == {"subject": None, "segments": [], "predicate": {"name": "never_heard_of", "declared": False}}
    assert data["asOf"]["ask"] == {"value": "UNKNOWN", "statements": []}
    assert set(data["stats"].values()) == {0}


def test_ontology_health_and_transactions_answer(client: Client) -> None:
    state(client, "1", "2023-01-01", ("Ada", "likes", "tea"))
    data = client.ok(
        "{ ontology { version predicates { name cardinality temporal } entityTypes { name } } health { ok components { name ok } } "
        "transactions { edges { node { number at kind actor reason } } pageInfo { hasNextPage } } }"
    )
    assert {"name": "works_at", "cardinality": "ONE", "temporal": "STATE"} in data["ontology"]["predicates"]
    assert data["health"]["ok"] is True
    assert [edge["node"]["kind"] for edge in data["transactions"]["edges"]] == ["assert"]


def test_the_graph_is_rebuilt_on_demand(client: Client) -> None:
    found = client.ok("mutation { rebuildGraph { ok components { name ok } } }")["rebuildGraph"]
    assert found["ok"] is True


def test_namespaces_are_apart(client: Client) -> None:
    state(client, "1", "2023-01-01", ("Ada", "likes", "tea"))
    id = client.ok('{ asOf { entity(name: "Ada") { id } } }')["asOf"]["entity"]["id"]
    elsewhere = client.at(f"{client.namespace}-b")
    assert elsewhere.ok('{ asOf { entity(name: "Ada") { id } } }')["asOf"]["entity"] is None
    assert elsewhere.ok("query($id: ID!) { node(id: $id) { id } }", id=id)["node"] is None


def test_entity_takes_exactly_one_of_id_and_name(client: Client) -> None:
    assert client.send("{ asOf { entity { id } } }").codes == ["BAD_USER_INPUT"]
    assert client.send('{ asOf { entity(id: "a", name: "b") { id } } }').codes == ["BAD_USER_INPUT"]


def test_the_parts_of_a_statement_are_found_through_fragments(client: Client) -> None:
    state(client, "1", "2023-01-01", ("Ada", "works_at", "Acme"))
    data = client.ok(
        "query { asOf { statements { ...page } } } "
        "fragment page on StatementConnection { edges { node { ... on Statement { ...parts } } } } "
        "fragment parts on Statement { history { validTime { from } } provenance { edges { node { externalId } } } }"
    )
    node = data["asOf"]["statements"]["edges"][0]["node"]
    assert node["history"] == [{"validTime": {"from": "2023-01-01T00:00:00Z"}}]
    assert node["provenance"]["edges"] == [{"node": {"externalId": "1"}}]
