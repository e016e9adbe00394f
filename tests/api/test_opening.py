"""While the service opens: alive, not ready, 503 for operations; and what happens where it cannot open."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import httpx
import pytest
import uvicorn

from api.app import create_app
from api.service import Service
from ontology.errors import InvalidInput
from tests.api.clients import until_ready
from tests.api.opening import open_test_service


def test_it_is_alive_before_it_is_ready(tmp_path: Path, http: httpx.Client) -> None:
    may_open = threading.Event()

    def open() -> Service:
        may_open.wait()
        return open_test_service(tmp_path)

    server = uvicorn.Server(uvicorn.Config(create_app(open), port=0, log_level="warning", lifespan="on", ws="none"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            threading.Event().wait(0.01)
        url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
        assert http.get(f"{url}/livez").status_code == 200
        assert http.get(f"{url}/readyz").status_code == 503
        refused = http.post(f"{url}/graphql", json={"query": "{ stats { episodes } }"})
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "1")
        assert refused.json()["errors"][0]["extensions"]["code"] == "OVERLOADED"
        may_open.set()
        until_ready(url)
        assert http.post(f"{url}/graphql", json={"query": "{ stats { episodes } }"}).json() == {"data": {"stats": {"episodes": 0}}}
    finally:
        may_open.set()
        server.should_exit = True
        thread.join()


async def _start(failed: list[Exception], why: Exception) -> None:
    def open() -> Service:
        raise why

    app = create_app(open, failed=failed.append)
    async with app.router.lifespan_context(app):
        pass


@pytest.mark.parametrize("why", [RuntimeError("the disk is gone"), InvalidInput("ERSTWHILE_X is wrong")])
def test_a_service_that_cannot_open_says_why(caplog: pytest.LogCaptureFixture, why: Exception) -> None:
    failed: list[Exception] = []
    asyncio.run(_start(failed, why))
    assert failed == [why]
    assert str(why) in caplog.text
    assert ("Traceback" in caplog.text) is not isinstance(why, InvalidInput)
