"""Erstwhile over GraphQL: a namespace for each world."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Protocol
from uuid import uuid4

from benchmarks.vectors import documents
from benchmarks.vectors.worlds import (
    EVER,
    FOR_EVER,
    Basis,
    Boundary,
    CannotAsk,
    Change,
    Claim,
    Difference,
    Failed,
    Operation,
    Predicate,
    Rectangle,
    Refusal,
    Slot,
    Span,
    Value,
)
from ontology.instant import format_instant, parse_instant

PAGE = 100
Node = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back of an operation."""

    data: Any
    errors: Sequence[Node]


class Service(Protocol):
    """Answers GraphQL operations in a namespace."""

    def send(self, namespace: str, document: str, variables: Mapping[str, Any]) -> Answer: ...


class Erstwhile:
    """The adapter of a service, which must know the predicates of the vectors as these have them."""

    def __init__(self, service: Service, title: str = "Erstwhile") -> None:
        self._service, self.title = service, title
        self._prefix, self._numbers = f"vectors-{uuid4().hex[:12]}", count()

    def world(self, predicates: Mapping[str, Predicate]) -> GraphQLWorld:
        """A namespace that nothing was written to."""
        return GraphQLWorld(self._service, f"{self._prefix}-{next(self._numbers)}")

    def close(self) -> None:
        """What started the service ends it."""


class GraphQLWorld:
    """A namespace, with the transaction that stood after each operation."""

    def __init__(self, service: Service, namespace: str) -> None:
        self._service, self._namespace = service, namespace
        self._stood = [self._last()]

    # -- asking

    def _ask(self, document: str, **variables: Any) -> Any:
        """The data. Raises CannotAsk where the schema lacks what is asked for, Failed for any other error."""
        answer = self._service.send(self._namespace, document, variables)
        if answer.errors:
            message = str(answer.errors[0]["message"])
            if message.startswith(("Cannot query field", "Unknown type", "Unknown argument")):
                raise CannotAsk(message)
            raise Failed(message)
        return answer.data

    def _last(self) -> tuple[int, str]:
        found = self._ask(documents.LAST)["asOf"]["basis"]
        return found["transaction"], found["recordedAt"]

    def _axes(self, basis: Basis) -> dict[str, str | None]:
        """The arguments of `asOf`, or a BasisInput."""
        valid, known = (None if at is None else format_instant(at) for at in (basis.valid_at, basis.known))
        recorded = None if basis.operations is None else self._stood[basis.operations][1]
        return {"validAt": valid, "recordedAt": recorded, "evidenceUntil": known}

    def _slot(self, slot: Slot, basis: Basis = Basis()) -> dict[str, Any]:  # noqa: B008
        return {**self._axes(basis), "subject": {"name": slot.subject}, "predicate": slot.predicate, "qualifier": slot.qualifier}

    def _operation(self, transaction: int) -> int:
        """The operation that committed a transaction."""
        return next(number for number, (stood, _) in enumerate(self._stood) if stood == transaction)

    def _about(self, slot: Slot, basis: Basis, **filter: Any) -> list[Node]:
        """Statements of a slot."""
        asked = {"predicates": [slot.predicate], "polarity": True, **filter}
        entity = self._ask(documents.ABOUT, **self._axes(basis), name=slot.subject, filter=asked)["asOf"]["entity"]
        nodes = [edge["node"] for edge in entity["statements"]["edges"]] if entity else []
        return [node for node in nodes if node["qualifier"] == slot.qualifier]

    # -- the world

    def apply(self, operation: Operation) -> Sequence[Refusal]:
        """A mutation."""
        if operation.kind == "assert":
            refusals = self._assert(operation)
        else:
            document = documents.RETRACT if operation.kind == "retract" else documents.ERASE
            (done,) = self._ask(document, ref={"source": "vectors", "externalId": operation.episode}).values()
            if "message" in done:
                raise Failed(done["message"])
            refusals = []
        self._stood.append(self._last())
        return refusals

    def _assert(self, operation: Operation) -> list[Refusal]:
        input = {
            "source": "vectors",
            "externalId": operation.episode,
            "rank": operation.rank,
            "saidAt": operation.said,
            "timeZone": operation.zone,
            "statements": [_stated(claim) for claim in operation.claims],
            "onBadDate": "DROP_DATE" if operation.keep_undated else "REFUSE",
        }
        done = self._ask(documents.ASSERT, input=input)["assertStatements"]
        if "reason" in done:
            return [Refusal(operation.episode, done["reason"])]
        if "message" in done:
            raise Failed(done["message"])
        return [Refusal(operation.episode, warning.rsplit(" ", 1)[-1]) for warning in done["warnings"]]

    def as_of(self, slot: Slot, basis: Basis) -> Sequence[Value]:
        """`Entity.statements`."""
        found = []
        for node in self._about(slot, basis):
            episodes = tuple(sorted({edge["node"]["externalId"] for edge in node["provenance"]["edges"]}))
            support, conflict, certainty = (node[name].lower() for name in ("support", "conflict", "certainty"))
            found.append(Value(_name(node), support, conflict, certainty, episodes))
        return found

    def ask(self, slot: Slot, object: str, basis: Basis) -> str:
        """`Snapshot.ask`."""
        found: str = self._ask(documents.ASK, **self._slot(slot, basis), object={"name": object})["asOf"]["ask"]["value"]
        return found.lower()

    def timeline(self, slot: Slot, basis: Basis) -> Sequence[Span]:
        """`Snapshot.timeline`."""
        found = self._ask(documents.TIMELINE, **self._slot(slot, basis))["asOf"]["timeline"]["segments"]
        return [Span(*_period(segment["validTime"]), _affirmed(segment["statements"])) for segment in found]

    def rectangles(self, slot: Slot) -> Sequence[Rectangle]:
        """`Statement.history`, of statements that hold no longer too."""
        rows = set()
        times = [at for _, at in self._stood]
        for node in self._about(slot, Basis(), includeInvalidated=True):
            for version in node["history"]:
                since, until = (version["transactionTime"][side] for side in ("from", "to"))
                between = times.index(since), None if until is None else times.index(until)
                rows.add(Rectangle(_name(node), *_period(version["validTime"]), *between))
        return list(rows)

    def diff(self, before: Basis, after: Basis) -> Sequence[Difference]:
        """`Query.diff`, denials aside."""
        found, cursor = [], None
        while True:
            page = self._ask(documents.DIFF, **{"from": self._axes(before)}, to=self._axes(after), first=PAGE, after=cursor)["diff"]
            for edge in page["edges"]:
                sides = _affirmed(edge["node"]["before"]), _affirmed(edge["node"]["after"])
                if any(sides):
                    found.append(Difference(edge["node"]["subject"]["name"], edge["node"]["predicate"]["name"], *sides))
            if not page["pageInfo"]["hasNextPage"]:
                return found
            cursor = page["edges"][-1]["cursor"]

    def why(self, slot: Slot) -> Sequence[Boundary]:
        """`Snapshot.whyChanged`."""
        rows = self._ask(documents.WHY, **self._slot(slot))["asOf"]["whyChanged"]
        found = []
        for row in rows:
            episodes = tuple(evidence["episode"]["externalId"] for evidence in row["evidence"])
            found.append(Boundary(parse_instant(row["at"]), _affirmed(row["before"]), _affirmed(row["after"]), episodes))
        return found

    def returns(self, slot: Slot) -> int:
        """`Snapshot.flipFlops`, which lists the slots that have any."""
        entity = self._ask(documents.KEY, name=slot.subject)["asOf"]["entity"]
        filter = {"subjects": [entity["key"]], "predicates": [slot.predicate]} if entity else {"subjects": []}
        edges = self._ask(documents.FLIP_FLOPS, filter=filter)["asOf"]["flipFlops"]["edges"]
        return sum(edge["node"]["returns"] for edge in edges if edge["node"]["qualifier"] == slot.qualifier)

    def feed(self, after: int) -> Sequence[Change]:
        """`Query.changes` from the cursor of the last change of an operation, in small pages."""
        cursor, found = None, []
        while True:
            page = self._ask(documents.CHANGES, after=cursor, first=3)["changes"]
            for edge in page["edges"]:
                operation, node = self._operation(edge["node"]["transaction"]), edge["node"]["statement"]
                if operation > after:
                    if edge["node"]["kind"] not in ("OPENED", "CLOSED"):
                        raise CannotAsk(f"a change of the kind {edge['node']['kind']} is no rectangle")
                    if node["polarity"]:
                        slot = node["subject"]["name"], node["predicate"]["name"], node["qualifier"]
                        opened = edge["node"]["kind"] == "OPENED"
                        found.append(Change(operation, opened, *slot, _name(node), *_period(node["validTime"])))
            if not page["pageInfo"]["hasNextPage"]:
                return found
            cursor = page["edges"][-1]["cursor"]

    def between(self, slot: Slot, start: int, end: int) -> Sequence[Span]:
        """`filter.validDuring`."""
        window = {"from": format_instant(start), "to": format_instant(end)}
        return [Span(*_period(node["validTime"]), (_name(node),)) for node in self._about(slot, Basis(), validDuring=window)]

    def last_attested(self, slot: Slot, object: str, basis: Basis) -> int:
        """`Statement.lastAttestedAt`."""
        found = [node["lastAttestedAt"] for node in self._about(slot, basis) if _name(node) == object]
        if len(found) != 1:
            raise Failed(f"{object} does not hold, or twice: {found}")
        return parse_instant(found[0])

    def close(self) -> None:
        """A namespace stays."""


def _stated(claim: Claim) -> dict[str, Any]:
    """A StatementInput."""
    found: dict[str, Any] = {"subject": {"name": claim.subject}, "predicate": claim.predicate, "object": {"name": claim.object}}
    found |= {"qualifier": claim.qualifier, "polarity": claim.affirmed, "kind": claim.kind.upper(), "additive": claim.additive}
    found |= {"replaces": {"name": claim.replaces}} if claim.replaces is not None else {}
    times = {"validFrom": claim.valid_from, "validTo": claim.valid_to, "at": claim.at}
    return found | {name: text for name, text in times.items() if text is not None}


def _name(node: Node) -> str:
    found: str = node["object"].get("name") or node["object"]["value"]
    return found


def _affirmed(nodes: Sequence[Node]) -> tuple[str, ...]:
    return tuple(_name(node) for node in nodes if node["polarity"])


def _period(node: Node) -> tuple[int, int]:
    start, end = node["from"], node["to"]
    return EVER if start is None else parse_instant(start), FOR_EVER if end is None else parse_instant(end)
