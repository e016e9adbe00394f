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
    from spacy.tokens import Doc

_WORD = re.compile(r"(?:[A-Z][a-z]+|[a-z]+)(?=\s)")
_PROBE = "Ann "
"""Whether words say something of a name is asked of a plain one: the parser reads "default_user uses ..." as a noun. Pronouns take
more for verbs than are ("It ports 80 and 443 are open")."""
_FINITE = ("VBZ", "VBD", "VBP", "MD")


def with_subjects(turns: Sequence[Turn], pieces: Sequence[list[Passage]], model: Language) -> list[list[Passage]]:
    """The passages of the turns; before one of a note that begins with a verb stands what the note is about.

    The name stands for the first character of the passage, so spans stay inside the turn's text.
    """
    noted = [(at, place) for at, turn in enumerate(turns) if turn.about for place in range(len(pieces[at]))]
    found = [list(of_turn) for of_turn in pieces]
    if not noted:
        return found
    tried = {(at, place): _headed(pieces[at][place], turns[at].about or "") for at, place in noted}
    wanted = {where: passage for where, passage in tried.items() if passage is not None}
    probes = (_PROBE + passage.text[passage.steps[1][0] :] for passage in wanted.values())
    for ((at, place), passage), doc in zip(wanted.items(), model.pipe(probes), strict=True):
        if _is_predicate(doc, len(_PROBE)):
            found[at][place] = passage
    return found


def _headed(passage: Passage, about: str) -> Passage | None:
    """The passage with a name before it; None where it does not begin with a plain word."""
    if not _WORD.match(passage.text):
        return None
    name = " ".join(about.split())
    plain = [piece.text for piece in passages(name, [(0, len(name))])] == [name]
    head = f"{name if plain else STAND_IN} "
    text = head + passage.text[0].lower() + passage.text[1:]
    steps = [(place + len(head), there) for place, there in passage.steps]
    return replace(passage, text=text, steps=((0, passage.start), *steps), stands_for=None if plain else name)


def _is_predicate(doc: Doc, at: int) -> bool:
    """Whether the words from the character `at` on are what is said of those before."""
    verb = next((token for token in doc if token.idx == at), None)
    while verb is not None and (verb.pos_ == "ADV" or verb.dep_ == "neg") and verb.i + 1 < len(doc):
        verb = doc[verb.i + 1]
    if verb is None or verb.tag_ not in _FINITE:
        return False
    if verb.tag_ == "VBD" and verb.pos_ != "AUX" and not any(child.dep_ in ("dobj", "xcomp", "ccomp") for child in verb.children):
        # "Married to Bob" is no past tense.
        return False
    head = verb.head if verb.dep_ in ("aux", "auxpass") else verb
    return head.dep_ == "ROOT" and any(child.dep_ in ("nsubj", "nsubjpass") and child.idx < at for child in head.children)
