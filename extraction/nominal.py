"""What noun phrases say by themselves: appositions, relatives by name, occupations, ages, favourites, appointments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from extraction.clauses import Clause, lemma
from extraction.lexicon import ACQUAINTANCES, KIN, MEETINGS, NATIONALITIES, words
from extraction.matching import Match, Patterns
from extraction.things import could_be, is_number, is_role, things
from ontology.claim import ClaimKind
from ontology.patterns import Tense, Thing

if TYPE_CHECKING:
    from spacy.tokens import Span, Token

_YEARS = re.compile(r"(?:\w+-)?\w+-years?-old|\d+-?(?:yo|y/o)", re.IGNORECASE)
_AGE_WORDS = words(
    """
    two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty
    thirty forty fifty sixty seventy eighty ninety
    """
)
_DISTANT_KIN = words(
    "cousin niece nephew uncle aunt auntie grandmother grandma grandfather grandad grandson granddaughter stepmother stepfather"
)
_DATED_NOUNS = MEETINGS | frozenset(
    ["date", "day", "deadline", "birthday", "anniversary", "visit", "due", "exam", "trip", "lease", "visa", "contract"]
)


@dataclass(frozen=True, slots=True)
class Named:
    """A relation that a phrase states: subject and object as tokens or words (None: the speaker)."""

    match: Match
    at: Token


def appositions(sentence: Span, patterns: Patterns) -> Iterator[Named]:
    """ "my brother Kunle", "Kenzo Mori, father of Ana", "the striker Yaw Mensimah", "Mirza the goat", "Elias, aged 6"."""
    for token in sentence:
        word = token.lemma_.casefold()
        if (token.pos_ in ("NOUN", "PROPN") and word in KIN) or patterns.nouns(word):
            yield from _related(token, patterns)
        if token.dep_ == "appos" and token.head.pos_ == "PROPN" and token.pos_ in ("NOUN", "PROPN"):
            yield from _described(token.head, token, patterns)
        elif token.pos_ == "PROPN" and token.dep_ == "appos" and token.head.pos_ == "NOUN" and is_role(token.head):
            yield from _titled(token.head, token)
        elif (
            token.pos_ in ("NOUN",)
            and token.dep_ in ("compound", "nmod")
            and token.head.pos_ == "PROPN"
            and is_role(token)
            and token.text[:1].islower()
        ):
            yield Named(Match("has_role", token.head, _left(token), "apposition:role", 0.75), token)
        if token.lower_ == "aged" and token.i + 1 < len(token.doc) and is_number(token.nbor(1)):
            owner = token.head if token.head.pos_ in ("PROPN", "NOUN") else None
            if owner is not None:
                yield Named(Match("age", owner, token.nbor(1).text, "apposition:aged", 0.8), token)


def _left(token: Token) -> str:
    kept = [t for t in token.lefts if t.dep_ in ("compound", "amod") and t.lower_ not in NATIONALITIES and t.text[:1].islower()]
    return " ".join(t.text for t in [*kept, token])


def _related(noun: Token, patterns: Patterns) -> Iterator[Named]:
    """A person's relative or acquaintance by name, with the owner of the relation."""
    owner = next((c for c in noun.children if c.dep_ == "poss"), None)
    name = next((c for c in noun.children if c.dep_ == "appos" and c.pos_ == "PROPN" and c.i > noun.i), None)
    if name is None and noun.head.pos_ == "PROPN" and noun.dep_ in ("compound", "nmod") and noun.i < noun.head.i:
        name = noun.head
        owner = owner or next((c for c in name.children if c.dep_ == "poss"), None)
    if name is None:
        name = next(
            (
                o
                for c in noun.children
                if c.dep_ == "acl" and c.lower_ in ("called", "named")
                for o in c.children
                if o.dep_ in ("oprd", "dobj", "attr")
            ),
            None,
        )
    if name is None or name.pos_ not in ("PROPN", "NOUN", "X") or (owner is None and noun.dep_ not in ("dobj", "attr")):
        return
    if owner is None:
        # "I have a cousin, Sipho", "adopted a puppy called Biscuit": the owner is who has or gets; a dropped one is the speaker.
        if lemma(noun.head) not in ("have", "get", "adopt", "own", "keep", "be"):
            return
        owner = next((c for c in noun.head.children if c.dep_ == "nsubj"), None)
        if owner is None and (lemma(noun.head) == "be" or noun.head.tag_ not in ("VBD", "VBN", "VBP")):
            return
    for predicate, pattern in patterns.nouns(noun.lemma_.casefold()):
        if (
            pattern.preposition
            or pattern.value is not None
            or not could_be(name, pattern.object_type if pattern.swap else pattern.subject_type)
        ):
            continue
        subject, object_ = (owner, name) if pattern.swap else (name, owner or "*speaker")
        yield Named(Match(predicate, subject, object_, f"apposition:{predicate}", 0.8, pattern.kind, qualifier=pattern.qualifier), noun)
        return
    if noun.lemma_.casefold() in KIN:
        yield Named(Match(f"{noun.lemma_.casefold()}_of", name, owner or "*speaker", "apposition:kin", 0.6), noun)


def _described(name: Token, noun: Token, patterns: Patterns) -> Iterator[Named]:
    """A name followed by what it is: "Ana Ruiz, treasurer of the club"."""
    preposition = next((c for c in noun.children if c.dep_ == "prep"), None)
    target = next((c for c in preposition.children if c.dep_ == "pobj"), None) if preposition is not None else None
    if target is not None and preposition is not None:
        for predicate, pattern in patterns.nouns(noun.lemma_.casefold()):
            if preposition.lower_ in (pattern.preposition or ("of",)) and not (pattern.swap and not pattern.preposition):
                yield Named(Match(predicate, name, target, f"apposition:{predicate}", 0.75, pattern.kind), noun)
                break
    if is_role(noun) and noun.pos_ == "NOUN":
        yield Named(Match("has_role", name, noun, "apposition:role", 0.7), noun)
    elif Thing.ANIMAL in things(noun):
        yield Named(Match("is_a", name, noun, "apposition:kind", 0.7), noun)


def _titled(role: Token, name: Token) -> Iterator[Named]:
    """A role followed by a name: "a Luxera spokeswoman, Petronela Ilieva" names the employer as well."""
    yield Named(Match("has_role", name, _left(role), "apposition:role", 0.75), role)
    employer = next((c for c in role.children if c.dep_ in ("compound", "nmod", "poss") and c.pos_ == "PROPN"), None)
    if employer is not None and employer.lower_ not in NATIONALITIES:
        yield Named(Match("works_at", name, employer, "apposition:employer", 0.65), role)


def copular(clause: Clause) -> Iterator[Match]:
    """Ages, nationalities, kinds and favourites in "X is Y"; the roles come from the vocabulary's patterns."""
    if lemma(clause.head) not in ("be", "become", "turn"):
        return
    holders: list[Token | None] = [None] if clause.implied else list(clause.subjects)
    for holder in holders:
        human = holder is None or could_be(holder, (Thing.PERSON, Thing.ANIMAL))
        living = (
            holder is None
            or bool(things(holder) & {Thing.PERSON, Thing.ANIMAL})
            or holder.pos_ == "PROPN"
            or holder.lower_ in ("he", "she")
        )
        for attribute in clause.attributes:
            age = (
                _age(attribute, living) if clause.head.dep_ != "advcl" and not any(c.dep_ == "mark" for c in clause.head.children) else None
            )
            if age is not None:
                yield Match("age", holder, age, "copula:age", 0.8)
                if attribute.pos_ in ("ADJ", "NUM"):
                    continue
            nation = next((t for t in [attribute, *attribute.lefts] if t.lower_ in NATIONALITIES and t.text[:1].isupper()), None)
            nation = nation or next(
                (t for t in attribute.lefts if "-" in t.text and all(p.casefold() in NATIONALITIES for p in t.text.split("-"))), None
            )
            if (
                nation is not None
                and human
                and attribute.pos_ in ("ADJ", "NOUN", "PROPN")
                and (nation.i == attribute.i or is_role(attribute) or Thing.PERSON in things(attribute))
            ):
                yield Match("nationality", holder, nation.text, "copula:nationality", 0.75)


def _age(token: Token, living: bool) -> str | None:
    for part in [token, *token.children]:
        if _YEARS.fullmatch(part.text):
            return part.text
    if token.lower_ == "old":
        years = next((c for c in token.children if c.lower_ in ("year", "years")), None)
        number = next((c for c in years.children if c.dep_ == "nummod"), None) if years is not None else None
        return number.text if number is not None else None
    if living and (token.like_num or token.lower_ in _AGE_WORDS) and not any(c.dep_ in ("prep",) for c in token.children):
        text = token.text
        digits = text if text.isdigit() else ""
        if (digits and 0 < int(digits) < 120) or (not digits and token.lower_.split("-")[0] in _AGE_WORDS):
            return text
    return None


def kinds(clause: Clause) -> Iterator[Match]:
    """ "X is a Y" with an indefinite noun that is neither role, relative nor a vague word."""
    if lemma(clause.head) != "be" or clause.progressive:
        return
    for attribute in clause.attributes:
        word = attribute.lemma_.casefold()
        owner = next((c for c in attribute.children if c.dep_ == "poss"), None)
        if owner is not None and (word in ACQUAINTANCES or word in _DISTANT_KIN or is_role(attribute)):
            for person in clause.subjects:
                if person.pos_ == "PROPN":
                    yield Match(f"{word}_of", person, owner, "copula:acquaintance", 0.6)
    holders: list[Token | None] = [None] if clause.implied else list(clause.subjects)
    for holder in holders:
        if holder is not None and (
            (holder.pos_ == "PRON" and holder.lower_ in ("you", "this", "that", "it", "there", "we", "they", "i")) or holder.tag_ == "EX"
        ):
            continue
        if holder is None:
            continue
        for noun in clause.attributes:
            article = next((c for c in noun.children if c.dep_ == "det"), None)
            if (
                noun.pos_ == "NOUN"
                and article is not None
                and article.lower_ in ("a", "an")
                and not is_role(noun)
                and noun.lemma_.casefold() not in KIN
            ):
                known = bool(things(noun) & {Thing.ANIMAL, Thing.ORGANIZATION, Thing.PLACE, Thing.SOFTWARE})
                yield Match("is_a", holder, noun, "copula:kind", 0.7 if known else 0.5 if holder.pos_ == "PROPN" else 0.4)


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


def _moved(clause: Clause, subject: Token) -> Iterator[Match]:
    """ "The meeting has been moved from 8 October to 15 October": the later date stands."""
    if not any(t.lemma_.casefold() in _DATED_NOUNS for t in [subject, *subject.lefts]):
        return
    for when in clause.whens:
        last = when.hi if when.role == "span" else when.lo
        if last is not None and when.end > clause.head.idx:
            yield Match("be_on", subject, last.group().strip().rstrip("."), "appointment:moved", 0.7, ClaimKind.CHANGE)
            return


def occupation(name: str) -> str:
    """An occupation without the nationality before it."""
    first, _, rest = name.partition(" ")
    return rest if rest and all(part.casefold() in NATIONALITIES for part in first.split("-")) else name


def setting(subject: str, qualifier: str) -> tuple[str, str]:
    """Thing and qualifier of a setting: "Jira project key" is the key of the Jira project."""
    owner, _, last = subject.rpartition(" ")
    return (owner, last.casefold()) if owner and not qualifier and last.casefold() in _SETTINGS else (subject, qualifier)


_CLOCK = re.compile(
    r"\bat\s+(?P<clock>(?:half|quarter|ten|twenty|five)\s+(?:past|to)\s+\w+|\d{1,2}[:.]\d\d(?:\s*(?:am|pm|UTC|CET|GMT))?|\d{1,2}\s*(?:am|pm|o'clock)|noon|midnight|\d{1,2}(?=\s*(?:$|[.,!;])))",
    re.IGNORECASE,
)


def favourites(clause: Clause) -> Iterator[Match]:
    """ "My favourite colour is green", "green is my favourite colour": the noun becomes the qualifier."""
    if lemma(clause.head) != "be":
        return
    for noun, others in [*((s, clause.attributes) for s in clause.subjects), *((a, clause.subjects) for a in clause.attributes)]:
        if not any(c.lower_ in ("favorite", "favourite", "fave") for c in noun.lefts):
            continue
        owner = next((c for c in noun.children if c.dep_ == "poss"), None)
        if owner is None:
            continue
        for other in others:
            if other.pos_ in ("PROPN", "NOUN", "ADJ", "NUM", "VERB"):
                yield Match(
                    "favorite",
                    owner,
                    other if other.pos_ in ("PROPN", "NOUN") else other.text,
                    "copula:favorite",
                    0.8,
                    qualifier=noun.lemma_.casefold(),
                )


_SETTINGS = frozenset(["port", "timeout", "url", "key", "region", "schema", "branch", "host", "hostname", "password", "username", "token"])
_AMOUNTS = words(
    """
    deposit fee rent price salary wage budget cost bill mortgage rate dose dosage max maximum min minimum limit threshold size
    expiry ttl interval retention quota capacity total score weight height temperature pressure ratio count
    """
)


_MODIFIERS = words("default new current max maximum min minimum total own main initial")


def settings(clause: Clause) -> Iterator[Match]:
    """ "The staging port is 5433", "the deposit is 2,300": what a thing is set to, and amounts."""
    if lemma(clause.head) != "be":
        return
    for subject in clause.subjects:
        word = subject.lemma_.casefold()
        for value in clause.attributes:
            if not (is_number(value) or any(is_number(c) for c in value.lefts)) or word not in _SETTINGS | _AMOUNTS:
                continue
            owner = next((c for c in subject.lefts if c.dep_ in ("compound", "nmod", "amod") and c.lower_ not in _MODIFIERS), None)
            if word in _SETTINGS and owner is not None:
                yield Match("configured_as", owner.text, value, "copula:setting", 0.75, qualifier=word)
            elif word in _SETTINGS or owner is not None:
                yield Match("configured_as", subject, value, "copula:setting", 0.7, qualifier=word if word in _SETTINGS else "")
            else:
                yield Match("be", subject, value, "copula:amount", 0.65)


def introductions(clause: Clause) -> Iterator[Match]:
    """ "I'm Craig": the name of who speaks."""
    if (
        lemma(clause.head) == "be"
        and not clause.negated
        and len(clause.attributes) == 1
        and clause.subjects
        and clause.subjects[0].lower_ == "i"
    ):
        name = clause.attributes[0]
        if (
            name.pos_ == "PROPN"
            and name.ent_type_ in ("PERSON", "ORG", "GPE", "")
            and not any(c.dep_ in ("det", "prep") for c in name.children)
            and name.lower_ not in NATIONALITIES
        ):
            yield Match("named", clause.subjects[0], name, "copula:name", 0.6)


_BEGINNINGS = frozenset(["found", "establish", "create", "launch", "build", "construct", "open", "start", "set", "incorporate", "bear"])
_GOT = {"marry": "married", "divorce": "divorced", "engage": "engaged", "promote": "promoted"}
_PASSAGES = {"retire": "retired", "die": "dead", "pass away": "dead"}


def beginnings(clause: Clause, text: str) -> Iterator[Match]:
    """ "Founded in 1972", "was born on 4 May 1961": the date is the object; "he retired" leaves a state."""
    verb = lemma(clause.head)
    if clause.passive and verb in _BEGINNINGS and clause.subjects and not clause.negated:
        for when in clause.whens:
            if when.role == "at" and when.lo is not None:
                name = "birth_date" if verb == "bear" else "created"
                yield Match(name, clause.subjects[0], f"date:{when.start}", f"beginning:{name}", 0.7)
                return
    state = _PASSAGES.get(clause.lemma) or (
        _GOT.get(verb) if clause.passive and len(clause.subjects) == 1 and not clause.after("to", "by", "as") else None
    )
    if state is not None and not clause.objects and not clause.after("from", "as") and not clause.negated:
        for holder in [None] if clause.implied else clause.subjects:
            if holder is None or could_be(holder, (Thing.PERSON, Thing.ANIMAL)):
                yield Match("be", holder, state, f"beginning:{verb}", 0.65, ClaimKind.CHANGE)
