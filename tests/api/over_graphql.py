"""The facade as a client has it: each read a GraphQL query, each write that GraphQL offers a mutation.

What it does not offer goes in underneath: extracted claims as given, since the reading of a text cannot be steered, and statements with
a modality or a revision. So the properties of the ledger's own tests hold what a client sees against the same oracle.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from graph.service import LedgerGraph
from graph.views import (
    AnswerView,
    Basis,
    ChangeReceipt,
    ClaimView,
    EntityRef,
    EntityView,
    EpisodeView,
    ObjectRef,
    Page,
    Receipt,
    SegmentView,
    StatedClaim,
    StatementFilter,
    StatementView,
    TimelineView,
    TransactionView,
    Truth,
    Want,
)
from ontology.claim import ClaimDraft, Modality, ObjectDraft
from ontology.episode import EpisodeDraft
from ontology.instant import UNBOUNDED_FUTURE, UNBOUNDED_PAST, Instant, format_instant, parse_instant
from ontology.vocabulary import Vocabulary
from tests.api import answered
from tests.api.clients import Client

T = TypeVar("T")
Bases = Mapping[str, str]
"""Arguments of `asOf`."""

SCOPE = "asOf(validAt: $validAt, recordedAt: $recordedAt, evidenceUntil: $evidenceUntil)"
AXES = "$validAt: DateTime, $recordedAt: DateTime, $evidenceUntil: DateTime"
PAGED = f"{AXES}, $first: Int, $after: String"
ERRORS = "__typename ... on Error { code message } ... on InvalidInputError { path }"
CHANGED = f"transaction deduplicated claims {answered.CHANGES}"
ASSERT = f"""mutation($input: AssertStatementsInput!) {{ assertStatements(input: $input) {{ {ERRORS}
  ... on AssertStatementsPayload {{ transaction deduplicated warnings episode {{ key }} {answered.CHANGES} }} }} }}"""
RETRACT = f"""mutation($id: ID, $ref: EpisodeRef, $reason: String) {{ retractEpisode(id: $id, ref: $ref, reason: $reason) {{ {ERRORS}
  ... on RetractEpisodePayload {{ transaction episode {{ key }} }} }} }}"""
REJECT = f"""mutation($ids: [ID!]!, $reason: String!) {{ rejectClaims(ids: $ids, reason: $reason) {{ {ERRORS}
  ... on ClaimsPayload {{ {CHANGED} }} }} }}"""
RESTORE = f"""mutation($ids: [ID!]!, $reason: String) {{ restoreClaims(ids: $ids, reason: $reason) {{ {ERRORS}
  ... on ClaimsPayload {{ {CHANGED} }} }} }}"""
MERGE = f"""mutation($ids: [ID!]!, $reason: String) {{ mergeEntities(ids: $ids, reason: $reason) {{ {ERRORS}
  ... on EntityPayload {{ entity {{ key }} {CHANGED} }} }} }}"""
SPLIT = f"""mutation($id: ID!, $discriminator: String!, $groups: [String!], $sources: [String!], $name: String) {{
  splitEntity(id: $id, discriminator: $discriminator, groups: $groups, sources: $sources, name: $name) {{ {ERRORS}
  ... on EntityPayload {{ entity {{ key }} {CHANGED} }} }} }}"""

CHANGED_FORETOLD = "subject predicate qualifier object polarity validTime { from to fromStated toStated } reason rule"
CHANGES_OF_PREVIEW = f"asserted {{ {CHANGED_FORETOLD} }} invalidated {{ {CHANGED_FORETOLD} }}"


class SnapshotOverGraphQL:
    """`asOf` as `graph.facade.Snapshot`. It asks anew each time: with nothing written in between, of one basis."""

    def __init__(self, client: Client, graph: LedgerGraph, bases: Bases) -> None:
        self._client, self._graph, self._bases = client, graph, bases
        found = self._asked(AXES, "basis { validAt recordedAt transaction evidenceUntil }")["basis"]
        until = found["evidenceUntil"] and parse_instant(found["evidenceUntil"])
        times = parse_instant(found["validAt"]), parse_instant(found["recordedAt"])
        self.basis = Basis(client.namespace, *times, found["transaction"], until)

    def _asked(self, declared: str, field: str, **variables: Any) -> Any:
        return self._client.ok(f"query({declared}) {{ {SCOPE} {{ {field} }} }}", **self._bases, **variables)["asOf"]

    def _page(self, found: Any, read: Callable[[answered.Node], T]) -> Page[T]:
        """A page whose positions are cursors."""
        items = tuple(read(edge["node"]) for edge in found["edges"])
        return Page(items, tuple((edge["cursor"],) for edge in found["edges"]), found["pageInfo"]["hasNextPage"])

    def _connection(
        self, field: str, nodes: str, read: Callable[[answered.Node], T], first: int, after: Any, declared: str = PAGED, **more: Any
    ) -> Page[T]:
        edges = f"{{ edges {{ cursor node {{ {nodes} }} }} pageInfo {{ hasNextPage }} }}"
        found = self._asked(declared, f"found: {field} {edges}", first=first, after=after[0] if after else None, **more)
        return self._page(found["found"], read)

    def entity(self, ref: EntityRef) -> EntityView | None:
        found = self._asked(f"{AXES}, $id: ID, $name: String", f"entity(id: $id, name: $name) {{ {answered.ENTITY} }}", **_entity(ref))
        return None if found["entity"] is None else answered.entity(found["entity"])

    def key_of(self, ref: EntityRef) -> str:
        """GraphQL does not show the key that a name would have."""
        found = self.entity(ref)
        return found.key if found else ref.key or self._graph.keys.entity(self._client.namespace, ref.name or "")

    def entities(self, *, first: int = 20, after: Any = None) -> Page[EntityView]:
        return self._connection("entities(first: $first, after: $after)", answered.ENTITY, answered.entity, first, after)

    def episodes(self, *, first: int = 20, after: Any = None) -> Page[EpisodeView]:
        return self._connection("episodes(first: $first, after: $after)", answered.EPISODE, answered.episode, first, after)

    def statements(
        self, filter: StatementFilter, *, first: int = 20, after: Any = None, want: frozenset[Want] = frozenset()
    ) -> Page[StatementView]:
        field, declared = "statements(filter: $filter, first: $first, after: $after)", f"{PAGED}, $filter: StatementFilter"
        nodes = answered.selected(want)
        return self._connection(field, nodes, answered.statement, first, after, declared, filter=filter_input(filter))

    def statements_about(
        self,
        key: str,
        role: str,
        filter: StatementFilter,
        *,
        first: int = 20,
        after: Any = None,
        want: frozenset[Want] = frozenset(),
    ) -> Page[StatementView]:
        """Of what nothing is known on the basis GraphQL has no entity, so no statements."""
        part = f"edges {{ cursor node {{ {answered.selected(want)} }} }} pageInfo {{ hasNextPage }}"
        field = f"entity(id: $id) {{ statements(role: $role, filter: $filter, first: $first, after: $after) {{ {part} }} }}"
        declared = f"{PAGED}, $id: ID, $role: StatementRole, $filter: StatementFilter"
        asked = {"id": key, "role": role, "filter": filter_input(filter), "first": first, "after": after[0] if after else None}
        found = self._asked(declared, field, **asked)["entity"]
        return Page((), (), False) if found is None else self._page(found["statements"], answered.statement)

    def timeline(self, subject: EntityRef, predicate: str, qualifier: str = "", *, want: frozenset[Want] = frozenset()) -> TimelineView:
        part = f"subject {{ {answered.ENTITY} }} segments {{ validTime {{ from to }} statements {{ {answered.selected(want)} }} }}"
        declared = f"{AXES}, $subject: EntityRef!, $predicate: String!, $qualifier: String"
        field = f"timeline(subject: $subject, predicate: $predicate, qualifier: $qualifier) {{ predicate {{ name }} qualifier {part} }}"
        found = self._asked(declared, field, subject=_entity(subject), predicate=predicate, qualifier=qualifier)["timeline"]
        return timeline(found)

    def ask(self, subject: EntityRef, predicate: str, object: ObjectRef, qualifier: str = "") -> AnswerView:
        declared = f"{AXES}, $subject: EntityRef!, $predicate: String!, $object: ObjectInput!, $qualifier: String"
        part = f"value statements {{ {answered.STATEMENT} }}"
        field = f"ask(subject: $subject, predicate: $predicate, object: $object, qualifier: $qualifier) {{ {part} }}"
        target = {"name": object.name} if object.name is not None else {"entity": object.key}
        found = self._asked(declared, field, subject=_entity(subject), predicate=predicate, object=target, qualifier=qualifier)["ask"]
        return AnswerView(Truth[found["value"]], tuple(answered.statement(node) for node in found["statements"]))

    def claims(self, filter: StatementFilter, *, first: int = 20, after: Any = None, **which: bool) -> Page[ClaimView]:
        field = "claims(filter: $filter, candidate: $candidate, rejected: $rejected, first: $first, after: $after)"
        declared = f"{PAGED}, $filter: StatementFilter, $candidate: Boolean, $rejected: Boolean"
        return self._connection(field, answered.CLAIM, answered.claim, first, after, declared, filter=filter_input(filter), **which)


class GraphOverGraphQL:
    """A ledger behind a client, as `graph.facade.Graph`: as much of it as stories need."""

    def __init__(self, graph: LedgerGraph, client: Client) -> None:
        self.graph, self.client = graph, client
        self.keys = graph.keys
        self._changes: dict[tuple[str, int], tuple[list[StatementView], list[StatementView]]] = {}

    def vocabulary(self) -> Vocabulary:
        """The vocabulary in force."""
        return self.graph.vocabulary()

    # -- reading

    def snapshot(self, namespace: str, *, transaction: int | None = None, **times: Instant | None) -> SnapshotOverGraphQL:
        """A snapshot; a transaction becomes its time."""
        names = {"valid_at": "validAt", "recorded_at": "recordedAt", "evidence_until": "evidenceUntil"}
        bases = {names[name]: format_instant(time) for name, time in times.items() if time is not None}
        if transaction is not None:
            found = [row.at for row in self.transactions(namespace).items if row.number == transaction]
            bases["recordedAt"] = format_instant(found[0]) if found else "1970-01-01T00:00:00Z"
        return SnapshotOverGraphQL(self.client.at(namespace), self.graph, bases)

    def transactions(self, namespace: str, *, first: int = 100) -> Page[TransactionView]:
        """The newest transactions."""
        query = "query($first: Int) { transactions(first: $first) { edges { node { number at kind actor reason } } } }"
        nodes = [edge["node"] for edge in self.client.at(namespace).ok(query, first=first)["transactions"]["edges"]]
        return Page(tuple(TransactionView(**{**node, "at": parse_instant(node["at"])}) for node in nodes), (), False)

    def opened_by(self, namespace: str, transaction: int) -> list[StatementView]:
        """What the mutation of a transaction answered with."""
        return self._changes[namespace, transaction][0]

    def closed_by(self, namespace: str, transaction: int) -> list[StatementView]:
        """What the mutation of a transaction answered with."""
        return self._changes[namespace, transaction][1]

    # -- writing

    def _done(self, namespace: str, mutation: str, **variables: Any) -> dict[str, Any]:
        (found,) = self.client.at(namespace).ok(mutation, **variables).values()
        assert found["__typename"].endswith("Payload"), found
        if "asserted" in found and not found["deduplicated"]:
            opened, closed = ([answered.statement(node) for node in found[part]] for part in ("asserted", "invalidated"))
            self._changes[namespace, found["transaction"]] = opened, closed
        return dict(found)

    def record_extracted(self, namespace: str, episodes: Sequence[Any], *, extractor: str) -> list[Receipt]:
        """Underneath."""
        return self.graph.record_extracted(namespace, episodes, extractor=extractor)

    def record_stated(self, namespace: str, episode: EpisodeDraft, claims: Sequence[StatedClaim]) -> Receipt:
        """`assertStatements`, where that can say it."""
        if not sayable(episode, claims):
            return self.graph.record_stated(namespace, episode, claims)
        found = self._done(namespace, ASSERT, input=statements_input(episode, claims))
        return Receipt(found["episode"]["key"], found["deduplicated"], found["transaction"], tuple(found["warnings"]))

    def retract(self, namespace: str, *, reason: str | None, **named: str) -> Receipt:
        """`retractEpisode`."""
        which = {"id": named["key"]} if "key" in named else {"ref": {"source": named["source"], "externalId": named["external_id"]}}
        found = self._done(namespace, RETRACT, reason=reason, **which)
        return Receipt(found["episode"]["key"] if found["episode"] else "", False, found["transaction"])

    def reject(self, namespace: str, claims: Sequence[str], *, reason: str) -> ChangeReceipt:
        """`rejectClaims`."""
        return _receipt(self._done(namespace, REJECT, ids=list(claims), reason=reason))

    def restore(self, namespace: str, claims: Sequence[str], *, reason: str | None = None) -> ChangeReceipt:
        """`restoreClaims`."""
        return _receipt(self._done(namespace, RESTORE, ids=list(claims), reason=reason))

    def merge(self, namespace: str, entities: Sequence[str]) -> ChangeReceipt:
        """`mergeEntities`."""
        return _receipt(self._done(namespace, MERGE, ids=list(entities)))

    def split(self, namespace: str, entity: str, **how: Any) -> ChangeReceipt:
        """`splitEntity`."""
        return _receipt(
            self._done(namespace, SPLIT, **{**how, "id": entity, "groups": list(how["groups"]), "sources": list(how["sources"])})
        )


def timeline(found: answered.Node) -> TimelineView:
    """A timeline of which subject, segments and their statements were selected."""
    segments = []
    for node in found["segments"]:
        start, end = node["validTime"]["from"], node["validTime"]["to"]
        span = parse_instant(start) if start else UNBOUNDED_PAST, parse_instant(end) if end else UNBOUNDED_FUTURE
        segments.append(SegmentView(*span, tuple(answered.statement(each) for each in node["statements"])))
    subject = None if found["subject"] is None else answered.entity(found["subject"])
    return TimelineView(subject, found["predicate"]["name"], found["qualifier"], tuple(segments))


def sayable(episode: EpisodeDraft, claims: Sequence[StatedClaim]) -> bool:
    """Whether `assertStatements` can say it: it knows no modality and no revisions."""
    return episode.revised_at is None and all(each.draft.modality is Modality.ASSERTED for each in claims)


def statements_input(episode: EpisodeDraft, claims: Sequence[StatedClaim]) -> dict[str, Any]:
    """An AssertStatementsInput."""
    found = {"source": episode.source, "externalId": episode.external_id, "group": episode.group, "saidAt": episode.said_at}
    stated = [_stated(each.draft, each.quote) for each in claims]
    return {**found, "rank": episode.rank, "content": episode.content, "statements": stated}


def _stated(draft: ClaimDraft, quote: str | None) -> dict[str, Any]:
    found: dict[str, Any] = {"subject": {"name": draft.subject}, "predicate": draft.predicate, "object": _object(draft.object)}
    found |= {"qualifier": draft.qualifier, "polarity": draft.polarity, "kind": draft.kind.name, "quote": quote}
    found |= {"validFrom": draft.valid_from, "validTo": draft.valid_to, "additive": draft.additive, "confidence": draft.confidence}
    return found if draft.replaces is None else {**found, "replaces": _object(draft.replaces)}


def _object(draft: ObjectDraft) -> dict[str, Any]:
    return {"name": draft.text} if draft.datatype is None else {"literal": {"value": draft.text, "datatype": draft.datatype}}


def _entity(ref: EntityRef) -> dict[str, Any]:
    return {"name": ref.name} if ref.name is not None else {"id": ref.key}


def filter_input(filter: StatementFilter) -> dict[str, Any]:
    """A StatementFilter of the schema; what stories ask for."""
    found: dict[str, Any] = {"includeInvalidated": filter.include_invalidated}
    return found if filter.valid_during is None else {**found, "validDuring": {}}


def _receipt(found: Mapping[str, Any]) -> ChangeReceipt:
    entity = found["entity"]["key"] if "entity" in found else None
    return ChangeReceipt(found["transaction"], found["deduplicated"], tuple(found["claims"]), entity)
