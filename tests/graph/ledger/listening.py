"""What an act asks of the ledger's database."""

from __future__ import annotations

from collections.abc import Callable
from threading import get_ident
from typing import Any

from sqlalchemy import Engine, event


def sent(engine: Engine, act: Callable[[], object]) -> list[tuple[str, Any]]:
    """The statements that `act` sends, each with its parameters.

    Only those of its own thread: what follows the ledger (the recall index) asks the same database beside it, whenever it gets to it.
    """
    found: list[tuple[str, Any]] = []
    own = get_ident()

    def note(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        if get_ident() == own:
            found.append((statement, parameters))

    event.listen(engine, "before_cursor_execute", note)
    try:
        act()
    finally:
        event.remove(engine, "before_cursor_execute", note)
    return found
