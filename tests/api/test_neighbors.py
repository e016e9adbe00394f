"""Who is near whom over GraphQL: nearest first, then by name, in pages of any size."""

from __future__ import annotations

import pytest

from tests.api.clients import InProcess
from tests.api.stating import state

NEAR = """query($first: Int, $after: String, $depth: Int) { asOf(validAt: "2024-06-01T00:00:00Z") { entity(name: "Ann") {
  neighbors(depth: $depth, first: $first, after: $after) { edges { cursor node { name } } pageInfo { hasNextPage endCursor } } } } }"""


def told(client: InProcess) -> None:
    """Zoe and Bo are one step from Ann, their friends two, those of Cy three."""
    near = [("Ann", "friend_of", "Zoe"), ("Ann", "friend_of", "Bo")]
    further = [("Zoe", "friend_of", name) for name in ("Abe", "Cy")] + [("Bo", "friend_of", name) for name in ("Mia", "Cy")]
    state(client, "1", "2024-01-01", *near, *further, ("Cy", "friend_of", "Eve"))


@pytest.mark.parametrize(
    ("depth", "names"),
    [(1, ["Bo", "Zoe"]), (2, ["Bo", "Zoe", "Abe", "Cy", "Mia"]), (3, ["Bo", "Zoe", "Abe", "Cy", "Mia", "Eve"])],
)
@pytest.mark.parametrize("first", [1, 2, 3, 100])
def test_pages_of_any_size_lead_outward(in_process: InProcess, depth: int, names: list[str], first: int) -> None:
    client = in_process.at(f"near-{depth}-{first}")
    told(client)
    found: list[str] = []
    after, more = None, True
    while more:
        page = client.ok(NEAR, depth=depth, first=first, after=after)["asOf"]["entity"]["neighbors"]
        found += [edge["node"]["name"] for edge in page["edges"]]
        after, more = page["pageInfo"]["endCursor"], page["pageInfo"]["hasNextPage"]
    assert found == names
