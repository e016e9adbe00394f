"""What may be done to a ledger as plain data, and the claims that are in the set after some of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ontology.claim import CANDIDATE_BELOW, ClaimDraft, Modality, ObjectDraft
from ontology.edtf import parse_edtf
from ontology.instant import Instant
from ontology.names import normalise
from ontology.vocabulary import Vocabulary
from tests.graph.ledger.strategies import Told, Withdrawn

SAME = "also_known_as"
Name = tuple[str, str]
"""(normalised name, discriminator)."""


@dataclass(frozen=True)
class Merged:
    """`mergeEntities` of two; `label` names it in rejections."""

    label: str
    names: tuple[Name, Name]
    said: Instant


@dataclass(frozen=True)
class Divided:
    """`splitEntity`: one claim for each combination of groups and sources, in their order. `text` is the name as it is written."""

    label: str
    text: str
    discriminator: str
    said: Instant
    groups: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()

    @property
    def name(self) -> Name:
        return raw(self.text)

    @property
    def scopes(self) -> list[tuple[str | None, str | None]]:
        return [(group, source) for group in self.groups or (None,) for source in self.sources or (None,)]


@dataclass(frozen=True)
class Rejected:
    """Claims at a place of an episode (its external ID, or a label)."""

    episode: str
    place: int
    restore: bool = False


Operation = Told | Withdrawn | Merged | Divided | Rejected


@dataclass(frozen=True)
class Said:
    """One claim in the set. `ends` are the raw names of subject and object (None: a literal)."""

    episode: str
    place: int
    draft: ClaimDraft
    ends: tuple[Name, Name | None]
    said: Instant
    rank: int = 0
    told: bool = False
    group: str | None = None
    source: str | None = None
    by_key: bool = False
    scope: tuple[str | None, str | None] | None = None
    copy: str = ""
    """The text of the copy that it stands in."""

    @property
    def home(self) -> str:
        """The group that the claim was told in; a source is none of the groups."""
        return f"group {self.group}" if self.group is not None else f"source {self.source}"

    @property
    def names(self) -> bool:
        """Whether it attests names."""
        return self.draft.confidence >= CANDIDATE_BELOW and self.draft.modality is not Modality.HYPOTHETICAL

    @property
    def believed(self) -> bool:
        """Whether it is evidence."""
        drawn = self.draft.modality not in (Modality.ASSERTED, Modality.REPORTED) or self.draft.predicate in ("plans_to", "wants")
        return self.draft.confidence >= CANDIDATE_BELOW and not drawn


def raw(name: str) -> Name:
    """What a name denotes by itself."""
    return normalise(name), ""


def said_at(told: Told) -> Instant:
    """When an episode was said."""
    return parse_edtf(told.draft.said_at or "").lo


def evidence(operations: Sequence[Operation], vocabulary: Vocabulary) -> list[Said]:
    """The claims in the set after some operations: of current copies, neither withdrawn nor rejected."""
    rejected: set[object] = set()
    for place, one in enumerate(operations):
        if isinstance(one, Rejected):
            for claim, words in _recorded(operations[:place], vocabulary):
                if (claim.episode, claim.place) == (one.episode, one.place):
                    (rejected.discard if one.restore else rejected.add)(words)
    return [claim for claim, words in _recorded(operations, vocabulary) if words not in rejected]


def _recorded(operations: Sequence[Operation], vocabulary: Vocabulary) -> list[tuple[Said, object]]:
    """Claims of current copies with what identifies each for rejections."""
    withdrawn = {one.external_id for one in operations if isinstance(one, Withdrawn)}
    current: dict[tuple[str, str], Told] = {}
    found: list[tuple[Said, object]] = []
    for one in operations:
        if isinstance(one, Merged):
            draft = ClaimDraft(one.names[0][0], SAME, ObjectDraft(one.names[1][0]))
            found.append((Said(one.label, 0, draft, one.names, one.said, by_key=True), one.label))
        elif isinstance(one, Divided):
            divided = (one.name, (one.name[0], one.discriminator))
            draft = ClaimDraft(one.text, SAME, ObjectDraft(one.text), polarity=False)
            for place, scope in enumerate(one.scopes):
                found.append((Said(one.label, place, draft, divided, one.said, by_key=True, scope=scope), (one.label, place)))
        elif isinstance(one, Told):
            key = (one.draft.source, one.draft.external_id or "")
            if key not in current or _copy(current[key]) < _copy(one):
                current[key] = one
    for told in current.values():
        label = told.draft.external_id or ""
        if told.draft.source == "chat" and label in withdrawn:
            continue
        seen: Counter[object] = Counter()
        for place, claim in enumerate(told.claims):
            other = None if claim.object.datatype is not None else raw(claim.object.text)
            rank = told.draft.rank - (claim.modality is Modality.REPORTED)
            ends = (raw(claim.subject), other)
            group, source = told.draft.group, told.draft.source
            said = Said(label, place, claim, ends, said_at(told), rank, not told.stated, group, source, copy=told.draft.content)
            words = _words(said, vocabulary)
            seen[words] += 1
            found.append((said, (source, label, words, seen[words])))
    return found


def _copy(told: Told) -> tuple[Instant, str]:
    return parse_edtf(told.draft.revised_at or told.draft.said_at or "").lo, told.draft.content


def _words(claim: Said, vocabulary: Vocabulary) -> object:
    """What a claim says, whatever its place, confidence and direction."""
    canonical = vocabulary.canonical(claim.draft.predicate)
    ends: object = claim.ends[::-1] if canonical.swapped else claim.ends
    if canonical.predicate.symmetric:
        ends = frozenset(claim.ends)
    wrong = claim.draft.replaces
    bare = replace(claim.draft, subject="", object=ObjectDraft("", claim.draft.object.datatype), replaces=None, start=0, end=0)
    bare = replace(bare, predicate=canonical.predicate.name, polarity=bare.polarity != canonical.negated, confidence=1.0, rule="")
    return ends, wrong and normalise(wrong.text), replace(bare, subject_type=None, object_type=None)
