"""What groups say in a namespace of its own, and what is suspected of it."""

from __future__ import annotations

from itertools import count
from typing import Any

from graph.service import LedgerGraph
from graph.views import ChangeReceipt, EntityRef, SuspectedSplit
from ontology.claim import ClaimDraft
from tests.graph.ledger.saying import say
from tests.graph.ledger.worlds import pages

_namespaces = count()


class Talk:
    """A namespace of its own in a ledger, and what is suspected in it."""

    def __init__(self, graph: LedgerGraph) -> None:
        self.graph, self.namespace = graph, f"suspected-{next(_namespaces)}"

    def say(self, said: str, *words: str | ClaimDraft, group: str | None = None, source: str = "chat") -> int:
        return say(self.graph, said, *words, namespace=self.namespace, group=group, source=source).transaction

    def key(self, name: str) -> str:
        return self.graph.snapshot(self.namespace).key_of(EntityRef(name=name))

    def signs(self, name: str = "Alex", **basis: Any) -> tuple[SuspectedSplit, ...]:
        return self.graph.snapshot(self.namespace, **basis).suspected_splits(self.key(name))

    def suspects(self, **basis: Any) -> list[str]:
        snapshot = self.graph.snapshot(self.namespace, **basis)
        return [view.name for view in pages(lambda after: snapshot.suspects(first=1, after=after))]

    def follow(self, sign: SuspectedSplit) -> ChangeReceipt:
        """Do as a sign says."""
        return self.graph.split(self.namespace, sign.entity.key, groups=sign.groups, sources=sign.sources, discriminator=sign.discriminator)

    def join(self, *names: str) -> ChangeReceipt:
        return self.graph.merge(self.namespace, [self.key(name) for name in names])
