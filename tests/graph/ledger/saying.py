"""Short ways to say things in tests."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import Any

from graph.service import LedgerGraph
from graph.views import EntityRef, ObjectRef, Receipt, StatedClaim, StatementFilter, StatementView, Truth, Want
from ontology.claim import ClaimDraft, ClaimKind, ObjectDraft
from ontology.edtf import parse_edtf
from ontology.episode import EpisodeDraft
from ontology.instant import UNBOUNDED_FUTURE, UNBOUNDED_PAST, Instant
from tests.graph.ledger.worlds import shown

ALWAYS = StatementFilter(valid_during=(UNBOUNDED_PAST, UNBOUNDED_FUTURE))
WHOLE = frozenset(Want)
_names = count()


def when(text: str) -> Instant:
    """The first instant of a date or time."""
    return parse_edtf(text).lo


def claim(words: str, **fields: Any) -> ClaimDraft:
    """`subject predicate object` as a claim; a leading `not` denies. `replaces` is a name, `kind` a text."""
    parts = words.split()
    denied = parts[0] == "not"
    subject, predicate, *rest = parts[denied:]
    if "replaces" in fields:
        fields["replaces"] = ObjectDraft(fields["replaces"])
    fields["kind"] = ClaimKind(fields.get("kind", "STATE"))
    return ClaimDraft(subject, predicate, ObjectDraft(" ".join(rest)), polarity=not denied, **fields)


def say(graph: LedgerGraph, said: str, *words: str | ClaimDraft, namespace: str = "n", **episode: Any) -> Receipt:
    """An episode with stated statements; its content is given by `content`, else there is none."""
    claims = [StatedClaim(claim(one) if isinstance(one, str) else one) for one in words]
    content = episode.pop("content", "")
    draft = EpisodeDraft(content, **{"source": "chat", "external_id": f"e{next(_names)}", "said_at": said, **episode})
    return graph.record_stated(namespace, draft, [replace(one, quote=content or None) for one in claims])


def now(graph: LedgerGraph, at: str, namespace: str = "n", **basis: Any) -> list[str]:
    """What holds at a time, in words."""
    return sorted(words(view) for view in views(graph, namespace=namespace, valid_at=when(at), **basis))


def words(view: StatementView) -> str:
    """A statement in words."""
    return f"{'' if view.polarity else 'not '}{view.subject.name} {view.predicate} {shown(view.object)}"


def spans(graph: LedgerGraph, namespace: str = "n", **basis: Any) -> dict[str, list[tuple[Instant, Instant]]]:
    """Where every statement holds."""
    found: dict[str, list[tuple[Instant, Instant]]] = {}
    for view in views(graph, ALWAYS, namespace=namespace, **basis):
        found.setdefault(words(view), []).append((view.v_from, view.v_to))
    return {key: sorted(rows) for key, rows in found.items()}


def views(graph: LedgerGraph, filter: StatementFilter | None = None, *, namespace: str = "n", **basis: Any) -> list[StatementView]:
    """The statements of a snapshot, whole."""
    return list(graph.snapshot(namespace, **basis).statements(filter or StatementFilter(), first=100, want=WHOLE).items)


def one(graph: LedgerGraph, text: str, filter: StatementFilter = ALWAYS, **basis: Any) -> StatementView:
    """The only statement of those words."""
    (found,) = [view for view in views(graph, filter, **basis) if words(view) == text]
    return found


def ask(graph: LedgerGraph, text: str, at: str, namespace: str = "n", **basis: Any) -> Truth:
    """Whether something is the case at a time."""
    subject, predicate, *rest = text.split()
    snapshot = graph.snapshot(namespace, valid_at=when(at), **basis)
    return snapshot.ask(EntityRef(name=subject), predicate, ObjectRef(name=" ".join(rest))).value
