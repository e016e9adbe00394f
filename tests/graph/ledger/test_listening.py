"""Counts of queries do not swing with what else is going on."""

from __future__ import annotations

from threading import Thread

from sqlalchemy import text

from graph.service import LedgerGraph
from tests.graph.ledger.listening import sent


def test_only_what_the_act_itself_sends_is_counted(graph: LedgerGraph) -> None:
    def ask(number: int) -> None:
        with graph._engine.connect() as connection:
            connection.execute(text(f"SELECT {number}"))

    def act() -> None:
        beside = Thread(target=ask, args=(1,))
        beside.start()
        beside.join()
        ask(2)

    assert [statement for statement, _ in sent(graph._engine, act) if "SELECT" in statement] == ["SELECT 2"]
