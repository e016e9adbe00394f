"""Keeping what a turn states: from relations, notices and plans to claims of the turn, and the reasons of what is dropped."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from extraction import endings, irrealis, nominal, notices, plans
from extraction.arguments import mistagged
from extraction.calendar import Granule, day_of
from extraction.corrections import Correction
from extraction.dating import resolve
from extraction.drafting import Frame, Relation, drafted, frame
from extraction.gate import refusal
from extraction.lexicon import SPEECH_ROLES
from extraction.matching import Match
from extraction.mentions import Mentions
from extraction.predication import Clause
from extraction.times import find_times
from ontology.claim import ClaimDraft, ClaimKind, Modality, ObjectDraft
from ontology.episode import Turn
from ontology.errors import InvalidInput
from ontology.patterns import Tense
from ontology.vocabulary import Vocabulary

if TYPE_CHECKING:
    from spacy.tokens import Token

_TEMPORARY = re.compile(
    r"\b(?:while|temporarily|in\s+the\s+meantime|for\s+the\s+time\s+being|interim|acting|covers?|covering|filling\s+in|fills\s+in|stand(?:s|ing)?\s+in)\b",
    re.IGNORECASE,
)
_EVALUATED = frozenset({"is_a", "be", "has_role", "status", "likes", "dislikes", "have"})


@dataclass(frozen=True, slots=True)
class Dropped:
    """A piece of a turn that yields no claim: half-open characters and the reason."""

    start: int
    end: int
    reason: str


@dataclass(slots=True)
class Examined:
    """What a turn yields."""

    claims: list[ClaimDraft] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)


class Recorder:
    """Holds what one turn has yielded so far. Protected: TurnReader is its only user."""

    def __init__(self, turn: Turn, vocabulary: Vocabulary) -> None:
        self._turn = turn
        self._vocabulary = vocabulary
        self._mentions = Mentions(turn)
        self._said = _day(turn)
        self._found = Examined()
        speaker = (turn.speaker or "user").casefold()
        self._personal = speaker not in SPEECH_ROLES or speaker == "user"
        self._machine = speaker in ("assistant", "system", "bot")
        self._quoting = bool(irrealis.quotations(turn.text))

    def _drop(self, span: tuple[int, int], reason: str) -> None:
        self._found.dropped.append(Dropped(span[0], span[1], reason))

    def _emit(
        self, match: Match, context: Frame, clause: Clause | None, span: tuple[int, int], source: str | None, denied: bool = False, *,
        fix: Correction | None = None, modality: Modality | None = None,
    ) -> None:  # fmt: skip
        subject, target = self._end(match.subject, True), self._end(match.object, False)
        if subject is None or target is None:
            self._drop(span, "unresolved")
            return
        if match.subject is None and not self._personal:
            self._drop(span, "no speaker")
            return
        if match.predicate == "has_role" and not isinstance(match.object, str):
            target = nominal.occupation(target)
            if self._quoting and subject == self._mentions.speaker:
                match.confidence = min(match.confidence, 0.4)
        if match.predicate == "speaks" and len(target.split()) > 1 and target[:1].islower():
            # "fluent Italian"
            target = " ".join(target.split()[1:])
        if match.predicate == "configured_as":
            subject, match.qualifier = nominal.setting(subject, match.qualifier)
        if match.qualifier == "port" and target.casefold() == "port" and not isinstance(match.object, str):
            following = match.object.nbor(1) if match.object.i + 1 < len(match.object.doc) else None
            if following is None or not following.text[:1].isdigit():
                self._drop(span, "vague object")
                return
            target = following.text
        if match.qualifier and target.casefold().startswith(f"{match.qualifier} ") and match.predicate == "configured_as":
            target = target[len(match.qualifier) :].strip()
        reason = refusal(match, subject, target, clause, self._mentions)
        if reason is not None:
            self._drop(span, reason)
            return
        confidence = match.confidence
        if self._machine and (subject == self._mentions.speaker or not self._vocabulary.predicate(match.predicate).declared):
            confidence = min(confidence, 0.4)
        if clause is not None and clause.head.dep_ in ("acl", "advcl") and clause.head.tag_ == "VBG" and subject != self._mentions.speaker:
            # "a page using X": what the participle hangs on is often not its subject.
            confidence = min(confidence, 0.4)
        if match.predicate in ("likes", "dislikes") and context.tense is Tense.PAST and not context.ended:
            # "I loved the show" tells of an evening, not of a taste.
            confidence = min(confidence, 0.4)
        if subject == self._mentions.addressee and match.subject is not None and match.predicate in _EVALUATED:
            confidence = min(confidence, 0.4)
        predicate = self._vocabulary.predicate(match.predicate)
        if subject == self._turn.project and predicate.domain == "Person":
            # "we" is the project here, and a project lives nowhere and is employed by nobody.
            confidence = min(confidence, 0.4)
        relation = Relation(predicate, subject, target, match.rule, confidence, match.kind, match.polarity, match.qualifier)
        draft = drafted(relation, context, span, source, denied)
        goes_on = endings.continued(match, clause) if clause is not None else False
        if goes_on is None:
            self._drop(span, "no ending")
            return
        if goes_on:
            draft = replace(draft, polarity=True, kind=ClaimKind.STATE, valid_from=None, valid_to=None)
        if modality is not None:
            draft = replace(draft, modality=modality)
        if fix is not None and not fix.change and draft.kind is not ClaimKind.END:
            wrong = fix.replaced(target)
            draft = replace(draft, kind=ClaimKind.CORRECTION, replaces=ObjectDraft(wrong, draft.object.datatype) if wrong else None)
        elif (
            draft.kind in (ClaimKind.STATE, ClaimKind.CHANGE)
            and context.stretch.hi is not None
            and context.since
            and clause is not None
            and context.tense is not Tense.PAST
            and _TEMPORARY.search(clause.sentence.text)
        ):
            lo = context.stretch.lo
            draft = replace(draft, kind=ClaimKind.PATCH, valid_from=str(lo) if lo else None, valid_to=str(context.stretch.hi))
        self._found.claims.append(draft)
        if match.previous is not None:
            former = self._end(match.previous, False)
            if former is not None and former != target:
                self._found.claims.append(
                    replace(
                        draft,
                        object=ObjectDraft(former, draft.object.datatype),
                        # Who has not moved from A to B is still at A.
                        kind=ClaimKind.END if draft.polarity else ClaimKind.STATE,
                        polarity=True,
                        valid_from=None,
                        valid_to=draft.valid_from if draft.polarity else None,
                        rule=f"{draft.rule}+former",
                    )
                )

    def _end(self, end: Token | str | None, subject: bool) -> str | None:
        """The name of a subject or object; None where nothing is named."""
        if end is None or end == "*speaker":
            return self._mentions.speaker
        if isinstance(end, str):
            return end if end.strip() else None
        if end.pos_ == "VERB" and not subject and mistagged(end.head, end):
            return end.text
        if end.pos_ == "VERB" and not subject:
            return plans.verb_words(end) or None
        return self._mentions.name(end, subject=subject)

    def _former(self, claims: list[ClaimDraft], wrong: str, context: Frame) -> None:
        """ "8443 now, not 8080": the other value has ended."""
        for claim in list(claims):
            if claim.polarity and claim.kind is not ClaimKind.END and wrong.casefold() not in claim.object.text.casefold():
                self._found.claims.append(
                    replace(
                        claim,
                        object=ObjectDraft(wrong, claim.object.datatype),
                        kind=ClaimKind.END,
                        valid_from=None,
                        valid_to=claim.valid_from,
                        rule=f"{claim.rule}+former",
                    )
                )

    def _notice(self, notice: notices.Notice, span: tuple[int, int], fix: Correction | None) -> None:
        subject = notice.subject or self._mentions.speaker
        subject = self._mentions.group if subject.casefold() == "we" else subject
        lo = hi = None
        words = notice.object
        whens = find_times(self._turn.text[span[0] : span[1]])
        if notice.predicate == "birth_date":
            day = next((stretch.lo for when in find_times(words) if (stretch := resolve(when, self._said, False)) is not None), None)
            if day is None:
                return
            words = str(day)
        elif notice.dated:
            lo = next((s.lo for when in whens if when.role == "since" and (s := resolve(when, self._said, False)) is not None), None)
        elif notice.by:
            hi = next(
                (stretch.hi for when in whens if when.role == "by" and (stretch := resolve(when, self._said, True)) is not None), None
            )
        elif notice.predicate == "decided":
            dated = [s for w in whens[:1] if w.role == "at" and w.start < 40 and (s := resolve(w, self._said, False)) is not None]
            lo = dated[0].lo if dated else None
        predicate = self._vocabulary.predicate(notice.predicate)
        kind = ClaimKind.CORRECTION if fix is not None and not fix.change else ClaimKind.STATE
        self._found.claims.append(
            ClaimDraft(
                subject, notice.predicate, ObjectDraft(words, predicate.literal_range), qualifier=notice.qualifier, kind=kind,
                valid_from=str(lo) if lo else None,
                valid_to=str(hi) if hi else None, start=span[0], end=span[1], rule=notice.rule, confidence=notice.confidence,
            )
        )  # fmt: skip

    def _plan(self, clause: Clause, planned: tuple[Modality, str, float], span: tuple[int, int], source: str | None) -> None:
        modality, words, confidence = planned
        words = self._spelled_out(clause, words)
        if not words or len(words.split()) < 2 or words.split()[-1].casefold() in ("there", "that", "this", "so"):
            # "a trip there": nobody would know where.
            return
        forward = replace(frame(clause, self._said), tense=Tense.FUTURE)
        lo, hi = forward.stretch.lo, forward.stretch.hi
        ahead = [resolve(when, self._said, True) for when in clause.whens]
        for stretch in ahead:
            if stretch is not None:
                lo, hi = stretch.lo or lo, None if stretch.point else stretch.hi
        if lo is not None and lo.last < self._said.first:
            return
        for name in self._holders(clause):
            if name is None or (name == self._mentions.addressee):
                continue
            predicate = "plans_to" if modality is Modality.PLANNED else "wants"
            self._found.claims.append(
                ClaimDraft(
                    name, predicate, ObjectDraft(words, "xsd:string"), polarity=not clause.negated, modality=modality,
                    valid_from=str(lo) if lo else None,
                    valid_to=str(hi) if hi else None, attributed_to=source, start=span[0], end=span[1], rule=f"plan:{predicate}",
                    confidence=confidence if self._personal or not clause.implied else 0.4,
                )
            )  # fmt: skip

    def _spelled_out(self, clause: Clause, words: str) -> str:
        """The words of a plan with "it" replaced by what it stands for."""
        for object_ in clause.objects:
            if object_.lower_ in ("it", "them") and words.split()[-1:] == [object_.text]:
                name = self._mentions.name(object_)
                if name is None:
                    return ""
                return " ".join([*words.split()[:-1], name.split("'s ")[-1]])
        return words

    def _holders(self, clause: Clause) -> list[str | None]:
        if clause.implied:
            return [self._mentions.speaker if self._personal else None]
        return [self._mentions.name(token, subject=True) for token in clause.subjects]


def _day(turn: Turn) -> Granule:
    """The day of saying; an unknown zone counts as UTC, because a claim must not be lost for a misspelt zone."""
    try:
        return day_of(turn.said, turn.time_zone)
    except InvalidInput:
        return day_of(turn.said, None)
