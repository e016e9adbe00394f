"""What a request says of itself in headers, checked before its operation runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import time_ns
from typing import TYPE_CHECKING, Any

from api.context import Context
from api.credentials import LOCAL, Grant, Keyring, authorizations_in, namespace_in
from api.headers import AWAIT_HEADER
from api.watches import Watches
from graph.facade import Graph
from ontology.echo import echo
from ontology.errors import InvalidInput, Unauthenticated
from ontology.names import DEFAULT_NAMESPACE, checked_namespace
from workers.ingestion import Ingestion

if TYPE_CHECKING:
    from workers.embedding import Embedding

_MAX_DIGITS = 18


@dataclass(slots=True)
class Request:
    """One HTTP request, one web socket, or one call of the schema in-process. `awaited` is the transaction that reads wait for.

    `grant` is what it may do: None on a web socket whose `connection_init` has yet to say who it is. `connection_params` is
    what that said; Strawberry sets it. `trace` names it in the log up to the commit of what it hands in.
    `operation` (query, mutation, subscription) and `code` (of the first error, or OK) say what became of it.
    """

    graph: Graph
    ingestion: Ingestion
    namespace: str = DEFAULT_NAMESPACE
    awaiting: str | None = None
    id: str = "-"
    embedding: Embedding | None = None
    grant: Grant | None = LOCAL
    trace: str | None = None
    watches: Watches = field(default_factory=Watches)
    connection_params: dict[str, Any] | None = None
    awaited: int | None = field(default=None, init=False)
    operation: str | None = field(default=None, init=False)
    code: str | None = field(default=None, init=False)

    def admit(self, keyring: Keyring | None) -> None:
        """On `connection_init`: take key and namespace from it where it has them. Raises Unauthenticated and Forbidden."""
        stated = authorizations_in(self.connection_params)
        if keyring is not None and (stated or self.grant is None):
            self.grant = keyring.authenticate(stated)
        self.namespace = namespace_in(self.connection_params) or self.namespace
        self.granted().check_namespace(self.namespace)

    def granted(self) -> Grant:
        """What it may do. Raises Unauthenticated."""
        if self.grant is None:
            raise Unauthenticated("this connection has not said who it is: send the API key in connection_init")
        return self.grant

    def check(self) -> None:
        """Raises Unauthenticated and Forbidden, and InvalidInput for a malformed header."""
        self.granted().check_namespace(self.namespace)
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
        return Context(
            self.graph,
            self.ingestion,
            self.namespace,
            time_ns() // 1000,
            self.id,
            self.granted(),
            embedding=self.embedding,
            trace=self.trace,
            watches=self.watches,
        )
