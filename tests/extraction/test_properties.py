"""What holds for every text: quotes, order, determinism, no crash, linear work."""

from __future__ import annotations

from time import perf_counter

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from extraction.calendar import Granule
from extraction.dating import resolve
from extraction.extractor import SpacyExtractor
from extraction.passage import MAX_PASSAGE, passages
from extraction.rows import claim_row, turn_from_row
from extraction.times import find_times
from ontology.edtf import parse_edtf
from ontology.episode import Turn
from ontology.vocabulary import Vocabulary

SENTENCES = [
    "I moved from Leeds to Porto last August.",
    "my sister's allergic to nuts and so is my mum",
    "We don't use Docker anymore 🚀 since 2019!",
    "Zoë lives in Köln; she’s a nurse.",
    "sorry, it's 5433, not 5432",
    "Action: Rosa to book the hall by 3 May.",
    "stack:\n- api: fastapi\n- db: pg 15",
    "im off to malmo, hes there since 2 weeks",
    "Elif Karaca (born 4 May 1961 in Trabzon) is a hydrologist.",
    "雾凇词库部署 👩‍💻 Sam likes tea",
]


def turn(text: str) -> Turn:
    return turn_from_row({"id": "t", "speaker": "Ada", "addressee": "Bob", "said": "2025-03-12T10:00:00Z", "text": text})


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(st.lists(st.one_of(st.sampled_from(SENTENCES), st.text(max_size=40)), max_size=5).map(" ".join))
def test_any_text_gives_claims_that_quote_it(extractor: SpacyExtractor, vocabulary: Vocabulary, text: str) -> None:
    given_turn = turn(text)
    (found,) = extractor.examine([given_turn])
    for claim in found.claims:
        assert 0 <= claim.start < claim.end <= len(text)
        assert text[claim.start : claim.end].strip()
        assert claim.subject.strip() and claim.object.text.strip() and claim.rule
        assert 0 <= claim.confidence <= 1
        for bound in (claim.valid_from, claim.valid_to):
            assert bound is None or parse_edtf(bound)
        assert claim_row(given_turn, claim, vocabulary)["status"] in ("PAST", "NOW", "FUTURE")
    for piece in found.dropped:
        assert 0 <= piece.start <= piece.end <= len(text)
    assert [claim.start for claim in found.claims] == sorted(claim.start for claim in found.claims)


@pytest.mark.parametrize("text", SENTENCES)
def test_the_quote_holds_the_name_of_the_object(extractor: SpacyExtractor, text: str) -> None:
    for claim in extractor.extract([turn(text)])[0]:
        quote = text[claim.start : claim.end].casefold()
        if claim.predicate not in ("drinks", "birth_date", "be"):
            assert claim.object.text.split()[-1].casefold() in quote or claim.object.text == "Ada"


def test_a_batch_gives_what_single_turns_give(extractor: SpacyExtractor) -> None:
    turns = [turn(text) for text in SENTENCES]
    assert extractor.extract(turns) == [extractor.extract([one])[0] for one in turns] == extractor.extract(turns)


@given(st.text(max_size=300))
@example("A_0:")
@example("x_1 runs, y_2 too")
def test_passages_are_ordered_pieces_of_the_text(text: str) -> None:
    at = 0
    for passage in passages(text, [(0, len(text))]):
        assert at <= passage.start <= passage.end <= len(text)
        assert len(text[passage.start : passage.end]) <= MAX_PASSAGE
        origins = [passage.origin(place) for place in range(len(passage.text) + 1)]
        assert origins == sorted(origins) and passage.start <= origins[0] and origins[-1] <= passage.end
        at = passage.end


@given(st.text(alphabet="0123456789 -/.:adenorsty,", max_size=60), st.booleans())
def test_times_are_found_in_any_text(text: str, forward: bool) -> None:
    for when in find_times(f"on {text} in 2019"):
        stretch = resolve(when, Granule(2025, 3, 4), forward)
        for bound in (stretch.lo, stretch.hi) if stretch else ():
            assert bound is None or bound.exists


def test_work_grows_with_the_text_and_not_faster(extractor: SpacyExtractor) -> None:
    sentence = "my cat sits on the warm stove and sleeps, "
    extractor.extract([turn("warm up")])
    times = []
    for size in (2_000, 8_000):
        began = perf_counter()
        extractor.extract([turn(sentence * (size // len(sentence)))])
        times.append(perf_counter() - began)
    assert times[1] < 12 * times[0] + 0.5


@pytest.mark.parametrize(
    "text", ["", " \n ", "a" * 5_000, "(" * 3_000, "not " * 800, "🚀" * 500, "1 " * 1_000, "\x00\ud800 I live in Rome."]
)
def test_hostile_texts_end_quickly(extractor: SpacyExtractor, text: str) -> None:
    began = perf_counter()
    extractor.extract([turn(text)])
    assert perf_counter() - began < 5
