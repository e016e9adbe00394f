"""docs/drift.md, "Following changes", is true: its replica is run beside a service."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.app import create_app
from tests.api.clients import OverHttp, served
from tests.api.following import stream
from tests.api.opening import open_test_service
from tests.api.stating import state
from tests.api.test_changes import story

PAGE = (Path(__file__).parents[1] / "docs" / "drift.md").read_text(encoding="utf-8")
SECTION = re.split(r"^## ", PAGE[PAGE.index("## Following changes") + 3 :], maxsplit=1, flags=re.MULTILINE)[0]
WHOLE = """{ asOf { statements(filter: {validDuring: {}}, first: 100) { edges { node { key text validTime { from to } } } } } }"""


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    with served(create_app(partial(open_test_service, tmp_path))) as address:
        yield address


def test_the_replica_of_the_page_holds_what_the_service_believes(url: str) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", SECTION, flags=re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(code, "docs/drift.md", "exec"), names)
    with httpx.Client(timeout=30) as http:
        client = OverHttp(http, url)
        replica = names["Replica"](url)

        def believed() -> set[tuple[str, str, Any]]:
            nodes = [edge["node"] for edge in client.ok(WHOLE)["asOf"]["statements"]["edges"]]
            return {(node["key"], node["text"], node["validTime"]["to"]) for node in nodes}

        def held() -> set[tuple[str, str, Any]]:
            replica.catch_up()
            return {(one["key"], one["text"], one["validTime"]["to"]) for one in replica.held.values()}

        assert held() == set()
        state(client, "0", "2018-01-01", ("Ada", "works_at", "Acme"))
        assert held() == believed() != set()
        story(client)
        assert {(key, to) for key, _, to in held()} == {(key, to) for key, _, to in believed()}
        replica.http.close()


def test_the_subscription_of_the_page_is_one(url: str) -> None:
    (query,) = re.findall(r"```graphql\n(.*?)```", SECTION, flags=re.DOTALL)
    with httpx.Client(timeout=30) as http:
        client = OverHttp(http, url)
        state(client, "0", "2018-01-01", ("Ada", "works_at", "Acme"), ("Ada", "likes", "tea"))
        first = client.ok("{ changes(first: 1) { edges { cursor } } }")["changes"]["edges"][0]["cursor"]
        with stream(http, url, "default", query, {"after": first}) as events:
            _, told = next(events)
        assert told["data"]["changes"]["node"]["statement"]["text"] == "Ada likes tea"
