"""What is said but not meant as a fact: questions, orders, conditions, hedges, wishes, jokes, play; and what others reported."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from extraction.lexicon import HEDGES, HEDGING, REPORTING
from extraction.predication import Clause, lemma

if TYPE_CHECKING:
    from spacy.tokens import Span, Token

_UNREAL = re.compile(
    r"^\s*(?:suppose|imagine|assuming|say\s+you|what\s+if|if\s+only|had\s+(?:i|we|you|he|she|they|it)\b|were\s+(?:i|we|you|he|she|they|it)\s+to|let's|let\s+(?:us|me)\b|"
    r"the\s+(?:day|moment|minute)\s+(?:i|we|you)\b|in\s+case\b|legend\s+has|rumou?r\s+has|why\s+(?:not|don't)|how\s+about|what\s+about|wish\b|hope\b|hoping\b|"
    r"thank|thanks|congrat|good\s+luck|happy\s+|welcome\b|sounds?\b|looks?\s+like|seems?\b|feels?\b|might\b|may\s+be\b|could\b|must\s+be\b|guess|bet\b|smells\b|"
    r"my\s+guess\b|fixme|todo|//|#\s)"
    r"|\b(?:i\s+wish|if\s+only|would\s+(?:love|like|rather)|'d\s+(?:love|like|rather)|pretend|role-?play|my\s+character|in\s+(?:the|a|this|my|his|her|our)\s+(?:game|dream|film|movie|novel|story|book|show|campaign)|"
    r"dream(?:t|ed)\s+(?:that|i|of|about)|weirdest\s+dream|(?:a|the)\s+dream\b|hypothetical|as\s+if|as\s+though|rumou?rs?\b|for\s+example|e\.g\.|for\s+instance|"
    r"not\s+sure|no\s+idea|not\s+clear|unclear|unknown\s+whether|who\s+knows|wouldn't\s+bet|toying\s+with|thinking\s+(?:about|of)|yeah\s+right|my\s+guess|hard\s+to\s+tell|"
    r"queen\s+of\s+\w+|let\s+me\s+know|in\s+theory|once\s+upon)",
    re.IGNORECASE,
)
_JOKE = re.compile(r"\b(?:just\s+kidding|kidding|i'm\s+joking|joking|jk|only\s+messing|\(joke\)|/s)\b", re.IGNORECASE)
_WISH_OPENING = re.compile(r"\bhad\s+the\s+(?:weirdest|strangest|craziest|oddest|\w+est)?\s*dream\b", re.IGNORECASE)
_QUESTION_WORDS = {"who", "what", "when", "where", "why", "how", "which", "whose", "whos", "who's", "what's", "where's"}
_INVERTING = {
    "do",
    "does",
    "did",
    "is",
    "are",
    "was",
    "were",
    "has",
    "have",
    "had",
    "can",
    "could",
    "will",
    "would",
    "should",
    "shall",
    "may",
    "might",
    "am",
    "isn't",
    "aren't",
    "don't",
    "doesn't",
    "didn't",
}
_CONDITIONS = {"if", "unless", "whether", "lest", "suppose", "supposing", "provided", "assuming", "until", "once", "whenever"}
_MODALS = {"would", "could", "might", "may", "should", "must", "ought", "can", "need", "'d"}
_QUOTED = re.compile('["“]([^"”“]{12,})["”]')
_ACCORDING = re.compile(r"^\s*according\s+to\s+(?:the\s+|my\s+)?(?P<who>[\w' -]{2,40}?),", re.IGNORECASE)
_FACTIVE = {
    "know",
    "realize",
    "realise",
    "learn",
    "discover",
    "find",
    "see",
    "show",
    "prove",
    "mean",
    "note",
    "remember",
    "forget",
    "notice",
    "turn",
}


@dataclass(frozen=True, slots=True)
class Reading:
    """How a clause is meant: `dropped` is the reason why it states nothing, `source` who reported it, `denied` that they deny it."""

    dropped: str | None = None
    source: Token | None = None
    denied: bool = False


def sentence_unreal(text: str) -> str | None:
    """The reason why a whole sentence states nothing, from its wording alone."""
    if _UNREAL.search(text):
        return "unreal"
    return "joke" if _JOKE.search(text) else None


def joke(text: str) -> bool:
    """Whether a sentence takes back what was said before it as a joke."""
    return bool(_JOKE.search(text))


def dream(text: str) -> bool:
    """Whether what follows is dreamt."""
    return bool(_WISH_OPENING.search(text))


def question(sentence: Span) -> bool:
    """Whether a sentence asks: a question mark, or the word order of a question without one."""
    text = sentence.text.rstrip(" \"')]")
    if text.endswith("?"):
        return True
    words = [
        t
        for t in sentence
        if t.pos_ not in ("INTJ", "PUNCT", "SPACE") and t.lower_ not in ("so", "and", "but", "wait", "hey", "ok", "well", "also", "anyone")
    ]
    if not words:
        return False
    first = words[0]
    if first.lower_ in ("what",) and len(words) > 1 and words[1].lower_ in ("a", "an"):
        return True
    if first.lower_ in _QUESTION_WORDS and first.head.dep_ != "csubj":
        clause = first
        while clause.head.i != clause.i and clause.dep_ not in ("csubj", "advcl", "relcl", "ccomp"):
            clause = clause.head
        return (clause.dep_ == "ROOT" and first.lower_ not in ("when", "where", "how", "which")) or (
            clause.dep_ == "ROOT" and first.lower_ in ("when", "where", "how", "why")
        )
    if first.lower_ in _INVERTING and len(words) > 1 and first.tag_ in ("VBZ", "VBP", "VBD", "MD"):
        second = words[1]
        return (
            second.pos_ in ("PRON", "PROPN", "DET")
            and second.dep_ in ("nsubj", "nsubjpass", "det", "expl", "compound")
            and second.head.i >= first.i
        )
    return False


def reading(clause: Clause, quoted: list[tuple[int, int]]) -> Reading:
    """How one clause of a declarative sentence is meant."""
    head = clause.head
    if any(start <= head.idx < end for start, end in quoted):
        return Reading("quoted")
    if clause.imperative:
        return Reading("order")
    if clause.modal in _MODALS and clause.modal != "can":
        return Reading("modal")
    if any(c.dep_ == "advmod" and c.lower_ in ("almost", "nearly", "practically") for c in head.children):
        return Reading("almost")
    if _hedged(head):
        return Reading("hedge")
    return _climb(clause)


def _climb(clause: Clause) -> Reading:
    at = clause.head
    source: Token | None = None
    denied = False
    steps = 0
    here = clause
    while steps < 30:
        steps += 1
        if _conditional(at):
            return Reading("condition")
        if (
            at.dep_ == "advcl"
            and any(c.dep_ in ("advmod", "mark") and c.lower_ == "when" for c in at.children)
            and at.tag_ in ("VBP", "VBZ")
        ):
            return Reading("condition")
        if any(_conditional(child) or _generic(child) for child in at.children if child.dep_ == "advcl"):
            return Reading("condition")
        above = at.head
        if above.i == at.i:
            break
        if at.dep_ in ("ccomp", "advcl", "conj", "acl") and _order(above) and (at.dep_ != "conj" or not _has_subject(at)):
            return Reading("order")
        if at.dep_ == "advcl" and not _has_subject(at) and any(c.tag_ == "MD" for c in above.children):
            return Reading("modal")
        if at.dep_ == "ccomp" and lemma(above) in ("ensure", "make", "check", "verify", "confirm") and above.tag_ in ("VB", "VBG"):
            return Reading("unrealised")
        if at.dep_ in ("ccomp", "csubj") or (at.dep_ == "xcomp" and here.governor is not None and at.i == here.head.i):
            verb = lemma(above)
            if at.dep_ == "xcomp":
                if verb in HEDGING | {
                    "would",
                    "try",
                    "need",
                    "refuse",
                    "fail",
                    "like",
                    "agree",
                    "offer",
                    "ask",
                    "forget",
                    "have",
                    "get",
                    "seem",
                    "ought",
                }:
                    return Reading("unrealised")
                at = above
                continue
            if _negative(above) and verb in HEDGING | _FACTIVE | REPORTING:
                return Reading("hedge")
            if verb in REPORTING or (verb == "claim"):
                speaker = next((c for c in above.children if c.dep_ in ("nsubj", "agent")), None)
                if speaker is not None and speaker.lower_ in ("they", "people", "some", "everyone", "everybody", "somebody", "someone"):
                    return Reading("hedge")
                if _modal(above) or (above.tag_ == "VB" and not any(c.dep_ == "nsubj" for c in above.children)):
                    return Reading("hedge")
                source = speaker or source
                denied = denied or verb == "deny"
            elif verb in HEDGING:
                return Reading("hedge")
            elif verb in ("ask", "wonder", "check", "decide", "see", "tell", "know", "remember") and any(
                c.tag_ in ("WP", "WRB", "WDT") for c in at.children
            ):
                return Reading("question")
        elif at.dep_ in ("acl", "relcl") and any(c.dep_ == "aux" and c.lower_ == "to" for c in at.children):
            return Reading("unrealised")
        elif at.dep_ == "acl" and above.lemma_.casefold() in (
            "rumour",
            "rumor",
            "possibility",
            "chance",
            "idea",
            "hope",
            "suggestion",
            "risk",
            "fear",
        ):
            return Reading("hedge")
        elif at.dep_ == "advcl" and any(c.dep_ == "aux" and c.lower_ == "to" for c in at.children):
            return Reading("unrealised")
        elif at.dep_ == "conj" and at.i == clause.head.i and clause.head.tag_ == "VB" and _order(above):
            return Reading("order")
        if (
            at.dep_ in ("conj", "advcl", "ccomp")
            and _modal(above)
            and (at.dep_ != "conj" or not any(c.dep_ == "nsubj" for c in at.children))
        ):
            return Reading("modal") if at.dep_ == "conj" else _over(above, source, denied)
        at = above
    return Reading(None, source, denied)


def _over(above: Token, source: Token | None, denied: bool) -> Reading:
    return Reading("modal") if lemma(above) in HEDGING | REPORTING or _modal(above) else Reading(None, source, denied)


def _conditional(head: Token) -> bool:
    return any(c.dep_ in ("mark", "advmod") and c.lower_ in _CONDITIONS for c in head.children)


def _generic(head: Token) -> bool:
    """ "when the key is pressed": a rule, not a moment."""
    return (
        head.tag_ in ("VBZ", "VBP", "VBN")
        and any(c.dep_ == "advmod" and c.lower_ in ("when", "whenever") for c in head.children)
        and not any(c.tag_ in ("VBD",) for c in head.children)
    )


def _has_subject(verb: Token) -> bool:
    return any(c.dep_ in ("nsubj", "nsubjpass", "expl") for c in verb.children)


def _negative(verb: Token) -> bool:
    return any(c.dep_ == "neg" for c in verb.children)


def _modal(verb: Token) -> bool:
    return any(
        c.dep_ == "aux" and (c.lower_ in _MODALS or c.lower_ in ("'d",)) and c.tag_ == "MD" and c.lower_ != "can" for c in verb.children
    )


def _order(verb: Token) -> bool:
    return verb.tag_ == "VB" and not any(c.dep_ in ("nsubj", "aux") for c in verb.children)


def _hedged(head: Token) -> bool:
    return any(c.lower_ in HEDGES for c in head.children if c.dep_ in ("advmod", "intj", "npadvmod", "dep")) or (
        head.sent[0].lower_ in HEDGES
        or (len(head.sent) > 1 and head.sent[0].pos_ in ("INTJ", "CCONJ", "PUNCT") and head.sent[1].lower_ in HEDGES)
    )


def quotations(text: str) -> list[tuple[int, int]]:
    """Half-open characters of long quotations: somebody else's words."""
    return [match.span() for match in _QUOTED.finditer(text) if match.group().count(" ") >= 2]


def attributed(text: str) -> str | None:
    """The source of "According to X, ..."."""
    match = _ACCORDING.match(text)
    return match["who"].strip() if match else None
