"""Clauses: a verb with its arguments, tense, polarity and time, as the parse gives them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from extraction.lexicon import LIGHT_VERBS
from extraction.times import When
from ontology.patterns import Tense

if TYPE_CHECKING:
    from spacy.tokens import Span, Token

SUBJECTS = ("nsubj", "nsubjpass")
MAX_CLAUSES = 40
"""Clauses of one sentence that are read; a longer one is a list or machine text."""
_END_VERBS = {"stop", "quit", "cease", "give"}
_INTERJECTIONS = {"nope", "no", "yes", "yeah", "yep", "yup", "nah", "ok", "okay", "oh", "well", "hey", "haha", "lol", "thanks"}
_QUANTITIES = {"bit", "lot", "little", "touch", "couple", "pair", "cup", "glass", "slice", "bunch", "ton"}
_TASTED = {"hate", "love", "like", "eat", "drink", "adore", "dislike", "prefer"}
_PAST_TOO = {"quit", "split", "cut", "put", "set", "hit", "shut", "let"}
"""Verbs whose past looks like their infinitive."""
_START_VERBS = {"start", "begin", "resume", "take"}
_CHANGES = {
    "switch",
    "move",
    "migrate",
    "change",
    "go",
    "upgrade",
    "downgrade",
    "rename",
    "roll",
    "convert",
    "port",
    "transition",
    "revert",
}


@dataclass(slots=True)
class Clause:
    """One predication. Token lists are heads of noun phrases, conjuncts included.

    `implied`: the subject was left out and is the speaker. `former`: "used to" or "stopped": it held before. `begun`: "started
    doing". `governor` is the verb that this one completes ("want to go"), None for others.
    """

    head: Token
    sentence: Span
    subjects: list[Token] = field(default_factory=list)
    implied: bool = False
    objects: list[Token] = field(default_factory=list)
    attributes: list[Token] = field(default_factory=list)
    prepositions: list[tuple[str, list[Token]]] = field(default_factory=list)
    loose: list[tuple[str, list[Token]]] = field(default_factory=list)
    particle: str = ""
    passive: bool = False
    tense: Tense = Tense.PRESENT
    progressive: bool = False
    modal: str = ""
    negated: bool = False
    never: bool = False
    no_longer: bool = False
    former: bool = False
    begun: bool = False
    also: bool = False
    now: bool = False
    whens: list[When] = field(default_factory=list)
    governor: Token | None = None
    imperative: bool = False

    @property
    def lemma(self) -> str:
        """Lemma of the head with its particle."""
        return f"{lemma(self.head)} {self.particle}".strip()

    def after(self, *words: str, direct: bool = False) -> list[Token]:
        """Objects of the first of these prepositions that the clause has; `direct`: not those that hang on its nouns."""
        for word in words:
            for preposition, objects in self.prepositions if direct else [*self.prepositions, *self.loose]:
                if preposition == word and objects:
                    return objects
        return []


def lemma(token: Token) -> str:
    """Lemma in lower case; "'s" and "'m" are "be"."""
    found: str = token.lemma_.casefold()
    if found in ("'s", "'m", "'re", "’s", "s", "m", "re") and token.pos_ in ("AUX", "VERB"):
        return "be"
    if found == "hat" and token.pos_ == "VERB":
        # The lemmatizer's "hates".
        return "hate"
    return {"'ve": "have", "’ve": "have", "'d": "have", "ai": "be"}.get(found, found)


def conjuncts(token: Token) -> list[Token]:
    """A head and the heads that are coordinated with it."""
    found, at = [token], token
    while len(found) < 12:
        following = next((c for c in at.children if c.dep_ in ("conj", "appos") and _coordinates(at, c)), None)
        if following is None:
            return found
        found.append(following)
        at = following
    return found


def _coordinates(token: Token, other: Token) -> bool:
    if other.dep_ == "conj":
        return other.pos_ in ("NOUN", "PROPN", "PRON", "NUM", "ADJ", "X", "SYM") or other.pos_ == token.pos_
    # "jam, bread and butter": the parser calls the second an apposition of the first.
    return (
        any(c.dep_ == "conj" for c in other.children)
        and other.pos_ == token.pos_ == "NOUN"
        and not any(c.dep_ == "det" for c in other.children)
    )


def verbs(sentence: Span) -> Iterator[Token]:
    """Heads of clauses in order, MAX_CLAUSES at most."""
    count = 0
    for token in sentence:
        if token.dep_ in ("aux", "auxpass", "amod", "compound", "det", "punct"):
            continue
        if token.pos_ in ("VERB", "AUX") or any(c.dep_ in SUBJECTS for c in token.children):
            yield token
            count += 1
            if count >= MAX_CLAUSES:
                return


def clauses(sentence: Span, whens: Sequence[When]) -> list[Clause]:
    """The clauses of a sentence; `whens` are those of its document, in its characters."""
    found: dict[int, Clause] = {}
    timed = {t.i for w in whens for t in sentence if t.idx < w.end and t.idx + len(t) > w.start}
    for head in verbs(sentence):
        clause = _clause(head, sentence, timed)
        _inherit(clause, found)
        found[head.i] = clause
    for clause in found.values():
        over = found.get(clause.head.head.i)
        if (
            clause.head.dep_ == "advcl"
            and clause.head.tag_ in ("VBN", "VBD")
            and over is not None
            and over.subjects
            and over.subjects[0].lower_ not in ("that", "this", "it", "which")
            and over.head.i > clause.head.i
            and clause.implied
        ):
            # "Born in Accra, Kojo moved": the subject comes after.
            clause.subjects, clause.implied, clause.passive, clause.tense = over.subjects, False, True, Tense.PAST
        if clause.head.dep_ == "pcomp" and not clause.subjects and clause.head.head.lower_ in ("after", "before", "since", "upon"):
            # "After leaving Oxford, she worked": it happened.
            over = found.get(clause.head.head.head.i)
            if over is not None and over.tense in (Tense.PAST, Tense.PERFECT):
                clause.subjects, clause.implied, clause.governor, clause.tense = over.subjects, over.implied, None, Tense.PAST
    _attach(found, sentence, whens)
    return [*found.values(), *(gap for clause in found.values() for gap in _gapped(clause, timed))]


def _gapped(clause: Clause, timed: set[int]) -> Iterator[Clause]:
    """ "Staging is hosted on Hetzner, prod on AWS": the verb goes on for the second."""
    for child in clause.head.children:
        if child.dep_ == "conj" and child.pos_ in ("NOUN", "PROPN") and clause.prepositions and clause.subjects:
            other = Clause(
                clause.head, clause.sentence, [child], passive=clause.passive, tense=clause.tense, progressive=clause.progressive
            )
            for preposition in child.children:
                if preposition.dep_ == "prep" and preposition.lower_ == clause.prepositions[0][0]:
                    _prepositions(other, preposition, timed)
            if other.prepositions and not clause.negated and not clause.modal:
                other.governor, other.imperative = clause.governor, clause.imperative
                yield other


def _clause(head: Token, sentence: Span, timed: set[int]) -> Clause:
    clause = Clause(head, sentence)
    for child in head.children:
        dep, word = child.dep_, child.lower_
        if child.i in timed and dep not in SUBJECTS and not (dep in ("attr", "pobj") and lemma(head) == "be"):
            continue
        if dep in SUBJECTS and child.lower_ in _INTERJECTIONS:
            continue
        if dep in SUBJECTS:
            clause.subjects = conjuncts(child)
            clause.passive = dep == "nsubjpass"
        elif dep in ("dobj", "oprd") and child.pos_ not in ("VERB",):
            (clause.objects if dep == "dobj" else clause.attributes).extend(map(_measured, conjuncts(child)))
        elif mistagged(head, child):
            clause.objects.append(child)
        elif dep in ("attr", "acomp"):
            clause.attributes.extend(conjuncts(child))
        elif dep in ("prep", "agent", "dative") and child.pos_ in ("ADP", "SCONJ", "PART", "ADV"):
            _prepositions(clause, child, timed)
        elif dep == "prt":
            clause.particle = word
        elif dep == "auxpass":
            clause.passive = True
        elif dep == "neg":
            _negate(clause, child)
        elif dep in ("advmod", "npadvmod", "det"):
            _adverb(clause, child)
            for below in child.children if dep == "advmod" else ():
                # "back from Lisbon": the preposition hangs on the adverb.
                if below.dep_ == "prep":
                    _prepositions(clause, below, timed)
        elif dep in ("advcl", "xcomp") and _mistaken(head, child):
            clause.prepositions.append(("to", [child]))
    for noun in [*clause.objects, *clause.attributes]:
        for child in noun.children:
            if child.dep_ == "prep":
                _prepositions(clause, child, timed, clause.loose)
            elif child.dep_ == "neg":
                _negate(clause, child)
            elif child.dep_ == "det" and child.lower_ == "no":
                clause.negated = True
    _tense(clause)
    if clause.imperative and head.lower_ in _PAST_TOO and any(c.i in timed for c in head.children):
        # "quit smoking three years ago"
        clause.imperative, clause.implied, clause.tense = False, True, Tense.PAST
    return clause


def _measured(noun: Token) -> Token:
    """What a quantity is one of: "a bit of German"."""
    if noun.lower_ in _QUANTITIES:
        of = next((c for c in noun.children if c.dep_ == "prep" and c.lower_ == "of"), None)
        return next((c for c in of.children if c.dep_ == "pobj"), noun) if of is not None else noun
    return noun


def mistagged(head: Token, child: Token) -> bool:
    """ "I hate cilantro": whether an unknown noun right behind a verb of taste was tagged as an adjective or a verb."""
    if child.i != head.i + 1 or lemma(head) not in _TASTED or any(c.dep_ in ("dobj", "ccomp") and c.i != child.i for c in head.children):
        return False
    if child.dep_ == "dobj" and child.tag_ in ("VBZ", "VBP", "VB"):
        return True
    return (child.dep_ in ("advmod", "acomp", "oprd") and child.tag_ == "JJ") or (
        child.dep_ == "xcomp" and child.tag_ in ("VB", "VBP", "JJ") and not any(c.dep_ in ("aux", "dobj", "prep") for c in child.children)
    )


def _mistaken(head: Token, child: Token) -> bool:
    """ "from webpack to vite": whether an unknown word after "to" was parsed as a verb."""
    bare = all(c.dep_ in ("aux", "npadvmod", "advmod", "punct") for c in child.children)
    return bare and child.tag_ == "VB" and lemma(head) in _CHANGES and child.lower_ not in LIGHT_VERBS


def _prepositions(
    clause: Clause, preposition: Token, timed: set[int], into: list[tuple[str, list[Token]]] | None = None, depth: int = 0
) -> None:
    into = clause.prepositions if into is None else into
    word = preposition.lower_
    for child in preposition.children:
        if child.dep_ in ("pobj", "pcomp") and child.i not in timed and child.dep_ != "prep":
            first = next((c for c in child.children if c.dep_ == "quantmod" and c.tag_ == "CD"), None)
            if word == "from" and first is not None and any(c.lower_ == "to" for c in child.children):
                # "from 13 to 15" is no amount.
                into.extend([("from", [first]), ("to", [child])])
                continue
            objects = [t for t in conjuncts(child) if t.i not in timed]
            into.append((word, objects))
            for token in objects:
                for below in token.children:
                    if below.dep_ == "prep" and below.lower_ not in ("of",) and depth < 2:
                        _prepositions(clause, below, timed, into, depth + 1)
        elif child.dep_ == "prep" and depth < 2:
            _prepositions(clause, child, timed, into, depth + 1)


def _negate(clause: Clause, word: Token) -> None:
    if word.lower_ == "never":
        clause.never = clause.negated = True
    elif word.lower_ == "no" and word.head.lower_ == "longer":
        clause.no_longer = True
    else:
        # "X, not Y" negates Y, not the clause.
        following = word.nbor(1) if word.i + 1 < len(word.doc) else None
        contrast = word.lower_ == "not" and word.i > clause.head.i + 1 and word.i > 0 and word.nbor(-1).is_punct and following is not None
        clause.negated = clause.negated or not contrast


def _adverb(clause: Clause, word: Token) -> None:
    text = word.lower_
    if text == "longer" and any(c.lower_ == "no" for c in word.children):
        clause.no_longer = True
    elif text == "never":
        clause.never = clause.negated = True
    elif text in ("anymore",) or (text == "more" and any(c.lower_ == "any" for c in word.children)):
        clause.no_longer = True
    elif text in ("also", "additionally") or (text == "too" and word.i > clause.head.i):
        clause.also = True
    elif text in ("now", "currently", "nowadays"):
        clause.now = True
    elif text == "formerly":
        clause.former = True


def _tense(clause: Clause) -> None:
    head = clause.head
    auxiliaries = [c for c in head.children if c.dep_ in ("aux", "auxpass")]
    words = [lemma(a) for a in auxiliaries]
    for auxiliary in auxiliaries:
        if auxiliary.tag_ == "MD" or auxiliary.lower_ in ("'ll", "wo"):
            clause.modal = {"'ll": "will", "wo": "will", "ca": "can", "'d": "would", "shall": "will"}.get(
                auxiliary.lower_, auxiliary.lower_
            )
    clause.progressive = head.tag_ == "VBG"
    finite = auxiliaries[0] if auxiliaries else head
    if clause.modal == "will":
        clause.tense = Tense.FUTURE
    elif "have" in words and head.tag_ in ("VBN", "VBD", "VBG"):
        clause.tense = Tense.PERFECT if finite.lower_ in ("have", "has", "'ve", "'s", "having", "ve", "s") else Tense.PAST
    elif finite.lower_ == "been":
        clause.tense = Tense.PERFECT
    elif finite.tag_ in ("VBD", "VBN"):
        clause.tense = Tense.PAST
    if (
        not auxiliaries
        and head.tag_ in ("VBP", "VB")
        and head.lower_ in ("quit", "split")
        and any(c.dep_ == "nsubj" for c in head.children)
    ):
        clause.tense = Tense.PAST
    if clause.no_longer and clause.negated:
        clause.negated = False
    if head.dep_ == "ROOT" and not clause.subjects:
        first = finite if auxiliaries else head
        if first.tag_ in ("VB", "VBP") and lemma(first) != "be":
            clause.imperative = True


def _inherit(clause: Clause, found: dict[int, Clause]) -> None:
    """Subject, tense and aspect from the clause that this one hangs on."""
    head = clause.head
    above = found.get(head.head.i)
    if head.dep_ == "relcl" and clause.subjects and clause.subjects[0].tag_ in ("WP", "WDT"):
        clause.subjects = _described(head.head, found)
    elif head.dep_ == "acl" and not clause.subjects:
        clause.subjects = _described(head.head, found)
        clause.passive = head.tag_ == "VBN"
        if clause.passive and clause.tense is Tense.PAST:
            # "the firm, based in Graz": a state that goes on.
            clause.tense = Tense.PRESENT
    if head.dep_ in ("xcomp", "pcomp") and not clause.subjects:
        governor = head.head if head.dep_ == "xcomp" else head.head.head
        over = found.get(governor.i)
        if over is not None:
            _complete(clause, over, head)
    elif not clause.subjects and above is not None and head.dep_ in ("conj", "advcl", "ccomp", "dep"):
        clause.imperative = above.imperative and head.tag_ in ("VB", "VBP")
        if head.dep_ == "conj" or head.tag_ in ("VBG", "VBN", "VBD"):
            clause.subjects, clause.implied = above.subjects, above.implied
            if head.dep_ == "conj":
                _share(clause, above, head)
    elif head.dep_ == "conj" and above is not None:
        clause.governor = None
    if (
        not clause.subjects
        and not clause.imperative
        and not clause.implied
        and head.tag_ in ("VBD", "VBN", "VBG")
        and head.dep_ in ("ROOT", "advcl", "ccomp", "dep")
    ):
        # "Started at Acme", "Been living in Riga": a dropped "I".
        clause.implied = head.i == head.sent.start or all(
            t.pos_ in ("ADV", "INTJ", "PUNCT", "AUX", "CCONJ") or t.ent_type_ == "DATE" for t in head.doc[head.sent.start : head.i]
        )


def _described(noun: Token, found: dict[int, Clause]) -> list[Token]:
    """Who a noun is said of, where it describes: "Ana is a painter based in Lyon", "Quill, the firm founded by Ana"."""
    above = found.get(noun.head.i)
    if noun.dep_ == "attr" and above is not None and lemma(above.head) == "be" and not above.negated and above.subjects:
        subject = above.subjects[0]
        if subject.pos_ in ("PROPN", "NOUN") or subject.lower_ in ("i", "he", "she", "we"):
            return list(above.subjects)
    if noun.dep_ == "appos" and noun.pos_ == "NOUN" and noun.head.pos_ == "PROPN":
        return [noun.head]
    return [noun]


def _complete(clause: Clause, over: Clause, head: Token) -> None:
    verb = lemma(over.head)
    clause.governor = over.head
    clause.subjects, clause.implied = over.subjects, over.implied
    if head.dep_ == "xcomp" and verb in ("want", "ask", "tell", "help", "let", "make", "get") and over.objects:
        clause.subjects, clause.implied = list(over.objects), False
    clause.tense, clause.negated = over.tense, clause.negated or over.negated
    clause.never = clause.never or over.never
    clause.modal = over.modal
    if verb == "use" and over.head.tag_ in ("VBD", "VBN") and head.tag_ == "VB":
        # "didn't use to" says neither what holds now nor that it never did.
        clause.former, clause.governor, clause.tense = True, over.head if over.negated else None, Tense.PAST
    elif head.tag_ == "VBG" and verb in _END_VERBS and over.negated:
        # "I haven't stopped smoking": it goes on.
        clause.negated, clause.governor, clause.tense = False, None, Tense.PRESENT
    elif head.dep_ == "pcomp" and head.head.lower_ in ("after", "since", "before", "upon") and over.tense in (Tense.PAST, Tense.PERFECT):
        # "She worked there after leaving Oxford": it happened.
        clause.governor, clause.tense, clause.negated, clause.never = None, Tense.PAST, False, False
    elif head.tag_ == "VBG" and verb in _END_VERBS and (verb != "give" or over.particle == "up"):
        clause.former, clause.governor = True, None
    elif (head.tag_ == "VBG" or verb in ("start", "begin")) and verb in _START_VERBS and (verb != "take" or over.particle == "up"):
        clause.begun, clause.governor = True, None
    elif verb in ("happen", "manage") or (verb == "have" and over.tense is Tense.PAST and not over.negated):
        clause.governor = None


def _share(clause: Clause, above: Clause, head: Token) -> None:
    """What a coordinated verb without a subject of its own takes over."""
    if not any(c.dep_ in ("aux", "auxpass") for c in head.children):
        if head.tag_ in ("VB", "VBG", "VBN"):
            clause.tense, clause.modal, clause.governor = above.tense, above.modal, above.governor
            clause.passive = clause.passive or (above.passive and (head.tag_ == "VBN" or lemma(head) == "raise") and not clause.objects)
        if head.tag_ == "VBN" and lemma(above.head) == "be" and above.attributes and not clause.objects:
            # "a tool made by Ana and written in Go", where the parser hangs the second on "is".
            clause.passive, clause.tense = True, above.tense
        if head.tag_ == "VB":
            clause.former, clause.negated = above.former, clause.negated or above.negated


def _attach(found: dict[int, Clause], sentence: Span, whens: Sequence[When]) -> None:
    """Each time goes to the clause that it hangs on; a leading one counts for the coordinated clauses as well."""
    for when in whens:
        tokens = [t for t in sentence if t.idx < when.end and t.idx + len(t) > when.start]
        if not tokens:
            continue
        inside = {t.i for t in tokens}
        at = tokens[0]
        while at.i in inside and at.head.i != at.i:
            at = at.head
        steps = 0
        while at.i not in found and at.head.i != at.i and steps < 50:
            at = at.head
            steps += 1
        owner = found.get(at.i)
        if owner is None:
            continue
        opening = tokens[0] if tokens[0].lower_ == "for" or tokens[0].i == 0 else tokens[0].nbor(-1)
        if opening.lower_ == "for" and when.role == "at" and owner.tense is Tense.PAST:
            # "approved the budget for 2026": the year is the budget's.
            continue
        owner.whens.append(when)
        if tokens[0].i < owner.head.i:
            for clause in found.values():
                if clause.head.dep_ == "conj" and clause.head.head.i == owner.head.i and clause.tense is owner.tense:
                    clause.whens.append(when)
