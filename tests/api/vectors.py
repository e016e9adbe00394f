"""The shared vectors over GraphQL: operations become mutations, questions become queries, in a namespace of their own."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ontology.instant import UNBOUNDED_FUTURE, UNBOUNDED_PAST, Instant, format_instant, parse_instant
from tests.api.clients import Client
from tests.graph.belief.vectors import instant, text
from tests.graph.ledger.vectors import by_kind

OBJECT = "object { __typename ... on Entity { name } ... on Literal { value } }"
ASSERT = """mutation($input: AssertStatementsInput!) { assertStatements(input: $input) { __typename
  ... on AssertStatementsPayload { warnings } ... on InvalidInputError { reason } ... on Error { message } } }"""
RETRACT = """mutation($ref: EpisodeRef!) { retractEpisode(ref: $ref, reason: "vector") { __typename ... on Error { message } } }"""
BASIS = "{ asOf { basis { recordedAt } } }"
SCOPE = "asOf(validAt: $validAt, recordedAt: $recordedAt, evidenceUntil: $evidenceUntil)"
VARIABLES = "$validAt: DateTime, $recordedAt: DateTime, $evidenceUntil: DateTime, $subject: EntityRef!, $predicate: String!"
SLOT = "subject: $subject, predicate: $predicate, qualifier: $qualifier"
TIMELINE = f"""query({VARIABLES}, $qualifier: String) {{ {SCOPE} {{ timeline({SLOT}) {{ segments {{
  validTime {{ from to }} statements {{ {OBJECT} polarity }} }} }} }} }}"""
ABOUT = f"""query({VARIABLES}, $name: String!, $invalidated: Boolean) {{ {SCOPE} {{ timeline(subject: $subject, predicate: $predicate)
  {{ predicate {{ name }} }} entity(name: $name) {{ statements(role: SUBJECT, first: 100,
  filter: {{predicates: [$predicate], polarity: true, includeInvalidated: $invalidated}}) {{ edges {{ node {{ {OBJECT} qualifier
  support conflict certainty provenance(first: 50) {{ edges {{ node {{ externalId }} }} }}
  history {{ validTime {{ from to }} transactionTime {{ from to }} }} }} }} }} }} }} }}"""
ASK = f"""query({VARIABLES}, $qualifier: String, $object: ObjectInput!) {{ {SCOPE} {{ ask({SLOT}, object: $object) {{ value }} }} }}"""

DIFF = f"""query($from: BasisInput!, $to: BasisInput!) {{ diff(from: $from, to: $to, first: 100) {{ edges {{ node {{
  kind subject {{ name }} predicate {{ name }} before {{ {OBJECT} }} after {{ {OBJECT} }} }} }} }} }}"""


def _statement(spec: Mapping[str, Any]) -> dict[str, Any]:
    """A vector's claim as a StatementInput."""
    found: dict[str, Any] = {"subject": {"name": spec["s"]}, "predicate": spec["p"], "object": {"name": text(spec["o"])}}
    found |= {"polarity": False} if spec.get("pol") == "-" else {}
    found |= {"kind": spec["kind"].upper()} if "kind" in spec else {}
    found |= {"qualifier": spec["q"]} if spec.get("q") else {}
    found |= {"additive": True} if spec.get("additive") else {}
    found |= {"replaces": {"name": text(spec["replaces"])}} if spec.get("replaces") else {}
    for theirs, ours in (("from", "validFrom"), ("to", "validTo"), ("at", "at")):
        if spec.get(theirs) is not None:
            found[ours] = ".." if text(spec[theirs]) in ("-inf", "inf") else text(spec[theirs])
    return found


def _name(node: Mapping[str, Any]) -> str:
    found: str = node["object"].get("name") or node["object"]["value"]
    return found


class GraphQLWorld:
    """A namespace after some operations, asked over GraphQL."""

    def __init__(self, client: Client, ops: Sequence[Mapping[str, Any]]) -> None:
        self.client = client
        self.errors: list[list[str]] = []
        self.recorded: list[str] = [self._last()]
        for op in ops:
            self._apply(op)
            self.recorded.append(self._last())

    def _last(self) -> str:
        found: str = self.client.ok(BASIS)["asOf"]["basis"]["recordedAt"]
        return found

    def _apply(self, op: Mapping[str, Any]) -> None:
        if op["op"] != "assert":
            done = self.client.ok(RETRACT, ref={"source": "vector", "externalId": op["ep"]})["retractEpisode"]
            assert done["__typename"] == "RetractEpisodePayload", done
            return
        claims = op.get("claims") or [op]
        said, zone = text(claims[0].get("said") or op["said"]), op.get("tz")
        bracket = re.fullmatch(r"(.*)\[(.+)\]", said)
        if bracket:
            said, zone = bracket.groups()
        input = {
            "source": "vector",
            "externalId": op["ep"],
            "rank": op.get("rank", 0),
            "saidAt": said,
            "timeZone": zone,
            "statements": [_statement(claim) for claim in claims],
            "onBadDate": "DROP_DATE" if op.get("on_error") == "fallback" else "REFUSE",
        }
        done = self.client.ok(ASSERT, input=input)["assertStatements"]
        if done["__typename"] == "InvalidInputError":
            self.errors.append([op["ep"], done["reason"]])
        else:
            self.errors += [[op["ep"], warning.rsplit(" ", 1)[-1]] for warning in done["warnings"]]

    def _scope(self, question: Mapping[str, Any], **more: Any) -> dict[str, Any]:
        return {"subject": {"name": question["s"]}, "predicate": question["p"], **more, **self._basis(question)}

    def _basis(self, question: Mapping[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        found |= {"validAt": format_instant(instant(question["valid"]))} if "valid" in question else {}
        found |= {"evidenceUntil": format_instant(instant(question["known"]))} if "known" in question else {}
        found |= {"recordedAt": self.recorded[question["tx"]]} if question.get("tx") is not None else {}
        return found

    def differences(self, start: Mapping[str, Any], end: Mapping[str, Any]) -> dict[str, list[list[str]]]:
        """What differs between two bases by kind: subject, predicate, the values before and after."""
        bases = {name: self._basis(question) for name, question in (("from", start), ("to", end))}
        nodes = [edge["node"] for edge in self.client.ok(DIFF, **bases)["diff"]["edges"]]
        return by_kind(
            [node["kind"], node["subject"]["name"], node["predicate"]["name"], *map(_name, node["before"] + node["after"])]
            for node in nodes
        )

    def _about(self, question: Mapping[str, Any], *, invalidated: bool) -> list[dict[str, Any]]:
        entity = self.client.ok(ABOUT, **self._scope(question, name=question["s"], invalidated=invalidated))["asOf"]["entity"]
        nodes = [edge["node"] for edge in entity["statements"]["edges"]] if entity else []
        return [node for node in nodes if node["qualifier"] == question.get("q", "")]

    def holding(self, question: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The positive values that hold, as the vectors write them."""
        return [
            {
                "o": _name(node),
                "basis": node["support"].lower(),
                "conflict": node["conflict"].lower(),
                "certainty": node["certainty"].lower(),
                "eps": sorted(edge["node"]["externalId"] for edge in node["provenance"]["edges"]),
            }
            for node in self._about(question, invalidated=False)
        ]

    def timeline(self, question: Mapping[str, Any]) -> list[tuple[Instant, Instant, list[str]]]:
        """Segments of the positive values."""
        found = self.client.ok(TIMELINE, **self._scope(question, qualifier=question.get("q", "")))["asOf"]["timeline"]["segments"]
        rows: list[tuple[Instant, Instant, list[str]]] = []
        for segment in found:
            values = sorted(_name(node) for node in segment["statements"] if node["polarity"])
            start, end = segment["validTime"]["from"], segment["validTime"]["to"]
            first, last = parse_instant(start) if start else UNBOUNDED_PAST, parse_instant(end) if end else UNBOUNDED_FUTURE
            if values and rows and rows[-1][1] == first and rows[-1][2] == values:
                rows[-1] = (rows[-1][0], last, values)
            elif values:
                rows.append((first, last, values))
        return rows

    def ask(self, question: Mapping[str, Any]) -> str:
        """yes, no or unknown."""
        scope = self._scope(question, qualifier=question.get("q", ""), object={"name": text(question["o"])})
        found: str = self.client.ok(ASK, **scope)["asOf"]["ask"]["value"]
        return found.lower()

    def rectangles(self, question: Mapping[str, Any]) -> list[list[Any]]:
        """Every version of a slot's statements: value, bounds, and the operations between which it was believed."""

        def bound(text: str | None, unbounded: Instant) -> Instant:
            return unbounded if text is None else parse_instant(text)

        def place(text: str | None) -> Any:
            return "inf" if text is None else self.recorded.index(text)

        rows = {
            (
                _name(node),
                bound(version["validTime"]["from"], UNBOUNDED_PAST),
                bound(version["validTime"]["to"], UNBOUNDED_FUTURE),
                place(version["transactionTime"]["from"]),
                place(version["transactionTime"]["to"]),
            )
            for node in self._about(question, invalidated=True)
            for version in node["history"]
        }
        return [list(row) for row in sorted(rows, key=str)]
