"""When something is, begins or has begun: "the exam is on 12 May", "founded in 1921", "he retired"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from extraction.calendar import Granule
from extraction.dating import resolve
from extraction.lexicon import MEETINGS
from extraction.matching import Match
from extraction.predication import Clause, lemma
from extraction.things import could_be, things
from ontology.claim import ClaimKind
from ontology.patterns import Tense, Thing

if TYPE_CHECKING:
    from spacy.tokens import Token


_DATED_NOUNS = MEETINGS | frozenset(
    [
        "date",
        "day",
        "deadline",
        "birthday",
        "workshop",
        "talk",
        "webinar",
        "training",
        "session",
        "class",
        "course",
        "review",
        "demo",
        "kickoff",
        "ceremony",
        "election",
        "vote",
        "referendum",
        "festival",
        "gig",
        "inspection",
        "surgery",
        "operation",
        "retrospective",
        "anniversary",
        "visit",
        "due",
        "exam",
        "trip",
        "lease",
        "visa",
        "contract",
    ]
)


def appointed(clause: Clause, text: str) -> Iterator[Match]:
    """When something is: "the interview is at half past ten", "my due date is 30 November", "the lease ends 31 January"."""
    if not clause.subjects:
        return
    subject = clause.subjects[0]
    verb = lemma(clause.head)
    word = subject.lemma_.casefold()
    dated = verb in (
        "end",
        "expire",
        "run",
        "land",
        "depart",
        "begin",
        "start",
        "arrive",
        "open",
        "close",
        "finish",
        "be",
        "take",
        "leave",
        "move",
        "fall",
        "due",
    )
    if verb in ("move", "postpone", "reschedule", "push", "shift", "delay") and clause.passive:
        yield from _moved(clause, subject)
        return
    if not dated or (subject.pos_ == "PRON" and subject.lower_ != "it") or Thing.PERSON in things(subject):
        return
    if verb != "be" and clause.tense not in (Tense.PRESENT, Tense.FUTURE):
        return
    if verb == "be" and not (word in _DATED_NOUNS or any(t.lower_ in _DATED_NOUNS for t in subject.lefts)):
        return
    if verb in ("run", "leave", "take", "move") and not (verb == "run" and clause.particle == "out"):
        return
    if verb == "be" and word == "birthday":
        yield from _birthday(clause, subject, text)
        return
    for when in clause.whens:
        if when.role not in ("at", "by") or when.lo is None or when.end <= clause.head.idx:
            continue
        prefix = text[when.start : when.lo.start()].split()
        preposition = prefix[0].casefold() if prefix and prefix[0].casefold() in ("on", "in", "at", "by") else ""
        name = "_".join(part for part in (verb, clause.particle, preposition) if part)
        value = re.sub(r"^the\s+", "", when.lo.group().strip().rstrip("."), flags=re.IGNORECASE)
        yield Match(name, subject, value, f"appointment:{name}", 0.7)
        return
    clock = _CLOCK.search(text, clause.head.idx)
    if clock and clock.start() - clause.head.idx < 40:
        name = "_".join(part for part in (verb, clause.particle, "at") if part)
        yield Match(name, subject, clock["clock"], f"appointment:{name}", 0.65)


def _birthday(clause: Clause, subject: Token, text: str) -> Iterator[Match]:
    """ "My birthday is 4 May 1990" tells the date of birth; a birthday without its year comes back every year."""
    owner = next((c for c in subject.children if c.dep_ == "poss"), None)
    for when in clause.whens:
        stated = text[when.start : when.end]
        if owner is not None and when.role == "at" and _YEAR.search(stated) and when.lo is not None:
            stretch = resolve(when, Granule(2000, 1, 1), False)
            if stretch is not None and stretch.lo is not None:
                yield Match("birth_date", owner, str(stretch.lo), "appointment:birthday", 0.8)
            return


_YEAR = re.compile(r"\b(?:19|20)\d\d\b")


def _moved(clause: Clause, subject: Token) -> Iterator[Match]:
    """ "The meeting has been moved from 8 October to 15 October": the later date stands."""
    if not any(t.lemma_.casefold() in _DATED_NOUNS for t in [subject, *subject.lefts]):
        return
    for when in clause.whens:
        last = when.hi if when.role == "span" else when.lo
        if last is not None and when.end > clause.head.idx:
            yield Match("be_on", subject, last.group().strip().rstrip("."), "appointment:moved", 0.7, ClaimKind.CHANGE)
            return


_CLOCK = re.compile(
    r"\bat\s+(?P<clock>(?:half|quarter|ten|twenty|five)\s+(?:past|to)\s+\w+|\d{1,2}[:.]\d\d(?:\s*(?:am|pm|UTC|CET|GMT))?|\d{1,2}\s*(?:am|pm|o'clock)|noon|midnight|\d{1,2}(?=\s*(?:$|[.,!;])))",
    re.IGNORECASE,
)


_BEGINNINGS = frozenset(["found", "establish", "create", "launch", "build", "construct", "open", "start", "set", "incorporate", "bear"])


_GOT = {"marry": "married", "divorce": "divorced", "engage": "engaged", "promote": "promoted"}


_PASSAGES = {"retire": "retired", "die": "dead", "pass away": "dead"}


def beginnings(clause: Clause, said: Granule) -> Iterator[Match]:
    """ "Founded in 1972", "was born on 4 May 1961": the date is the object; "he retired" leaves a state."""
    verb = lemma(clause.head)
    if clause.passive and verb in _BEGINNINGS and clause.subjects and not clause.negated:
        for when in clause.whens:
            if when.role == "at" and when.lo is not None:
                name = "birth_date" if verb == "bear" else "created"
                stretch = resolve(when, said, False)
                if stretch is None:
                    return
                yield Match(name, clause.subjects[0], str(stretch.lo), f"beginning:{name}", 0.7)
                return
    state = _PASSAGES.get(clause.lemma) or (
        _GOT.get(verb) if clause.passive and len(clause.subjects) == 1 and not clause.after("to", "by", "as") else None
    )
    if state is not None and not clause.objects and not clause.after("from", "as") and not clause.negated:
        for holder in [None] if clause.implied else clause.subjects:
            if holder is None or could_be(holder, (Thing.PERSON, Thing.ANIMAL)):
                yield Match("be", holder, state, f"beginning:{verb}", 0.65, ClaimKind.CHANGE)
