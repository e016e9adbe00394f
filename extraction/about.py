"""Notes on somebody or something: "Prefers dark mode" in the notes on Ann says that Ann prefers it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from extraction.passage import STAND_IN, Passage, passages
from ontology.episode import Turn

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Token

_WORD = re.compile(r"(?:[A-Z][a-z]+|[a-z]+)(?=\s)")
_PROBE = "Ann "
"""Whether words say something of a name is asked of a plain one: the parser reads "default_user uses ..." as a noun. Pronouns take
more for verbs than are ("It ports 80 and 443 are open")."""
_IS = "is "
_INTRANSITIVE = frozenset(
    {
        *("move", "relocate", "emigrate", "immigrate", "migrate", "switch", "upgrade", "travel", "go", "come", "return", "arrive"),
        *("stay", "graduate", "study", "enrol", "enroll", "work", "intern", "volunteer", "apply", "retire", "live", "grow", "speak"),
        *("talk", "meet", "start", "begin", "stop", "play", "run", "compete", "participate", "commute", "convert", "transition"),
    }
)
"""Verbs whose past without an object is one, and no participle that says what somebody is."""
_FINITE = ("VBZ", "VBD", "VBP", "MD")


def with_subjects(turns: Sequence[Turn], pieces: Sequence[list[Passage]], model: Language) -> list[list[Passage]]:
    """The passages of the turns; before one of a note that begins with a predicate stands what the note is about.

    "Prefers tea" gets the name alone, "Written in Rust" and "Allergic to nuts" the name and "is". What is put before stands for
    the first character of the passage, so spans stay inside the turn's text.
    """
    found = [list(of_turn) for of_turn in pieces]
    left = [(at, place) for at, turn in enumerate(turns) if turn.about for place in range(len(pieces[at]))]
    left = [(at, place) for at, place in left if _WORD.match(pieces[at][place].text)]
    past: set[tuple[int, int]] = set()
    for where, doc in zip(left, model.pipe([_PROBE + _small(pieces[at][place].text) for at, place in left]), strict=True):
        verb = _first(doc, len(_PROBE))
        if verb is not None and _is_verbal(verb, len(_PROBE)):
            found[where[0]][where[1]] = _headed(pieces[where[0]][where[1]], turns[where[0]].about or "", "")
        elif verb is not None and verb.tag_ == "VBD" and verb.lemma_ in _INTRANSITIVE:
            past.add(where)
    left = [(at, place) for at, place in left if found[at][place] is pieces[at][place]]
    for where, doc in zip(left, model.pipe([_PROBE + _IS + _small(pieces[at][place].text) for at, place in left]), strict=True):
        # "Moved to Berlin" is no state, "Hosted on AWS" no past tense.
        word = _first(doc, len(_PROBE + _IS))
        if word is not None and _is_nominal(word, len(_PROBE + _IS)) and (where not in past or word.pos_ == "ADJ"):
            found[where[0]][where[1]] = _headed(pieces[where[0]][where[1]], turns[where[0]].about or "", _IS)
    return found


def _small(text: str) -> str:
    return text[0].lower() + text[1:]


def _headed(passage: Passage, about: str, link: str) -> Passage:
    """The passage with a name before it."""
    name = " ".join(about.split())
    plain = [piece.text for piece in passages(name, [(0, len(name))])] == [name]
    head = f"{name if plain else STAND_IN} {link}"
    steps = [(place + len(head), there) for place, there in passage.steps]
    return replace(passage, text=head + _small(passage.text), steps=((0, passage.start), *steps), stands_for=None if plain else name)


def _first(doc: Doc, at: int) -> Token | None:
    """The word that begins at the character `at`, or the first after adverbs."""
    word = next((token for token in doc if token.idx == at), None)
    while word is not None and (word.pos_ == "ADV" or word.dep_ == "neg") and word.i + 1 < len(doc):
        word = doc[word.i + 1]
    return word


def _is_verbal(verb: Token, at: int) -> bool:
    """Whether a verb has the name before the character `at` for its subject."""
    if verb.tag_ not in _FINITE:
        return False
    if verb.tag_ == "VBD" and verb.pos_ != "AUX" and not any(child.dep_ in ("dobj", "xcomp", "ccomp") for child in verb.children):
        return False
    head = verb.head if verb.dep_ in ("aux", "auxpass") else verb
    return head.dep_ == "ROOT" and any(child.dep_ in ("nsubj", "nsubjpass") and child.idx < at for child in head.children)


def _is_nominal(word: Token, at: int) -> bool:
    """Whether a word at the character `at` is a participle or an adjective after "is", and nothing else is said after it."""
    if any(token.tag_ in _FINITE for token in word.doc if token.idx >= at):
        return False
    return (word.tag_ in ("VBN", "VBG") and word.dep_ == "ROOT") or (word.pos_ == "ADJ" and word.dep_ == "acomp")
