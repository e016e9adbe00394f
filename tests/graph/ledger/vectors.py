"""The shared vectors through the facade: operations become commits, questions are asked of snapshots."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from graph.facade import Graph
from graph.views import EntityRef, EntityView, ObjectRef, StatedClaim, StatementFilter, StatementView, Want
from ontology.claim import ClaimDraft, ClaimKind, ObjectDraft
from ontology.episode import EpisodeDraft
from ontology.errors import InvalidInput
from ontology.instant import Instant
from tests.graph.belief.vectors import instant, text


def stated(spec: Mapping[str, Any]) -> StatedClaim:
    """A vector's claim as a client states it."""

    def time(name: str) -> str | None:
        value = spec.get(name)
        return None if value is None else ".." if text(value) in ("inf", "-inf") else text(value)

    draft = ClaimDraft(
        spec["s"],
        spec["p"],
        ObjectDraft(text(spec["o"])),
        qualifier=spec.get("q", ""),
        polarity=spec.get("pol") != "-",
        kind=ClaimKind(spec.get("kind", "state").upper()),
        valid_from=time("from"),
        valid_to=time("to"),
        replaces=ObjectDraft(text(spec["replaces"])) if "replaces" in spec else None,
        additive=spec.get("additive", False),
    )
    return StatedClaim(draft, at=time("at"))


class LedgerWorld:
    """A namespace of a graph after some operations."""

    def __init__(self, graph: Graph, namespace: str, ops: Sequence[Mapping[str, Any]]) -> None:
        self.graph, self.namespace = graph, namespace
        self.errors: list[list[str]] = []
        self.recorded: list[Instant] = [graph.snapshot(namespace).basis.recorded_at]
        for op in ops:
            self._apply(op)
            self.recorded.append(graph.snapshot(namespace).basis.recorded_at)

    def _apply(self, op: Mapping[str, Any]) -> None:
        if op["op"] != "assert":
            self.graph.retract(self.namespace, source="vector", external_id=op["ep"], reason="vector")
            return
        claims = op.get("claims") or [op]
        said, zone = text(claims[0].get("said") or op["said"]), op.get("tz")
        bracket = re.fullmatch(r"(.*)\[(.+)\]", said)
        if bracket:
            said, zone = bracket.groups()
        episode = EpisodeDraft("", "vector", external_id=op["ep"], said_at=said, time_zone=zone, rank=op.get("rank", 0))
        try:
            receipt = self.graph.record_stated(
                self.namespace, episode, [stated(claim) for claim in claims], drop_bad_dates=op.get("on_error") == "fallback"
            )
        except InvalidInput as failure:
            self.errors.append([op["ep"], str(failure.reason)])
            return
        self.errors += [[op["ep"], warning.rsplit(" ", 1)[-1]] for warning in receipt.warnings]

    def snapshot(self, question: Mapping[str, Any]) -> Any:
        """The snapshot that a question names."""
        return self.graph.snapshot(
            self.namespace,
            valid_at=instant(question["valid"]) if "valid" in question else None,
            recorded_at=self.recorded[question["tx"]] if question.get("tx") is not None else None,
            evidence_until=instant(question["known"]) if "known" in question else None,
        )

    def holding(self, question: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The positive values that hold, as the vectors write them."""
        snapshot = self.snapshot(question)
        asked = StatementFilter(predicates=(question["p"],), polarity=True)
        key = snapshot.key_of(EntityRef(name=question["s"]))
        page = snapshot.statements_about(key, "SUBJECT", asked, first=100, want=frozenset({Want.PROVENANCE}))
        return [
            {
                "o": name(view),
                "basis": view.support.lower(),
                "conflict": view.conflict.lower(),
                "certainty": "certain" if view.certain else "possible",
                "eps": sorted({evidence.episode.external_id or "" for evidence in view.provenance}),
            }
            for view in page.items
            if view.qualifier == question.get("q", "")
        ]

    def differences(self, start: Mapping[str, Any], end: Mapping[str, Any]) -> dict[str, list[list[str]]]:
        """What differs between two bases by kind: subject, predicate, the values before and after."""
        return by_kind(
            [str(view.kind), view.subject.name, view.predicate, *map(name, view.before + view.after)]
            for view in self.graph.diff(self.snapshot(start), self.snapshot(end), first=100).items
        )

    def timeline(self, question: Mapping[str, Any]) -> list[tuple[Instant, Instant, list[str]]]:
        """Segments of the positive values."""
        found = self.snapshot(question).timeline(EntityRef(name=question["s"]), question["p"], question.get("q", ""))
        rows: list[tuple[Instant, Instant, list[str]]] = []
        for segment in found.segments:
            values = sorted(name(view) for view in segment.statements if view.polarity)
            if values and rows and rows[-1][1] == segment.v_from and rows[-1][2] == values:
                rows[-1] = (rows[-1][0], segment.v_to, values)
            elif values:
                rows.append((segment.v_from, segment.v_to, values))
        return rows

    def ask(self, question: Mapping[str, Any]) -> str:
        """yes, no or unknown."""
        object = ObjectRef(name=text(question["o"]))
        found = self.snapshot(question).ask(EntityRef(name=question["s"]), question["p"], object, question.get("q", ""))
        return str(found.value.lower())

    def rectangles(self, question: Mapping[str, Any]) -> list[list[Any]]:
        """Every version of a slot's statements, with transactions by their place."""
        snapshot = self.snapshot(question)
        asked = StatementFilter(predicates=(question["p"],), polarity=True, include_invalidated=True)
        key = snapshot.key_of(EntityRef(name=question["s"]))
        page = snapshot.statements_about(key, "SUBJECT", asked, first=100, want=frozenset({Want.HISTORY}))
        rows = {
            (name(v), h.v_from, h.v_to, self.recorded.index(h.tx_from_at), "inf" if h.tx_to_at is None else self.recorded.index(h.tx_to_at))
            for v in page.items
            for h in v.history
        }
        return [list(row) for row in sorted(rows, key=str)]


def by_kind(rows: Iterable[list[str]]) -> dict[str, list[list[str]]]:
    """Differences as the vectors write them, from rows that begin with the kind."""
    found: dict[str, list[list[str]]] = {"added": [], "removed": [], "changed": []}
    for kind, *row in rows:
        found[kind.lower()].append(row)
    return {kind: sorted(rows) for kind, rows in found.items()}


def name(view: StatementView) -> str:
    """The object's name or lexical value."""
    return view.object.name if isinstance(view.object, EntityView) else view.object.value
