"""Extraction patterns of a predicate, as the vocabulary file has them: how its relation is worded in English.

A pattern names one kind of head (`verb`, `noun` or `adjective`, by lemma) and says where subject and object stand around it:

    - {verb: [work, "hand out"], preposition: [at, for]}          # Ada works at Acme
    - {verb: [join], objectType: [organization], kind: CHANGE}    # Ada joined Acme
    - {verb: [own], passive: true, preposition: [by], swap: true} # the feature store is owned by ML platform
    - {verb: [get, land], light: [job], preposition: [at]}        # Ada got a job at Acme
    - {noun: [manager, boss]}                                     # Ada is Bob's manager; my manager Ada
    - {noun: [wife, husband], swap: true}                         # my wife Ada: the owner of the noun is the subject
    - {adjective: [allergic], preposition: [to]}                  # Ada is allergic to nuts
    - {verb: [switch, move], preposition: [to], previous: [from]} # switched from A to B: the former value ends
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from ontology.claim import ClaimKind


class Thing(StrEnum):
    """Coarse classes of what a noun phrase may denote, told by name recognition and word lists."""

    PERSON = "person"
    ORGANIZATION = "organization"
    PLACE = "place"
    ANIMAL = "animal"
    FOOD = "food"
    DRINK = "drink"
    MEDICINE = "medicine"
    LANGUAGE = "language"
    ROLE = "role"
    GAME = "game"
    ACTIVITY = "activity"
    PROPERTY = "property"
    SOFTWARE = "software"
    NUMBER = "number"
    THING = "thing"


class Tense(StrEnum):
    """When the clause lies, as its verb says it."""

    PAST = "past"
    PRESENT = "present"
    PERFECT = "perfect"
    FUTURE = "future"


class Where(StrEnum):
    """A place in the clause other than the one that the pattern's head implies."""

    SUBJECT = "subject"
    OBJECT = "object"
    COMPLEMENT = "complement"


def _spoken(value: object) -> object:
    """YAML 1.1 reads the prepositions on and off as true and false."""
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else value


def _lemma(value: str) -> str:
    if not value or value != value.casefold().strip() or len(value) > 60:
        raise ValueError("a lemma is 1 to 60 characters, in lower case, without outer spaces")
    return value


Lemma = Annotated[str, BeforeValidator(_spoken), AfterValidator(_lemma)]
Lemmas = Annotated[tuple[Lemma, ...], Field(min_length=1)]


class PatternModel(BaseModel):
    """One wording of a predicate.

    `verb` may have a particle ("split up"). `preposition` marks the object; without it the object is the verb's own, the
    owner of the noun, or what the noun is "of". `previous` are the prepositions of the former value. `light` are
    objects that make up the verb's meaning ("got a job at Acme"). `subject: object` takes
    the verb's object as the subject ("we deployed X to Y"); `object: complement` takes the words after the verb whole.
    `noObject` matches only where the clause has none, and `value` is then the object. `reciprocal` takes two coordinated
    subjects as subject and object ("Ada and Bob split up"). Types and `objectWords` restrict subject and object (what cannot
    be classed passes), `named` wants a proper name, `anchored` a "since", "for three years" or "now" in the clause.
    `kind` is how the claim bears on others; `polarity: false` makes a denial.
    `confidence` under .5 makes candidates.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    verb: Lemmas | None = None
    noun: Lemmas | None = None
    adjective: Lemmas | None = None
    preposition: tuple[Lemma, ...] = ()
    previous: tuple[Lemma, ...] = ()
    light: tuple[Lemma, ...] = ()
    passive: bool = False
    swap: bool = False
    subject: Where = Where.SUBJECT
    object: Where = Where.OBJECT
    subject_type: tuple[Thing, ...] = Field((), alias="subjectType")
    object_type: tuple[Thing, ...] = Field((), alias="objectType")
    object_words: tuple[Lemma, ...] = Field((), alias="objectWords")
    named: bool = False
    anchored: bool = False
    reciprocal: bool = False
    no_object: bool = Field(False, alias="noObject")
    value: str | None = Field(None, min_length=1, max_length=100)
    tense: tuple[Tense, ...] = ()
    progressive: bool | None = None
    kind: ClaimKind | None = None
    polarity: bool = True
    qualifier: str = Field("", max_length=60)
    confidence: float = Field(0.8, ge=0.0, le=1.0)

    @model_validator(mode="after")
    def _one_head(self) -> Self:
        if sum(head is not None for head in (self.verb, self.noun, self.adjective)) != 1:
            raise ValueError("a pattern has exactly one of 'verb', 'noun' and 'adjective'")
        if self.no_object and self.value is None:
            raise ValueError("'noObject' needs a 'value' that stands for the object")
        if self.previous and not self.preposition:
            raise ValueError("'previous' needs a 'preposition' for the new value")
        if self.kind in (ClaimKind.CORRECTION, ClaimKind.PATCH):
            raise ValueError("a pattern's kind is STATE, CHANGE or END; corrections and patches are told by the sentence")
        return self
