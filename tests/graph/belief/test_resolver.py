"""Behaviour that the random properties found wrong once, each as its smallest case."""

from __future__ import annotations

from graph.belief.traits import Traits
from graph.belief.unit import Unit
from ontology.claim import Claim, ClaimKind
from ontology.edtf import parse_edtf
from ontology.instant import Instant
from ontology.vocabulary import Temporality

ONE = Traits(one_valued=True)
EVENT = Traits(temporal=Temporality.EVENT)


def at(text: str) -> Instant:
    """First instant of a date."""
    return parse_edtf(text).lo


def told(
    value: str, said: str, since: str | None = None, until: str | None = None, *, kind: ClaimKind = ClaimKind.STATE, polarity: bool = True
) -> Claim:
    """A claim on one slot."""
    return Claim(
        f"{value} {said}",
        said,
        0,
        "s",
        value,
        at(said),
        polarity,
        kind,
        parse_edtf(since) if since else None,
        parse_edtf(until, side="to") if until else None,
    )


def test_a_state_told_as_over_stays_an_end_when_its_end_is_corrected() -> None:
    unit = Unit([told("PHP", "2022-06-01", until="2018"), told("PHP", "2024-07-01", until="2023", kind=ClaimKind.CORRECTION)], ONE)
    assert unit.weigh("PHP", at("2019-06-01")).shadow
    assert unit.weigh("PHP", at("2024-01-01"), polarity=False).holds


def test_a_state_told_as_over_stays_an_end_when_its_start_is_corrected() -> None:
    unit = Unit([told("PHP", "2022-06-01", until="2018"), told("PHP", "2022-07-01", "2015", kind=ClaimKind.CORRECTION)], ONE)
    assert [(i.start, i.end) for i in unit.intervals["PHP", True]] == [(at("2015"), at("2019"))]
    assert unit.weigh("PHP", at("2021-06-01"), polarity=False).holds


def test_what_ends_soon_and_began_this_year_is_certain_when_told() -> None:
    unit = Unit([told("Acme", "2021-05-10", "2021", "2021-09-01T00:00:00Z", kind=ClaimKind.END)], ONE)
    assert unit.weigh("Acme", at("2021-05-10")).certain
    assert not unit.weigh("Acme", at("2021-04-01")).certain


def test_a_scheduled_state_takes_over_from_what_is_attested_within_its_granule() -> None:
    unit = Unit([told("Beta", "2021-01-10", "2022"), told("Acme", "2022-05-10")], ONE)
    assert unit.weigh("Acme", at("2022-05-10")).holds
    assert unit.weigh("Beta", at("2022-05-11")).holds
    assert not unit.weigh("Acme", at("2022-05-11")).holds


def test_a_claim_whose_start_yields_up_to_its_end_clips_nothing() -> None:
    beta = told("Beta", "2024-01-01", "2021", "2021-05-10T00:00:00.000001Z")
    unit = Unit([told("Acme", "2021-05-10", "2020-01-01"), beta], ONE)
    assert unit.weigh("Acme", at("2022-01-01")).holds
    assert len(unit.intervals["Acme", True]) == 1
    assert ("Beta", True) not in unit.intervals


def test_certainty_of_an_event_comes_from_claims_that_stand_against_its_denial() -> None:
    sure = told("Rome", "2020-01-01", "2019-05-10T00:00:00Z", "2019-05-11T00:00:00Z")
    denied = told("Rome", "2020-02-01", "2019-05", "2019-05", polarity=False)
    vague = told("Rome", "2020-03-01", "2019-05")
    found = Unit([sure, denied, vague], EVENT).weigh("Rome", at("2019-05-10"))
    assert found.holds
    assert not found.certain
