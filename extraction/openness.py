"""Open predicates: what a clause says beyond the vocabulary, behind a strict gate of salience.

Ungated, every second sentence of a conversation yields a triple and few are worth keeping. What passes names a definite
subject, a verb with content and a concrete object.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from extraction.lexicon import HEDGING, KIN, LIGHT_VERBS, REPORTING, STATES, STATUSES, VAGUE, words
from extraction.matching import Match
from extraction.predication import Clause, lemma
from extraction.things import could_be, is_number, things
from ontology.patterns import Tense, Thing

if TYPE_CHECKING:
    from spacy.tokens import Token

_NEVER = (
    HEDGING
    | REPORTING
    | words(
        """
    be do let mean matter happen seem look sound appear thank care bring remind inspire motivate help make keep know see hear get
    give take feel try want need like love hate enjoy wish deserve await excite amaze blow rock kill bless welcome appreciate miss
    cheer check figure work come go leave find put provide allow include ensure offer support use create show share discuss suggest
    require involve experience face learn handle turn lead reach remember consider start end stop begin continue touch move spend
    pass talk speak wait ask call understand agree follow focus improve achieve identify track address prioritize avoid maintain
    balance aim set manage establish implement review encourage stay hang catch hit cause meet draw lose relax misread
    mistype misspell represent symbolize
    symbolise explore calm liven choose chase guide capture bond connect express embrace cherish value treasure join apply
    """
    )
)
_HAVE_NOT = VAGUE | words(
    """
    dinner lunch breakfast meeting appointment reminder dream headache doubt preference patience access choice opinion respect hand
    eye face hair party blast feeling sense tendency concern worry regret session lesson class discussion conversation clue use
    influence effect result community people family friends friend tradition routine schedule goal task deadline background trip
    time
    """
)
_DATABLE = frozenset(["get", "lose", "start", "finish", "pass", "win", "give", "put", "move", "arrive", "leave"])
"""Light verbs that say something with a date: "got her licence last Friday"."""
_OBJECT_PREPOSITIONS = {"on", "in", "at", "for", "with", "from", "to", "into", "against"}


def open_matches(clause: Clause) -> Iterator[Match]:
    """The open relations of a clause; every one that passes the gate of salience."""
    base = lemma(clause.head)
    if base == "lack" and clause.objects:
        yield from (
            Match("have", holder, o, "open:lack", 0.6, polarity=False)
            for holder in _holders(clause)
            for o in clause.objects
            if not _loose(o)
        )
    elif base == "have" and clause.objects:
        yield from _have(clause)
    elif base in ("be", "become", "get") and clause.attributes:
        yield from _be(clause)
    elif base == "be" and clause.prepositions:
        yield from _phase(clause)
    elif (
        (base not in _NEVER or (base in _DATABLE and clause.whens) or (base == "support" and (clause.no_longer or clause.negated)))
        and clause.head.pos_ == "VERB"
        and base.isalpha()
    ):
        yield from _verb(clause, base)


def _holders(clause: Clause) -> list[Token | None]:
    return [None] if clause.implied else [*clause.subjects]


def _have(clause: Clause) -> Iterator[Match]:
    if clause.tense in (Tense.PAST, Tense.PERFECT) and not clause.negated and not clause.whens:
        return
    for holder in _holders(clause):
        for object_ in clause.objects:
            if object_.pos_ not in ("NOUN", "PROPN") or object_.lemma_.casefold() in _HAVE_NOT or _loose(object_) or _relatives(object_):
                continue
            definite = (
                clause.negated or clause.whens or object_.pos_ == "PROPN" or any(c.dep_ in ("nummod", "compound") for c in object_.children)
            )
            yield Match(
                "have",
                holder,
                object_,
                "open:have",
                0.55 if definite and not any(c.dep_ == "poss" and c.tag_ != "PRP$" for c in object_.children) else 0.4,
            )


def _relatives(token: Token) -> bool:
    """ "I have two brothers, Amir and Yusuf": the names are no possessions."""
    while token.dep_ in ("conj", "appos") and token.pos_ == "PROPN":
        token = token.head
    return token.lemma_.casefold() in KIN


def _be(clause: Clause) -> Iterator[Match]:
    for holder in _holders(clause):
        human = holder is None or Thing.PERSON in things(holder)
        for attribute in clause.attributes:
            word = attribute.lower_
            if (attribute.pos_ in ("ADJ", "VERB", "ADV") or word == "intolerant") and (
                (
                    word in STATES
                    and (word not in ("scared", "afraid") or clause.after("of") or any(c.lower_ == "of" for c in attribute.children))
                )
                or (not human and word in STATUSES)
                or (word in ("retired", "back") and human)
            ):
                yield Match("be", holder, _phrase(attribute), f"open:be:{word}", 0.65)


_LASTING = {"call", "leave", "holiday", "vacation", "sabbatical", "probation", "parole", "strike", "benefits", "crutches", "dialysis"}


def _phase(clause: Clause) -> Iterator[Match]:
    """ "I'm on call", "she is on parental leave": how things stand with somebody."""
    for preposition, objects in clause.prepositions:
        for noun in objects if preposition == "on" else ():
            if noun.lemma_.casefold() in _LASTING or noun.lower_ in _LASTING:
                kept = [*(c for c in noun.lefts if c.dep_ in ("amod", "compound")), noun]
                for holder in _holders(clause):
                    if holder is None or could_be(holder, (Thing.PERSON,)):
                        yield Match("be", holder, f"on {' '.join(t.text for t in kept)}", "open:be:on", 0.6)


def _phrase(adjective: Token) -> str:
    """An adjective with its prepositional phrase: "afraid of men"."""
    kept = [*(c for c in adjective.lefts if adjective.lower_ == "intolerant" and c.pos_ in ("NOUN", "PROPN", "ADJ")), adjective]
    for child in adjective.children:
        if (
            child.dep_ == "prep"
            and child.lower_ in ("of", "on", "in", "from", "with")
            and not any(c.ent_type_ == "DATE" for c in child.children)
        ):
            kept += [t for t in child.subtree if t.dep_ != "det"]
    return " ".join(t.text for t in sorted(kept, key=lambda t: t.i)).strip(" .,;:!?")


def _verb(clause: Clause, base: str) -> Iterator[Match]:
    holders = _holders(clause)
    if clause.passive and not clause.whens:
        return
    name = f"{base}_{clause.particle}" if clause.particle else base
    dated = bool(clause.whens)
    settled = clause.tense in (Tense.PAST, Tense.PERFECT) or (clause.tense is Tense.PRESENT and (not clause.progressive or clause.now))
    if not settled and not dated:
        return
    for holder in holders:
        done = False
        for object_ in clause.objects:
            if _loose(object_) or (
                object_.pos_ == "PRON" and holder is not None and holder.pos_ == "NOUN" and Thing.PERSON not in things(holder)
            ):
                continue
            done = True
            yield Match(name, holder, object_, f"open:{name}", _confidence(clause, holder, object_, base, dated))
        if done or clause.objects:
            continue
        for preposition, objects in clause.prepositions:
            if preposition not in _OBJECT_PREPOSITIONS:
                continue
            for object_ in objects:
                if (
                    object_.pos_ in ("PROPN", "NOUN", "NUM")
                    and not _loose(object_)
                    and (object_.pos_ == "PROPN" or dated or clause.tense is Tense.PRESENT)
                ):
                    yield Match(
                        f"{name}_{preposition}", holder, object_, f"open:{name}", _confidence(clause, holder, object_, base, dated) - 0.02
                    )
            break


def _confidence(clause: Clause, holder: Token | None, object_: Token, base: str, dated: bool) -> float:
    confidence = 0.5 + 0.05 * dated + 0.03 * (object_.pos_ == "PROPN") + 0.03 * is_number(object_)
    if base in LIGHT_VERBS and not (dated and base in _DATABLE) and not (base == "support" and clause.no_longer):
        confidence -= 0.1
    if clause.head.dep_ == "acl" and clause.head.tag_ == "VBG":
        confidence -= 0.2
    if clause.head.dep_ not in ("ROOT", "conj", "ccomp"):
        confidence -= 0.04
    if holder is not None and not dated and clause.tense is Tense.PAST and holder.pos_ == "NOUN" and Thing.ANIMAL in things(holder):
        # What the dog ate the other day.
        confidence -= 0.1
    if clause.negated and not clause.no_longer:
        confidence -= 0.02
    return confidence


def _loose(token: Token) -> bool:
    """Whether a phrase is too vague to be remembered."""
    if token.pos_ in ("PRON", "DET", "ADV", "VERB", "ADJ", "SCONJ", "X", "INTJ") and token.lower_ not in ("me", "you", "us", "him", "her"):
        return True
    if token.pos_ == "PROPN":
        return False
    if token.lemma_.casefold() in VAGUE:
        return True
    return any(
        c.dep_ == "det"
        and c.lower_ in ("any", "every", "each", "another", "such", "what", "which", "all", "this", "that", "these", "those")
        for c in token.children
    )
