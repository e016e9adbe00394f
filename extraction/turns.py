"""Reading one turn: from its parsed passages to claims, and what was dropped and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from extraction import apposition, ellipsis, endings, irrealis, joins, naming, nicknames, notices, plans
from extraction.clauses import clauses
from extraction.corrections import Correction, correction
from extraction.dating import Stretch
from extraction.drafting import Frame, frame
from extraction.matching import Match, Patterns
from extraction.passage import Passage
from extraction.predication import Clause
from extraction.recording import Examined, Recorder
from extraction.relations import stated
from extraction.scaffolding import blanked, scaffolding
from extraction.times import When, find_times
from ontology.claim import ClaimDraft, ClaimKind, Modality, ObjectDraft
from ontology.episode import Turn
from ontology.patterns import Tense
from ontology.vocabulary import Vocabulary

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

_ABLE = frozenset({"speaks", "plays", "eats", "drinks", "practices", "dislikes"})
_STILL = Frame(Tense.PRESENT, Stretch(), False, False, False, False, False, False, False, False, False)
"""The frame of what a phrase says by itself: true at the time of saying."""


class TurnReader(Recorder):
    """Reads the passages of one turn in order."""

    def __init__(self, turn: Turn, vocabulary: Vocabulary, patterns: Patterns) -> None:
        super().__init__(turn, vocabulary)
        self._patterns = patterns
        self._before = ""
        self._before_count = 0
        self._dreaming = False
        self._decided = False
        self._last: list[ClaimDraft] = []

    def finish(self) -> Examined:
        """The claims in the order of the text, each once, and what was dropped."""
        for notice in notices.stack(blanked(self._turn.text, scaffolding(self._turn.text))):
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
        kept = joins.settled(kept, self._turn.text, machine=self._machine)
        self._found.claims = sorted(kept, key=lambda claim: claim.start)
        return self._found

    def read(self, passage: Passage, doc: Doc) -> None:
        """Take in the next passage."""
        surfaces = None
        if len(passage.steps) > 1:
            surfaces = [self._turn.text[passage.origin(t.idx) : passage.origin(t.idx + len(t))] or t.text for t in doc]
            if passage.stands_for:
                surfaces[0] = passage.stands_for
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
        outer = [(passage.origin(start), passage.origin(end)) for start, end in quoted]
        for notice in nicknames.nicknames(self._turn.text[passage.start : whole[1]], self._mentions.addressee) if plain else ():
            at = passage.start + notice.start, passage.start + notice.end
            if not any(start <= passage.start + notice.start < end for start, end in outer):
                self._notice(notice, at, None)
        for sentence in doc.sents:
            if sentence.text.strip():
                self._sentence(passage, sentence, whens, quoted)

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
        for given in naming.beside(sentence, self._mentions):
            match = None if any(start <= given.role.idx < end for start, end in quoted) else given.match(self._mentions)
            if match is not None:
                self._emit(match, _STILL, None, span, None)
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
        matches += naming.stated(clause, self._mentions)
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

    def _source(self, token: Token | None, text: str) -> str | None:
        """Who reported it: None where nobody or the speaker did."""
        if token is None:
            return irrealis.attributed(text)
        name = self._mentions.name(token, subject=True)
        if name is None:
            return token.text if token.pos_ in ("NOUN", "PROPN") else None
        return None if name == self._mentions.speaker else name


def examined(turn: Turn, vocabulary: Vocabulary, patterns: Patterns, parsed: Iterator[tuple[Passage, Doc]]) -> Examined:
    """What one turn yields, from its parsed passages in order."""
    reader = TurnReader(turn, vocabulary, patterns)
    for passage, doc in parsed:
        reader.read(passage, doc)
    return reader.finish()
