"""What a request says of itself in headers, checked before its operation runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import time_ns
from typing import TYPE_CHECKING

from api.context import Context
from api.headers import AWAIT_HEADER
from graph.facade import Graph
from ontology.echo import echo
from ontology.errors import InvalidInput
from ontology.names import DEFAULT_NAMESPACE, checked_namespace
from workers.ingestion import Ingestion

if TYPE_CHECKING:
    from workers.embedding import Embedding

_MAX_DIGITS = 18


@dataclass(slots=True)
class Request:
    """One HTTP request, or one call of the schema in-process. `awaited` is the transaction that reads wait for."""

    graph: Graph
    ingestion: Ingestion
    namespace: str = DEFAULT_NAMESPACE
    awaiting: str | None = None
    id: str = "-"
    embedding: Embedding | None = None
    awaited: int | None = field(default=None, init=False)

    def check(self) -> None:
        """Raises InvalidInput for a malformed header."""
        checked_namespace(self.namespace)
        if self.awaiting is not None:
            text = self.awaiting.strip()
            if not (text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS):
                raise InvalidInput(
                    f"{AWAIT_HEADER} is the number of a transaction, not {echo(text, 40)}", path=(AWAIT_HEADER,), reason="UNPARSEABLE"
                )
            self.awaited = int(text)

    def context(self) -> Context:
        """What its resolvers know; one `now`."""
        return Context(self.graph, self.ingestion, self.namespace, time_ns() // 1000, self.id, embedding=self.embedding)
