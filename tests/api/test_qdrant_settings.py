"""The settings that choose a server for the vectors."""

from __future__ import annotations

import pytest

from api.settings import Settings
from api.wiring import dense_of
from graph.recall.qdrant import Qdrant
from ontology.errors import InvalidInput


def test_vectors_lie_in_memory_where_no_server_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ERSTWHILE_QDRANT_URL", raising=False)
    assert dense_of(Settings()) is None


def test_a_server_is_chosen_by_its_address_and_not_asked_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ERSTWHILE_QDRANT_URL", "https://nowhere.test:6333")
    monkeypatch.setenv("ERSTWHILE_QDRANT_KEY", "hush")
    monkeypatch.setenv("ERSTWHILE_QDRANT_EXACT", "false")
    settings = Settings()
    assert "hush" not in repr(settings)
    opened = dense_of(settings)
    assert opened is not None
    server = opened("ledger", "embedder")
    assert isinstance(server, Qdrant)
    assert not server.exact


def test_an_address_that_is_none_is_refused_and_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ERSTWHILE_QDRANT_URL", "me:hush@nowhere.test")
    with pytest.raises(InvalidInput, match="ERSTWHILE_QDRANT_URL") as failure:
        dense_of(Settings())
    assert "hush" not in failure.value.message
