"""Which parts of statements a query selects, so that the parent resolver fetches them for its whole sub-tree at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from graphql import FieldNode, FragmentDefinitionNode, FragmentSpreadNode, InlineFragmentNode, SelectionSetNode
from strawberry.types import Info

from graph.views import Want

_WANTS = {
    "transactionTime": Want.TRANSACTION,
    "invalidation": Want.INVALIDATION,
    "history": Want.HISTORY,
    "provenance": Want.PROVENANCE,
}
_TOLD = frozenset({"text", "confidence", "support", "conflict", "certainty", "lastAttestedAt", "evidenceCount", "fromStated", "toStated"})
"""Fields that only the evidence tells."""
IN_PAGE = ("edges", "node")


def _fields(
    selections: Iterable[SelectionSetNode | None], fragments: Mapping[str, FragmentDefinitionNode], seen: frozenset[str] = frozenset()
) -> Iterator[FieldNode]:
    for selection_set in selections:
        for node in selection_set.selections if selection_set else ():
            if isinstance(node, FieldNode):
                yield node
            elif isinstance(node, InlineFragmentNode):
                yield from _fields([node.selection_set], fragments, seen)
            elif isinstance(node, FragmentSpreadNode) and node.name.value not in seen:
                name = node.name.value
                yield from _fields([fragments[name].selection_set], fragments, seen | {name})


def _parts(nodes: list[FieldNode], fragments: Mapping[str, FragmentDefinitionNode], found: set[Want]) -> None:
    for node in _fields([node.selection_set for node in nodes], fragments):
        want = _WANTS.get(node.name.value)
        if want is not None:
            found.add(want)
        if want is Want.INVALIDATION:
            _parts([inner for inner in _fields([node.selection_set], fragments) if inner.name.value == "by"], fragments, found)


def wanted(info: Info, *path: str) -> frozenset[Want]:
    """The parts selected of the statements at `path` under the resolved field; those inside `invalidation { by }` included.

    Conditions (`@skip`, `@include`) are taken as met: a part too many costs time, never an answer.
    """
    raw = info._raw_info
    nodes = list(raw.field_nodes)
    for name in path:
        nodes = [node for node in _fields([node.selection_set for node in nodes], raw.fragments) if node.name.value == name]
    found: set[Want] = set()
    _parts(nodes, raw.fragments, found)
    if found <= {Want.TRANSACTION} and not _told(nodes, raw.fragments):
        found.add(Want.BARE)
    return frozenset(found)


def wanted_of_both(info: Info, *path: str) -> frozenset[Want]:
    """The parts selected of the statements on either side, `before` and `after`, of what is at `path`."""
    before, after = (wanted(info, *path, side) for side in ("before", "after"))
    found = before | after
    return found if Want.BARE in before & after else found - {Want.BARE}


def _told(nodes: list[FieldNode], fragments: Mapping[str, FragmentDefinitionNode]) -> bool:
    """Whether a field that the evidence tells is selected, of the statements or of their valid time."""
    fields = list(_fields([node.selection_set for node in nodes], fragments))
    periods = _fields([field.selection_set for field in fields if field.name.value == "validTime"], fragments)
    return any(field.name.value in _TOLD for field in (*fields, *periods))
