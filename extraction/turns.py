"""Reading one turn: from its parsed passages to claims, and what was dropped and why."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from extraction import apposition, ellipsis, endings, irrealis, nominal, notices, plans
from extraction.arguments import mistagged
from extraction.calendar import Granule, day_of
from extraction.clauses import clauses
from extraction.corrections import Correction, correction
from extraction.dating import Stretch, resolve
from extraction.drafting import Frame, Relation, drafted, frame
from extraction.gate import refusal
from extraction.lexicon import SPEECH_ROLES
from extraction.matching import Match, Patterns
from extraction.mentions import Mentions
from extraction.passage import Passage
from extraction.predication import Clause
from extraction.relations import stated
from extraction.times import When, find_times
from ontology.claim import ClaimDraft, ClaimKind, Modality, ObjectDraft
from ontology.episode import Turn
from ontology.errors import InvalidInput
from ontology.patterns import Tense
from ontology.vocabulary import Vocabulary

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

_TEMPORARY = re.compile(
    r"\b(?:while|temporarily|in\s+the\s+meantime|for\s+the\s+time\s+being|interim|acting|covers?|covering|filling\s+in|fills\s+in|stand(?:s|ing)?\s+in)\b",
    re.IGNORECASE,
)
_ABLE = frozenset({"speaks", "plays", "eats", "drinks", "practices", "dislikes"})
_EVALUATED = frozenset({"is_a", "be", "has_role", "status", "likes", "dislikes", "have"})


_STILL = Frame(Tense.PRESENT, Stretch(), False, False, False, False, False, False, False, False, False)
"""The frame of what a phrase says by itself: true at the time of saying."""


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


class TurnReader:
    """Reads the passages of one turn in order."""

    def __init__(self, turn: Turn, vocabulary: Vocabulary, patterns: Patterns) -> None:
        self._turn = turn
        self._vocabulary = vocabulary
        self._patterns = patterns
        self._mentions = Mentions(turn)
        self._said = _day(turn)
        self._found = Examined()
        self._before = ""
        self._before_count = 0
        self._dreaming = False
        self._quoting = bool(irrealis.quotations(turn.text))
        self._decided = False
        self._last: list[ClaimDraft] = []
        speaker = (turn.speaker or "user").casefold()
        self._personal = speaker not in SPEECH_ROLES or speaker == "user"
        self._machine = speaker in ("assistant", "system", "bot")

    def finish(self) -> Examined:
        """The claims in the order of the text, each once, and what was dropped."""
        for notice in notices.stack(self._turn.text):
            self._notice(notice, (notice.start, notice.end), None)
        seen: set[tuple[object, ...]] = set()
        kept: list[ClaimDraft] = []
        for claim in self._found.claims:
            key = (
                claim.subject.casefold(),
                claim.predicate,
                claim.object.text.casefold(),
                claim.polarity,
                claim.qualifier,
                claim.kind is ClaimKind.END,
            )
            if key not in seen:
                seen.add(key)
                kept.append(claim)
        self._found.claims = sorted(kept, key=lambda claim: claim.start)
        return self._found

    def read(self, passage: Passage, doc: Doc) -> None:
        """Take in the next passage."""
        surfaces = None
        if len(passage.steps) > 1:
            surfaces = [self._turn.text[passage.origin(t.idx) : passage.origin(t.idx + len(t))] or t.text for t in doc]
        self._mentions.read(doc, surfaces)
        text = doc.text
        whens = find_times(text)
        quoted = irrealis.quotations(text)
        self._decided = False
        whole = passage.origin(0), passage.origin(len(text))
        plain = not self._dreaming and irrealis.sentence_unreal(text) is None and not text.rstrip().endswith("?")
        for notice in notices.notices(text) if plain and not self._machine else ():
            self._decided = self._decided or notice.predicate == "decided"
            self._notice(notice, whole, correction(self._turn.text[passage.start : whole[1]]))
        for sentence in doc.sents:
            if sentence.text.strip():
                self._sentence(passage, sentence, whens, quoted)

    def _drop(self, span: tuple[int, int], reason: str) -> None:
        self._found.dropped.append(Dropped(span[0], span[1], reason))

    def _sentence(self, passage: Passage, sentence: Span, whens: list[When], quoted: list[tuple[int, int]]) -> None:
        text = sentence.text.strip()
        span = passage.origin(sentence.start_char), passage.origin(sentence.end_char)
        before, self._before = self._before, text
        earlier, self._before_count = self._before_count, len(self._found.claims)
        if irrealis.joke(text):
            del self._found.claims[earlier:]
            self._drop(span, "joke")
            return
        if not self._machine and (
            notices.directive(text)
            or (notices.conventions(text) and len(text) < 200 and sentence[0].tag_ in ("VB", "VBP", "UH", "NNP", "NN"))
        ):
            whole = self._turn.text[span[0] : span[1]].strip().rstrip(".!")
            self._found.claims.append(
                ClaimDraft(
                    self._mentions.speaker,
                    "directive",
                    ObjectDraft(whole, "xsd:string"),
                    start=span[0],
                    end=span[1],
                    rule="notice:directive",
                    confidence=0.75,
                )
            )
            return
        if irrealis.dream(text):
            self._dreaming = True
        reason = "dream" if self._dreaming else "question" if irrealis.question(sentence) else irrealis.sentence_unreal(text)
        if reason is not None:
            self._drop(span, reason)
            return
        # The cue ("Nope", "Correction:") may stand in front of what is parsed.
        opening = passage.start if sentence.start == 0 else span[0]
        fix = correction(self._turn.text[opening : span[1]], before)
        read = clauses(sentence, [w for w in whens if w.start < sentence.end_char and w.end > sentence.start_char])
        count = len(self._found.claims)
        if sum(token.is_alpha for token in sentence) * 2 < len(sentence) and len(sentence) > 12:
            self._drop(span, "no prose")
            return
        for clause in read:
            self._clause(clause, passage, span, text, quoted, fix)
        for named in apposition.appositions(sentence, self._patterns):
            if not any(start <= named.at.idx < end for start, end in quoted):
                self._emit(named.match, _STILL, None, span, None)
        if len(self._found.claims) == count:
            self._drop(span, "nothing to keep")

    def _clause(
        self, clause: Clause, passage: Passage, span: tuple[int, int], text: str, quoted: list[tuple[int, int]], fix: Correction | None
    ) -> None:
        head = clause.head
        where = passage.origin(head.idx), passage.origin(head.idx + len(head))
        meant = irrealis.reading(clause, quoted)
        planned = plans.plan(clause) if meant.dropped in (None, "unrealised") else None
        source = self._source(meant.source, text)
        context = frame(clause, self._said)
        count = len(self._found.claims)
        if planned is not None:
            known: list[Match] = self._patterns.matches(clause) if planned[2] == plans.ANNOUNCED else []
            told = planned[2] == plans.ANNOUNCED and clause.tense is Tense.FUTURE and not plans.own(clause)
            if not known and not told:
                self._plan(clause, planned, span, source)
                return
        if meant.dropped is not None:
            self._drop(where, meant.dropped)
            return
        if clause.governor is not None:
            self._drop(where, "unrealised")
            return
        if clause.tense is Tense.FUTURE and context.stretch.lo is None and context.stretch.hi is None:
            self._drop(where, "undated promise")
            return
        elliptical = ellipsis.completed(clause, self._last, self._mentions, context)
        if elliptical:
            for draft in elliptical:
                self._found.claims.append(replace(draft, start=span[0], end=span[1]))
            return
        matches = endings.told_apart(stated(clause, self._patterns, self._said, open_too=not self._decided), self._turn.text)
        for who, what in plans.desired(clause):
            self._emit(Match("wants", who, what, "plan:want", 0.6), context, clause, span, source, meant.denied, modality=Modality.DESIRED)
        for match in matches:
            if self._decided and match.predicate == "decided":
                continue
            if clause.modal == "can" and not (match.predicate in _ABLE and (clause.negated or match.predicate in ("speaks", "plays"))):
                continue
            self._emit(match, context, clause, span, source, meant.denied, fix=fix)
        if len(self._found.claims) > count:
            self._last = self._found.claims[count:]
        if fix is not None and fix.change and fix.wrong:
            self._former(self._found.claims[count:], fix.wrong, context)

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

    def _source(self, token: Token | None, text: str) -> str | None:
        """Who reported it: None where nobody or the speaker did."""
        if token is None:
            return irrealis.attributed(text)
        name = self._mentions.name(token, subject=True)
        if name is None:
            return token.text if token.pos_ in ("NOUN", "PROPN") else None
        return None if name == self._mentions.speaker else name

    def _plan(self, clause: Clause, planned: tuple[Modality, str, float], span: tuple[int, int], source: str | None) -> None:
        modality, words, confidence = planned
        words = self._spelled_out(clause, words)
        if not words or len(words.split()) < 2:
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


def _day(turn: Turn) -> Granule:
    """The day of saying; an unknown zone counts as UTC, because a claim must not be lost for a misspelt zone."""
    try:
        return day_of(turn.said, turn.time_zone)
    except InvalidInput:
        return day_of(turn.said, None)


def examined(turn: Turn, vocabulary: Vocabulary, patterns: Patterns, parsed: Iterator[tuple[Passage, Doc]]) -> Examined:
    """What one turn yields, from its parsed passages in order."""
    reader = TurnReader(turn, vocabulary, patterns)
    for passage, doc in parsed:
        reader.read(passage, doc)
    return reader.finish()
