"""Who is who by brute force: docs/identity.md in executable form, sharing no code with the ledger.

`identity_operations` is what was done so far, as plain data; `Identity` says what each mention denotes; what holds then is in
`identity_picture`. Names are (normalised, discriminator); keys are compared only where the rules do, by `order`.

docs/identity.md says all that users can see; what is left to read here:

1.  A split is of one raw key, the one given; other names of its entity keep what they denote. A split's own two names are not read by
    splits either.
2.  Identity claims name like others do: from confidence .5, not hypothetical.
3.  Finding by a name asks what its mentions denote, those in identity claims included and read through all three steps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from functools import cached_property

from graph.belief.traits import traits_of
from graph.belief.unit import Unit
from ontology.claim import Claim, ClaimKind
from ontology.instant import UNBOUNDED_FUTURE, Instant
from ontology.vocabulary import Vocabulary
from tests.graph.ledger.identity_operations import SAME, Name, Said, raw

Entity = frozenset[Name]
Order = Callable[[Name], str]
"""The key of a name."""


class Identity:
    """What mentions denote, by the claims said up to an instant."""

    def __init__(self, claims: Iterable[Said], vocabulary: Vocabulary, order: Order, said_until: Instant = UNBOUNDED_FUTURE) -> None:
        self.claims = [claim for claim in claims if claim.said <= said_until]
        self.order = order
        self._traits = traits_of(vocabulary.predicate(SAME))
        self._homes: dict[str, set[frozenset[Name]]] = {}

    # -- 1. splits

    def read(self, name: Name, claim: Said) -> Name:
        """The name, or the entity that the strongest split of it makes of it in the claim's episode."""
        if claim.by_key:
            return name
        acting = [
            split
            for split in self.claims
            if split.scope is not None
            and split.ends[0] == name
            and split.scope[0] in (None, claim.group)
            and split.scope[1] in (None, claim.source)
        ]
        best = max(acting, key=lambda split: (split.rank, split.said), default=None)
        return name if best is None or best.ends[1] is None else best.ends[1]

    # -- joins

    def pair(self, claim: Said) -> frozenset[Name]:
        """The two names that an identity claim is about."""
        return frozenset(self.read(end, claim) for end in claim.ends if end is not None)

    @cached_property
    def about(self) -> list[Said]:
        """Identity claims that are evidence and speak of two names."""
        return [claim for claim in self.claims if claim.draft.predicate == SAME and claim.believed and len(self.pair(claim)) == 2]

    @cached_property
    def everywhere(self) -> set[frozenset[Name]]:
        """Pairs that are joined everywhere."""
        return self._joined([claim for claim in self.about if self.counts_everywhere(claim)])

    def counts_everywhere(self, claim: Said) -> bool:
        """A person's claim does; a told one where a person or a second group says the same."""
        same = [other for other in self.about if self.pair(other) == self.pair(claim) and affirms(other) == affirms(claim)]
        return any(not other.told for other in same) or len({other.home for other in same}) > 1

    def joined_in(self, home: str) -> set[frozenset[Name]]:
        """Pairs that are joined in a group, by what counts everywhere and what was told there."""
        if home not in self._homes:
            self._homes[home] = self._joined([c for c in self.about if self.counts_everywhere(c) or (c.told and c.home == home)])
        return self._homes[home]

    def _joined(self, counted: list[Said]) -> set[frozenset[Name]]:
        """Corrections act first; then the greatest (rank, said) wins and a tie holds."""
        claims = []
        for number, claim in enumerate(counted):
            wrong = None
            if claim.draft.replaces is not None:
                wrong = frozenset({self.read(claim.ends[0], claim), self.read(raw(claim.draft.replaces.text), claim)})
            pair = self.pair(claim)
            draft = claim.draft
            claims.append(
                Claim(
                    str(number),
                    claim.episode,
                    claim.place,
                    "",
                    _written(pair),
                    claim.said,
                    draft.polarity,
                    draft.kind,
                    rank=claim.rank,
                    replaces=None if wrong is None else _written(wrong),
                )
            )
        unit = Unit(claims, self._traits)
        return {pair for pair in map(self.pair, counted) if unit.weigh(_written(pair), 0).holds}

    # -- 2. and 3. from a mention to an entity

    def component(self, name: Name) -> Entity:
        """All names that are joined everywhere with one."""
        return _reached(name, self.everywhere)

    def denoted(self, name: Name, claim: Said) -> Entity:
        """The entity that a name denotes in the episode of a claim."""
        name = self.read(name, claim)
        if claim.by_key:
            return self.component(name)
        here = self.joined_in(claim.home)
        cluster = _reached(name, self.everywhere | here)
        if cluster == self.component(name):
            return cluster
        affirmed = [c for c in self.about if c.told and c.home == claim.home and affirms(c)]
        told = [c for c in affirmed if self.pair(c) in here and self.pair(c) <= cluster]
        ends = [[self.read(end, c) for end in c.ends if end is not None] for c in told]
        alone = {one for one, _ in ends} - {other for _, other in ends}
        root = min(alone or {name for pair in ends for name in pair}, key=self.order)
        return self.component(root)

    # -- names

    @cached_property
    def mentions(self) -> list[tuple[str, Name, Said]]:
        """Every name as it was written, its raw key, and the claim that it stands in."""
        naming = [claim for claim in self.claims if claim.names]
        texts = [(claim.draft.subject, claim.ends[0], claim) for claim in naming if not claim.by_key]
        naming = [claim for claim in naming if not claim.by_key or claim.scope is not None]
        return texts + [(claim.draft.object.text, claim.ends[1], claim) for claim in naming if claim.ends[1] is not None]

    @cached_property
    def entities(self) -> set[Entity]:
        """Every entity that something is known of."""
        return {self.denoted(name, claim) for _, name, claim in self.mentions}

    def name(self, entity: Entity) -> str | None:
        """The most attested name of its members, of equal ones the smallest."""
        counts = Counter(text for text, name, claim in self.mentions if self._is_member(name, claim, entity))
        return min(counts, key=lambda text: (-counts[text], text), default=None)

    def aliases(self, entity: Entity) -> set[str]:
        """All other names that denote it, everywhere or in a group."""
        return {text for text, name, claim in self.mentions if self.denoted(name, claim) == entity} - {self.name(entity)}

    def _is_member(self, name: Name, claim: Said, entity: Entity) -> bool:
        return self.read(name, claim) in entity and self.denoted(name, claim) == entity

    def key(self, entity: Entity) -> str:
        """Its least member key."""
        return min(map(self.order, entity))

    def found(self, name: Name) -> Entity:
        """The entity that asking for a name finds: its own, else the least of those that all its mentions denote."""
        denoted = {self.denoted(raw, claim) for _, raw, claim in self.mentions if raw == name}
        # Of a name that nothing mentions now its splits tell.
        parted = [claim.ends[1] for claim in self.claims if claim.scope is not None and claim.ends[0] == name]
        denoted = denoted or {self.component(other) for other in parted if other is not None}
        own = self.component(name)
        return own if own in self.entities or not denoted else min(denoted, key=self.key)


def affirms(claim: Said) -> bool:
    """Whether an identity claim joins; an END of what never changes is a denial."""
    return claim.draft.polarity and claim.draft.kind is not ClaimKind.END


def _written(pair: frozenset[Name]) -> str:
    return repr(sorted(pair))


def _reached(name: Name, pairs: Iterable[frozenset[Name]]) -> Entity:
    """All names that pairs connect with one, itself too."""
    found, before = {name}, 0
    while len(found) != before:
        before = len(found)
        for pair in pairs:
            if pair & found:
                found |= pair
    return frozenset(found)
