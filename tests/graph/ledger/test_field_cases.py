"""Failures that people reported of like products, from the words to the answer: real extraction, real ledger."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from string import ascii_uppercase

import pytest

from extraction.extractor import SpacyExtractor
from extraction.scrubbing import Scrubber
from graph.service import LedgerGraph
from graph.views import EntityRef, EntityView, ObjectRef, StatementFilter, StatementView, Truth, Want
from ontology.claim import CANDIDATE_BELOW, Modality
from ontology.episode import EpisodeDraft, Turn
from ontology.instant import DAY, UNBOUNDED_FUTURE, Instant, format_instant, parse_instant
from ontology.loading import load_vocabulary

Told = tuple[str, str]
"""Said at, text."""


@pytest.fixture(scope="module")
def extractor() -> SpacyExtractor:
    return SpacyExtractor(load_vocabulary())


class Story:
    """What some episodes, told in some order, make of a namespace."""

    def __init__(self, graph: LedgerGraph, extractor: SpacyExtractor, namespace: str, told: Sequence[Told], speaker: str = "Notes") -> None:
        self.graph, self.namespace = graph, namespace
        for said, text in told:
            draft = EpisodeDraft(
                Scrubber(b"key").scrub(text).text, "case", external_id=f"{said} {text}"[:500], said_at=said, speaker=speaker
            )
            claims = extractor.extract([Turn("1", draft.content, parse_instant(said), speaker)])[0]
            graph.record_extracted(namespace, [(draft, claims, ())], extractor=extractor.id)

    def values(self, subject: str, predicate: str, at: str, *, polarity: bool = True) -> set[str]:
        """Values that hold at an instant."""
        return {shown(view) for view in self.statements(subject, predicate, at, polarity=polarity)}

    def statements(self, subject: str, predicate: str, at: str, *, polarity: bool | None = None, gone: bool = False) -> list[StatementView]:
        """Statements of a slot."""
        snapshot = self.graph.snapshot(self.namespace, valid_at=parse_instant(at))
        asked = StatementFilter(predicates=(predicate,), polarity=polarity, include_invalidated=gone)
        key = snapshot.key_of(EntityRef(name=subject))
        return list(snapshot.statements_about(key, "SUBJECT", asked, first=100, want=frozenset({Want.INVALIDATION, Want.PROVENANCE})).items)

    def spans(self, subject: str, predicate: str) -> list[tuple[str, Instant, Instant]]:
        """Positive statements over all time."""
        found = self.graph.snapshot(self.namespace).timeline(EntityRef(name=subject), predicate)
        views = {view for segment in found.segments for view in segment.statements if view.polarity}
        return sorted((shown(view), view.v_from, view.v_to) for view in views)


def shown(view: StatementView) -> str:
    """The object's name or value."""
    return view.object.name if isinstance(view.object, EntityView) else view.object.value


@pytest.fixture
def tell(open_graph: Callable[..., LedgerGraph], extractor: SpacyExtractor) -> Callable[..., Story]:
    graph = open_graph(load_vocabulary())
    names = itertools.count()
    return lambda told, **more: Story(graph, extractor, f"story-{next(names)}", told, **more)


def test_relative_dates_stay_near_what_was_said(tell: Callable[..., Story]) -> None:
    story = tell([("2026-05-16T09:00:00Z", "Alice moved to Lyon today. Last week she quit Acme.")])
    (place,) = story.spans("Alice", "lives_in")
    assert place[0] == "Lyon"
    assert format_instant(place[1]).startswith("2026-05-16")
    (job,) = story.spans("Alice", "works_at")
    assert job[0] == "Acme"
    assert "2026-05-04" <= format_instant(job[2])[:10] <= "2026-05-11"


def test_a_stamp_printed_in_the_text_is_no_date_of_the_fact(tell: Callable[..., Story]) -> None:
    story = tell([("2026-05-18T12:00:00Z", "[exported 2026-01-02 03:04] Bob uses vim.")])
    ((value, start, _),) = story.spans("Bob", "uses")
    assert (value, format_instant(start)) == ("vim", "2026-05-18T12:00:00Z")
    dated = tell([("2026-05-18T12:00:00Z", "Since 2019-03-01 Bob uses vim.")])
    assert [format_instant(start)[:10] for _, start, _ in dated.spans("Bob", "uses")] == ["2019-03-01"]


def test_one_fact_told_with_and_without_an_offset_is_one_statement(tell: Callable[..., Story]) -> None:
    story = tell([("2026-01-01T00:00:00Z", "Bob uses vim."), ("2026-01-01T00:00:00+00:00", "Bob uses vim.")])
    (statement,) = story.statements("Bob", "uses", "2026-02-01T00:00:00Z")
    assert statement.evidence_count == 2


DRINKS = [
    ("2023-09-23T00:00:00Z", "Nick started drinking coffee."),
    ("2023-09-21T00:00:00Z", "Nick drinks green tea."),
    ("2023-09-22T00:00:00Z", "Nick stopped drinking green tea."),
]


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_what_is_told_late_looks_back_in_any_order(tell: Callable[..., Story], order: tuple[int, ...]) -> None:
    story = tell([DRINKS[place] for place in order])
    assert story.values("Nick", "drinks", "2023-12-01T00:00:00Z") == {"coffee"}
    assert story.values("Nick", "drinks", "2023-09-21T12:00:00Z") == {"green tea"}


def test_love_turned_to_hate_keeps_both_and_names_what_ended_the_first(tell: Callable[..., Story]) -> None:
    told = [("2024-01-01T00:00:00Z", "I love Chinese food."), ("2024-06-01T00:00:00Z", "I hate Chinese food.")]
    story = tell(told, speaker="Ann")
    assert story.values("Ann", "likes", "2024-03-01T00:00:00Z") == {"Chinese food"}
    assert story.values("Ann", "likes", "2024-07-01T00:00:00Z") == set()
    assert story.values("Ann", "likes", "2024-07-01T00:00:00Z", polarity=False) == {"Chinese food"}
    asked = story.graph.snapshot(story.namespace, valid_at=parse_instant("2024-07-01T00:00:00Z"))
    assert asked.ask(EntityRef(name="Ann"), "dislikes", ObjectRef(name="Chinese food")).value is Truth.YES
    (loved,) = [view for view in story.statements("Ann", "likes", "2024-07-01T00:00:00Z", gone=True) if view.polarity]
    assert loved.invalidation is not None
    assert (loved.invalidation.reason, loved.invalidation.rule) == ("CONTRADICTED", "polarity")
    assert loved.invalidation.evidence is not None
    assert "hate Chinese food" in loved.invalidation.evidence.quote
    assert loved.v_to == parse_instant("2024-06-01T00:00:00Z")


def test_a_new_favourite_of_one_kind_replaces_the_old(tell: Callable[..., Story]) -> None:
    told = [("2024-01-01T00:00:00Z", "My favorite player is Ronaldo."), ("2024-06-01T00:00:00Z", "My current favorite player is Messi.")]
    story = tell(told, speaker="Ann")
    assert story.values("Ann", "favorite", "2024-07-01T00:00:00Z") == {"Messi"}
    assert {shown(view) for view in story.statements("Ann", "favorite", "2024-07-01T00:00:00Z", gone=True)} == {"Messi", "Ronaldo"}
    (changed,) = story.statements("Ann", "favorite", "2024-07-01T00:00:00Z")
    assert changed.v_from == parse_instant("2024-06-01T00:00:00Z")


def test_unrelated_facts_in_like_words_end_nothing(tell: Callable[..., Story]) -> None:
    start = parse_instant("2024-01-01T00:00:00Z")
    names = [f"Service {letter}" for letter in ascii_uppercase]
    told = [(format_instant(start + n * DAY), f"{name} listens on port {8001 + n}.") for n, name in enumerate(names)]
    story = tell(told)
    page = story.graph.snapshot(story.namespace).statements(StatementFilter(include_invalidated=True), first=100)
    assert all(view.v_to == UNBOUNDED_FUTURE and view.tx_to_at is None for view in page.items)
    assert len(page.items) >= len(names)


@pytest.mark.parametrize(
    "text",
    [
        "I like that, sounds good.",
        "Suppose I lived in Mars City.",
        "In the game my character owns a dragon.",
        "If we moved to AWS, costs would double.",
    ],
)
def test_thanks_play_and_suppositions_are_no_facts(tell: Callable[..., Story], text: str) -> None:
    story = tell([("2024-01-01T00:00:00Z", text)], speaker="Ann")
    assert story.graph.snapshot(story.namespace).statements(StatementFilter(include_invalidated=True)).items == ()


def test_a_request_behind_a_preference_is_not_part_of_it(extractor: SpacyExtractor) -> None:
    text = "I prefer dark mode over light mode, can you set it up?"
    claims = [
        claim
        for claim in extractor.extract([Turn("1", text, 0, "Ann")])[0]
        if claim.confidence >= CANDIDATE_BELOW and claim.modality in (Modality.ASSERTED, Modality.REPORTED)
    ]
    assert [(claim.predicate, claim.subject) for claim in claims] == [("prefers", "Ann")]
    assert claims[0].object.text.startswith("dark mode")
    assert "set" not in claims[0].object.text


def test_secrets_beside_plain_facts_never_reach_the_ledger(tell: Callable[..., Story], tmp_path_factory: pytest.TempPathFactory) -> None:
    secrets = ["AKIAIOSFODNN7EXAMPLE", "ghp_" + "a1B2" * 9, "hunter2hunter2", "s3cr3tpw"]
    text = f"Bob uses vim. Keys: {secrets[0]}, {secrets[1]}; export DB_PASSWORD={secrets[2]} and postgres://u:{secrets[3]}@db/x."
    story = tell([("2024-01-01T00:00:00Z", text)])
    assert story.values("Bob", "uses", "2024-02-01T00:00:00Z") == {"vim"}
    (episode,) = story.graph.snapshot(story.namespace).episodes().items
    assert episode.content is not None
    assert "[REDACTED:" in episode.content
    assert not [secret for secret in secrets if secret in episode.content]


def test_an_act_in_the_past_denies_nothing_afterwards(tell: Callable[..., Story]) -> None:
    told = [("2024-03-06T12:00:00Z", "I won a trophy! I passed the interview last Friday.")]
    story = tell(told, speaker="Ann")
    found = story.graph.snapshot(story.namespace).statements(StatementFilter(include_invalidated=True), first=100).items
    assert [(view.predicate, shown(view), view.polarity) for view in found] == [("pass", "interview", True)]
    assert found[0].v_to <= parse_instant("2024-03-06T00:00:00Z")


def test_what_one_used_to_do_is_denied_afterwards(tell: Callable[..., Story]) -> None:
    story = tell([("2024-03-06T12:00:00Z", "I used to live in Rome.")], speaker="Ann")
    assert story.values("Ann", "lives_in", "2024-04-01T00:00:00Z", polarity=False) == {"Rome"}
