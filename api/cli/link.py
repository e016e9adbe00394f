"""How a command reaches the graph: over HTTP to the server that owns the data folder, or by opening the folder itself."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from api.folder import Owner, owned, owner_of
from api.headers import NAMESPACE_HEADER
from api.settings import Settings
from ontology.errors import DataFolderBusy, ErstwhileError, InvalidInput

# What only one of the two links needs is loaded by that one: each takes longer to load than a question takes to answer.
if TYPE_CHECKING:
    import httpx
    from pydantic import SecretStr

    from api.service import Service

HTTP_TOO_LARGE, HTTP_TOO_MANY = 413, 429
PATIENCE = 300
CONNECTING = 5
"""Seconds that a server may take to answer, and to take the connection."""
SILENCE = 90
"""Seconds after which a stream that says nothing, not even that it lives, counts as broken."""


class Refused(ErstwhileError):
    """The service answered with an error; `code` is its own."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


class Unreachable(Refused):
    """No answer, or one that says that there is none now; the same may be asked again, after `retry_after` seconds where it says so."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message, "OVERLOADED")
        self.retry_after = retry_after


class TooLarge(Refused):
    """The request is larger than the server takes."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "BAD_USER_INPUT")


class Link(Protocol):
    """Runs GraphQL operations in one namespace. Raises Refused."""

    def execute(self, document: str, variables: Mapping[str, Any] | None = None) -> dict[str, Any]: ...


def _sendable(key: SecretStr) -> str:
    """Raises InvalidInput, which does not show it, for what no header can hold."""
    value = key.get_secret_value().strip()
    if not (value.isascii() and value.isprintable()):
        raise InvalidInput("ERSTWHILE_API_KEY is no API key: it holds characters that no key has")
    return value


def _data(data: Any, errors: list[dict[str, Any]] | None) -> dict[str, Any]:
    if errors:
        first = errors[0]
        raise Refused(str(first["message"]), str(first.get("extensions", {}).get("code", "INTERNAL_SERVER_ERROR")))
    return dict(data)


class RemoteLink:
    """A server's GraphQL endpoint, asked with an API key where there is one. Threads may share it."""

    def __init__(self, client: httpx.Client, url: str, namespace: str, key: SecretStr | None = None) -> None:
        self._client, self.url = client, url
        self._headers = {NAMESPACE_HEADER: namespace}
        if key is not None:
            self._headers["Authorization"] = f"Bearer {_sendable(key)}"

    def execute(self, document: str, variables: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Run one operation."""
        import httpx

        body = {"query": document, "variables": dict(variables or {})}
        try:
            reply = self._client.post(f"{self.url}/graphql", json=body, headers=self._headers)
        except httpx.HTTPError as failure:
            raise Unreachable(f"the server at {self.url} does not answer: {failure or type(failure).__name__}") from failure
        try:
            answer = reply.json()
        except ValueError:
            answer = None
        if reply.status_code >= 500 or reply.status_code == HTTP_TOO_MANY:
            why = f"the server at {self.url} answers with status {reply.status_code}{_reason(answer)}"
            raise Unreachable(why, _seconds(reply.headers.get("Retry-After")))
        if reply.status_code == HTTP_TOO_LARGE:
            raise TooLarge(f"the server at {self.url} takes no request of this size")
        if not isinstance(answer, dict) or not {"data", "errors"} & answer.keys():
            raise Refused(
                f"the server at {self.url} answers with status {reply.status_code} and no GraphQL: is it Erstwhile?", "BAD_USER_INPUT"
            )
        return _data(answer.get("data"), answer.get("errors"))

    def events(self, document: str, variables: Mapping[str, Any] | None = None) -> Generator[dict[str, Any], None, None]:
        """What a subscription sends, over Server-Sent Events, until the server completes it. Raises Refused and Unreachable."""
        import httpx

        body = {"query": document, "variables": dict(variables or {})}
        headers = {**self._headers, "Accept": "text/event-stream"}
        # A server sends a comment now and then where it has nothing to say.
        timeout = httpx.Timeout(SILENCE, connect=CONNECTING)
        try:
            with self._client.stream("POST", f"{self.url}/graphql", json=body, headers=headers, timeout=timeout) as reply:
                if reply.headers.get("content-type", "").split(";")[0] != "text/event-stream":
                    reply.read()
                    self._refuse(reply)
                for name, data in _events(reply.iter_lines()):
                    if name == "next":
                        yield _data(data.get("data"), data.get("errors"))
                    elif name == "complete":
                        return
        except httpx.HTTPError as failure:
            raise Unreachable(f"the server at {self.url} does not answer: {failure or type(failure).__name__}") from failure

    def _refuse(self, reply: httpx.Response) -> None:
        """Raises what an answer that is no stream says."""
        if reply.status_code >= 500 or reply.status_code == HTTP_TOO_MANY:
            why = f"the server at {self.url} answers with status {reply.status_code}"
            raise Unreachable(why, _seconds(reply.headers.get("Retry-After")))
        try:
            answer = reply.json()
        except ValueError:
            answer = None
        if isinstance(answer, dict) and answer.get("errors"):
            _data(None, answer["errors"])
        raise Refused(f"the server at {self.url} answers with status {reply.status_code} and sends no events", "BAD_USER_INPUT")


def _events(lines: Iterator[str]) -> Iterator[tuple[str, Any]]:
    """Names and data of Server-Sent Events; comments, which keep a stream open, are passed over."""
    name, data = "", ""
    for line in lines:
        field, _, value = line.partition(":")
        if field == "event":
            name = value.strip()
        elif field == "data":
            data += value.removeprefix(" ")
        elif not line and name:
            yield name, json.loads(data) if data else None
            name, data = "", ""


def _reason(answer: Any) -> str:
    """What the first error of an answer says, where it is one of GraphQL's."""
    errors = answer.get("errors") if isinstance(answer, dict) else None
    first = errors[0] if isinstance(errors, list) and errors else None
    return f": {first['message']}" if isinstance(first, dict) and isinstance(first.get("message"), str) else ""


def _seconds(text: str | None) -> float | None:
    """The seconds that `Retry-After` names; None for a date and anything else."""
    return float(text) if text is not None and text.isascii() and text.isdigit() else None


class LocalLink:
    """The schema over a service that this process has opened."""

    def __init__(self, service: Service, runner: asyncio.Runner, namespace: str) -> None:
        from api.schema.build import build_schema

        self.service = service
        self._runner, self._namespace = runner, namespace
        self._schema = build_schema()

    def execute(self, document: str, variables: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Run one operation."""
        from api.requests import Request

        request = Request(self.service.graph, self.service.ingestion, self._namespace, embedding=self.service.embedding)
        result = self._runner.run(self._schema.execute(document, dict(variables or {}), context_value=request))
        return _data(result.data, [dict(error.formatted) for error in result.errors or []])


@contextmanager
def linked(settings: Settings, namespace: str, open_service: Callable[[Settings], Service]) -> Iterator[RemoteLink | LocalLink]:
    """A link to the graph of the data folder.

    Raises DataFolderBusy, naming the process, where one owns the folder that answers nobody.
    """
    owner = owner_of(settings.data)
    if owner is not None:
        with _asking(_answering(settings, owner), namespace, settings.api_key) as link:
            yield link
        return
    with owned(settings.data), asyncio.Runner() as runner:
        service = open_service(settings)
        try:
            yield LocalLink(service, runner, namespace)
        finally:
            service.close()


@contextmanager
def linked_to(url: str, settings: Settings, namespace: str) -> Iterator[RemoteLink]:
    """A link to the server at an address, wherever that is. Raises InvalidInput, which shows nothing of it, for what is no address."""
    with _asking(address(url), namespace, settings.api_key) as link:
        yield link


def address(url: str) -> str:
    """The address of a server without what follows it (`/graphql`). Raises InvalidInput."""
    parts = urlsplit(url.strip())
    try:
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good or parts.username is not None or parts.query or parts.fragment:
        # It is not shown: it may hold a password.
        raise InvalidInput("--to takes the address of a server: http(s)://HOST:PORT; a key comes from ERSTWHILE_API_KEY", path=("to",))
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/').removesuffix('/graphql').rstrip('/')}"


def is_loopback(url: str) -> bool:
    """Whether an address is this machine's own."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@contextmanager
def _asking(url: str, namespace: str, key: SecretStr | None) -> Iterator[RemoteLink]:
    import ssl

    import httpx

    # Of plain HTTP no certificate is checked, and reading all authorities would take longer than a question does.
    verify = ssl.create_default_context() if url.startswith("https:") else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    timeout = httpx.Timeout(PATIENCE, connect=CONNECTING)
    with httpx.Client(timeout=timeout, trust_env=not is_loopback(url), verify=verify) as client:
        yield RemoteLink(client, url, namespace, key)


def _answering(settings: Settings, owner: Owner) -> str:
    if owner.url is None:
        who = f"process {owner.pid}" if owner.pid else "another process"
        raise DataFolderBusy(f"{settings.data} is in use by {who}, which is not a server; wait until it ends", pid=owner.pid or None)
    return owner.url
