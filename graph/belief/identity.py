"""Who is who: from identity claims to what every mention denotes (docs/identity.md).

A mention is a raw key in an episode. A split of the raw key acts first, then the joins that the episode's group tells, then
the components of what is joined everywhere. A pure function of the set of visible identity claims.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from graph.belief.corrections import apply_corrections
from graph.belief.traits import traits_of
from graph.belief.unit import Unit
from ontology.aliases import ambiguous
from ontology.claim import Claim, ClaimKind
from ontology.instant import Instant
from ontology.vocabulary import Predicate, Temporality

IDENTITY = "also_known_as"
"""The predicate of identity claims; always read as static and symmetric, whatever an overlay declares."""

_TRAITS = traits_of(Predicate(IDENTITY, temporal=Temporality.STATIC, symmetric=True))

Pair = tuple[str, str]
"""Two keys, the smaller one first."""


class Group(NamedTuple):
    """What a told join counts in: a group, or the ungrouped episodes of a source."""

    name: str | None
    source: str | None


def group_of(name: str | None, source: str) -> Group:
    """The group of an episode by its group and source."""
    return Group(name, None) if name is not None else Group(None, source)


@dataclass(frozen=True, slots=True)
class IdentityClaim:
    """A join, a denial or (with a scope) a split, in the direction in which it was told: `alias` is another name of `subject`.

    `of_role`: the alias says what somebody is to another ("Ada's sister"). `replaced` are the keys of the pair that a correction
    says was wrong.
    """

    id: str
    episode: str
    place: int
    subject: str
    alias: str
    polarity: bool
    kind: ClaimKind
    rank: int
    said: Instant
    group_name: str | None
    source: str
    by_person: bool
    of_role: bool = False
    replaced: tuple[str, str] | None = None
    scope_group: str | None = None
    scope_source: str | None = None

    @property
    def is_split(self) -> bool:
        """Whether it says of which episodes the evidence speaks of another."""
        return self.scope_group is not None or self.scope_source is not None

    @property
    def group(self) -> Group:
        """The group that it was told in."""
        return group_of(self.group_name, self.source)

    @property
    def affirms(self) -> bool:
        """Whether it speaks for the join; an END is a denial."""
        return self.polarity and self.kind is not ClaimKind.END


@dataclass(frozen=True, slots=True, order=True)
class Split:
    """In episodes of its scope a raw key denotes `target`; of several the greatest acts."""

    rank: int
    said: Instant
    claim: str
    target: str
    scope_group: str | None = field(compare=False)
    scope_source: str | None = field(compare=False)

    def covers(self, group_name: str | None, source: str) -> bool:
        """Whether an episode lies in the scope."""
        return self.scope_group in (None, group_name) and self.scope_source in (None, source)


@dataclass(slots=True)
class Identities:
    """What mentions denote. Keys that are absent denote themselves.

    `roots` name the least member of each component of two or more; `splits` are sorted, the greatest first; `joins` give what
    a key denotes in one group.
    """

    roots: dict[str, str] = field(default_factory=dict)
    splits: dict[str, list[Split]] = field(default_factory=dict)
    joins: dict[tuple[Group, str], str] = field(default_factory=dict)

    def root(self, key: str) -> str:
        """The key of the entity that a key belongs to."""
        return self.roots.get(key, key)

    def after_split(self, raw: str, group_name: str | None, source: str) -> str:
        """What a raw key denotes in an episode by splits alone."""
        splits = self.splits.get(raw)
        if splits is None:
            return raw
        return next((split.target for split in splits if split.covers(group_name, source)), raw)

    def mentioned(self, raw: str, group_name: str | None, source: str) -> str:
        """The key that a mention counts for, before components: after splits and the group's own joins."""
        key = self.after_split(raw, group_name, source)
        return self.joins.get((group_of(group_name, source), key), key) if self.joins else key

    def denoted(self, raw: str, group_name: str | None, source: str) -> str:
        """The entity that a mention denotes."""
        return self.root(self.mentioned(raw, group_name, source))


def identities(claims: Iterable[IdentityClaim]) -> Identities:
    """What the claims say; they must be closed: all that is said of any key that one of them names."""
    found = Identities()
    claims = list(claims)
    for claim in claims:
        if claim.is_split and not claim.affirms:
            split = Split(claim.rank, claim.said, claim.id, claim.alias, claim.scope_group, claim.scope_source)
            found.splits.setdefault(claim.subject, []).append(split)
    for splits in found.splits.values():
        splits.sort(reverse=True)
    spoken = [_Spoken.of(claim, found) for claim in claims]
    everywhere = _Weighed(_counting_everywhere(spoken))
    found.roots = connected(everywhere.pairs)
    parts: dict[str, list[str]] = defaultdict(list)
    for key, root in found.roots.items():
        parts[root].append(key)
    told: dict[Group, list[_Spoken]] = defaultdict(list)
    for each in spoken:
        if not each.claim.by_person:
            told[each.claim.group].append(each)
    counted = set(map(id, everywhere.spoken))
    for group, here in told.items():
        own = [each for each in here if id(each) not in counted]
        if own:
            _join_in_group(found, parts, group, everywhere.joined_with(own), everywhere.pairs, here)
    return found


def connected(pairs: Iterable[Pair]) -> dict[str, str]:
    """The least member for every member of a component."""
    parents: dict[str, str] = {}

    def top(key: str) -> str:
        while (above := parents.setdefault(key, key)) != key:
            parents[key] = parents[above]
            key = above
        return key

    for one, other in pairs:
        low, high = sorted((top(one), top(other)))
        parents[high] = low
    return {key: top(key) for key in list(parents)}


@dataclass(frozen=True, slots=True)
class _Spoken:
    """An identity claim with the keys that its names denote after splits."""

    claim: IdentityClaim
    subject: str
    alias: str
    replaced: Pair | None

    @classmethod
    def of(cls, claim: IdentityClaim, found: Identities) -> _Spoken:
        if claim.is_split:
            # It tells two apart by key: what it splits off is no mention of it.
            return cls(claim, claim.subject, claim.alias, None)
        where = (claim.group_name, claim.source)
        replaced = None
        if claim.replaced is not None:
            one, other = claim.replaced
            replaced = _pair(found.after_split(one, *where), found.after_split(other, *where))
        return cls(claim, found.after_split(claim.subject, *where), found.after_split(claim.alias, *where), replaced)

    @property
    def pair(self) -> Pair:
        return _pair(self.subject, self.alias)

    @property
    def bears_on(self) -> list[Pair]:
        """The pair that it is about, and the one that it says was wrong."""
        return [self.pair] if self.replaced is None else [self.pair, self.replaced]


def _pair(one: str, other: str) -> Pair:
    return (one, other) if one <= other else (other, one)


def _counting_everywhere(spoken: Sequence[_Spoken]) -> list[_Spoken]:
    """Claims on a pair that a person states or two groups tell."""
    witnesses: dict[tuple[Pair, bool], set[Group | None]] = defaultdict(set)
    for each in spoken:
        witnesses[each.pair, each.claim.affirms].add(None if each.claim.by_person else each.claim.group)
    settled = {said for said, who in witnesses.items() if None in who or len(who) > 1}
    return [each for each in spoken if (each.pair, each.claim.affirms) in settled]


def _joined(spoken: Sequence[_Spoken]) -> set[Pair]:
    """The pairs that claims join, by the rule for static predicates."""
    claims = [
        Claim(
            each.claim.id,
            each.claim.episode,
            each.claim.place,
            "",
            "\x1f".join(each.pair),
            each.claim.said,
            each.claim.polarity,
            each.claim.kind,
            rank=each.claim.rank,
            replaces=None if each.replaced is None else "\x1f".join(each.replaced),
        )
        for each in spoken
    ]
    items = defaultdict(list)
    for item in apply_corrections(claims, _TRAITS).items:
        items[item.value].append(item)
    pairs = set()
    for value, on_pair in items.items():
        one, other = value.split("\x1f")
        if one != other and Unit((), _TRAITS, items=on_pair).weigh(value, 0).holds:
            pairs.add((one, other))
    return pairs - _shared_roles(spoken, pairs)


class _Weighed:
    """The claims that count everywhere and the pairs that they join, to weigh a group's own with them."""

    def __init__(self, spoken: Sequence[_Spoken]) -> None:
        self.spoken = spoken
        self.pairs = _joined(spoken)
        self._roles = any(each.claim.of_role for each in spoken)
        self._about: dict[Pair, list[_Spoken]] = defaultdict(list)
        for each in spoken:
            for pair in each.bears_on:
                self._about[pair].append(each)

    def joined_with(self, own: Sequence[_Spoken]) -> set[Pair]:
        """The pairs that all join together. Only what a group's own claims bear on is weighed again."""
        if self._roles or any(each.claim.of_role for each in own):
            # A role may part pairs that nothing else connects.
            return _joined([*self.spoken, *own])
        touched: set[Pair] = set()
        fresh = {pair for each in own for pair in each.bears_on}
        while fresh:
            touched |= fresh
            fresh = {pair for on in fresh for each in self._about.get(on, ()) for pair in each.bears_on} - touched
        again = {each.claim.id: each for pair in touched for each in self._about.get(pair, ())}
        return (self.pairs - touched) | _joined([*again.values(), *own])


def _shared_roles(spoken: Iterable[_Spoken], pairs: set[Pair]) -> set[Pair]:
    """The pairs that a role told of several joins: with "my sister Mia" and "my sister Lea" Mia is not Lea.

    Not those that a person states, and not where something else says that the several are one.
    """
    affirmed = [each for each in spoken if each.claim.affirms and each.pair in pairs]
    stated = {each.pair for each in affirmed if each.claim.by_person}
    shared = ambiguous((each.subject, each.alias) for each in affirmed)
    return {each.pair for each in affirmed if each.claim.of_role and each.alias in shared} - stated


def _join_in_group(
    found: Identities,
    parts: Mapping[str, list[str]],
    group: Group,
    in_group: set[Pair],
    everywhere: set[Pair],
    here: Iterable[_Spoken],
) -> None:
    """Note what keys denote in a group that joins pairs of its own. `parts` are the members of each component by its root."""
    extra = in_group - everywhere
    if not extra:
        return
    components: Mapping[str, str] = connected((found.root(one), found.root(other)) for one, other in extra)
    subjects: dict[str, set[str]] = defaultdict(set)
    aliases: dict[str, set[str]] = defaultdict(set)
    holding = [each for each in here if each.claim.affirms and (each.pair in in_group or each.pair in everywhere)]
    for each in holding:
        component = components.get(found.root(each.subject))
        if component is not None:
            subjects[component].add(each.subject)
            aliases[component].add(each.alias)
    members: dict[str, list[str]] = defaultdict(list)
    for root, component in components.items():
        members[component] += parts.get(root, [root])
    for component, keys in members.items():
        root = min(subjects[component] - aliases[component] or subjects[component] | aliases[component], default=component)
        found.joins.update({(group, key): root for key in keys if found.root(key) != found.root(root)})
