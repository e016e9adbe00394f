"""Sending to a service that is full, far, slow, broken or another one than it seems."""

from __future__ import annotations

import httpx
import pytest

from api.cli.link import Refused
from api.cli.patience import GaveUp, Stopped
from ontology.episode import EpisodeDraft
from tests.api.cli.fake_service import FakeService, Fault, Sender, broken, error, overloaded, status
from workers.bulk import Tally


def drafts(*texts: str) -> list[EpisodeDraft]:
    return [EpisodeDraft(text, "chat", external_id=str(place), group="g", said_at="2024-01-01") for place, text in enumerate(texts)]


TEA = drafts(*(f"tea {number}" for number in range(6)))

FAULTS: dict[str, Fault] = {
    "no connection": broken(httpx.ConnectError),
    "no connection in time": broken(httpx.ConnectTimeout),
    "no answer in time": broken(httpx.ReadTimeout),
    "cut off while it was sent": broken(httpx.WriteError),
    "cut off before it was done": broken(httpx.RemoteProtocolError),
    "cut off after it was done": broken(httpx.ReadError, after=True),
    "500": status(500),
    "502": status(502),
    "503": status(503),
    "503 with a time": status(503, **{"Retry-After": "7"}),
    "503 with a date": status(503, **{"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}),
    "429": status(429),
    "full": overloaded(3),
    "an error with the code of it": error("OVERLOADED"),
    "a masked failure": error("INTERNAL_SERVER_ERROR"),
}


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize("times", [1, 2])
def test_a_batch_arrives_once_whatever_was_in_its_way(name: str, times: int) -> None:
    sender = Sender(FakeService(faults=[FAULTS[name]] * times))
    tally = sender.sink.take(TEA)
    assert tally == Tally(accepted=6)
    assert sorted(sender.service.stored.values()) == sorted(draft.content for draft in TEA)
    assert len(sender.waits) == times
    assert sender.said[-1] is None
    sender.jobs.follow(lambda _: None)
    outcomes = sender.jobs.outcomes()
    # An answer that was lost is one that says next time that all is known.
    assert (outcomes.accepted, outcomes.known) == ((0, 6) if "after it was done" in name else (6, 0))


def test_waits_grow_and_the_server_may_say_how_long() -> None:
    sender = Sender(FakeService(faults=[status(503)] * 9))
    sender.sink.take(TEA)
    assert all(0.25 * 2**place <= wait <= 0.5 * 2**place for place, wait in enumerate(sender.waits[:6]))
    assert max(sender.waits) <= 30
    assert len(set(sender.waits)) == 9
    told = Sender(FakeService(faults=[overloaded(3), status(503, **{"Retry-After": "7"})]))
    told.sink.take(TEA)
    assert [int(wait) for wait in told.waits] == [3, 7]
    assert told.said[:2] == ["the server is full; again in 3 s", "the server at http://fake answers with status 503; again in 7 s"]


def test_what_a_service_says_beside_its_status_is_told() -> None:
    starting = httpx.Response(503, json={"data": None, "errors": [{"message": "it is starting"}]})
    sender = Sender(FakeService(faults=[lambda: starting]))
    sender.sink.take(TEA)
    assert sender.said[0] is not None and "status 503: it is starting; again" in sender.said[0]


def test_patience_ends_and_says_for_how_long_it_lasted() -> None:
    sender = Sender(FakeService(faults=[broken(httpx.ConnectError)] * 1000), seconds=100)
    with pytest.raises(GaveUp, match=r"does not answer: the connection broke, for \d+ s now"):
        sender.sink.take(TEA)
    assert 60 < sum(sender.waits) <= 100


def test_a_success_renews_patience() -> None:
    sender = Sender(FakeService(), seconds=20)
    for _ in range(5):
        sender.service.faults = [status(503)] * 4
        sender.sink.take(TEA)
    assert sum(sender.waits) > 20


def test_a_stop_ends_every_wait() -> None:
    sender = Sender(FakeService(faults=[overloaded(3)]))
    sender.stop.set()
    with pytest.raises(Stopped):
        sender.sink.take(TEA)
    assert sender.service.calls == []


@pytest.mark.parametrize("place", [0, 3, 5])
def test_a_malformed_episode_costs_itself_alone(place: int) -> None:
    texts = [f"tea {number}" for number in range(6)]
    texts[place] = "refuse this"
    sender = Sender(FakeService())
    tally = sender.sink.take(drafts(*texts))
    assert (tally.accepted, tally.failures) == (5, [f"chat g/{place}: malformed"])
    assert sender.service.calls == [5]


def test_an_episode_that_breaks_the_service_costs_itself_alone() -> None:
    sender = Sender(FakeService())
    tally = sender.sink.take(drafts("tea", "stumble", "more tea", "pie"))
    assert (tally.accepted, tally.failed) == (3, 1)
    assert tally.failures[0].startswith("chat g/1: ")
    assert sender.service.stored.keys() == {("chat", "0"), ("chat", "2"), ("chat", "3")}


def test_what_a_variable_cannot_hold_costs_itself_alone() -> None:
    sender = Sender(FakeService(faults=[error("BAD_USER_INPUT", "Variable '$input' got invalid value")]))
    assert sender.sink.take(TEA).accepted == 6
    assert sender.service.calls == [3, 3]


def test_a_call_that_is_too_large_goes_in_parts() -> None:
    sender = Sender(FakeService(most=2))
    assert sender.sink.take(TEA).accepted == 6
    assert max(sender.service.calls) <= 2


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (error("BAD_USER_INPUT", "Cannot query field 'ingestEpisodes'"), "Cannot query field"),
        (error("FORBIDDEN", "the key may not write"), "may not write"),
        (status(404), "status 404 and no GraphQL: is it Erstwhile"),
        (status(200), "no GraphQL"),
    ],
)
def test_what_trying_again_does_not_mend_is_said_at_once(fault: Fault, message: str) -> None:
    sender = Sender(FakeService(faults=[fault]))
    with pytest.raises(Refused, match=message):
        sender.sink.take(TEA)
    assert sender.waits == []


def test_the_key_is_sent_and_a_wrong_one_refused() -> None:
    service = FakeService(key="sesame")
    assert Sender(service).sink.take(TEA).accepted == 6
    sender = Sender(service)
    sender.link._headers["Authorization"] = "Bearer other"
    with pytest.raises(Refused, match="no such key"):
        sender.sink.take(TEA)


def test_outcomes_are_counted_when_the_jobs_have_ended() -> None:
    sender = Sender(FakeService(polls=2))
    texts = drafts("tea", "empty words", "hold this", "fail at this", "pie")
    sender.sink.take(texts)
    sender.sink.take(texts[:1])
    seen: list[Tally] = []
    sender.jobs.follow(seen.append)
    assert (seen[0].accepted, seen[0].pending) == (6, 6)
    expected = Tally(accepted=3, empty=1, known=1, held_back=1, failed=1, failures=["chat g 3: it cannot be extracted"])
    assert sender.jobs.outcomes() == expected == seen[-1]


def test_nobody_need_wait_for_the_jobs() -> None:
    sender = Sender(FakeService(polls=10))
    sender.sink.take(TEA)
    sender.jobs.follow(lambda _: None, wait=False)
    assert sender.jobs.outcomes() == Tally(accepted=6, pending=6)
    assert sender.service.questions["JobProgress"] == 1


def test_many_jobs_are_asked_for_in_few_questions() -> None:
    sender = Sender(FakeService())
    for draft in drafts(*(f"tea {number}" for number in range(45))):
        sender.sink.take([draft])
    sender.jobs.follow(lambda _: None)
    assert sender.service.questions["JobProgress"] == 3
    assert sender.jobs.outcomes().accepted == 45


def test_questions_about_jobs_are_asked_again_too() -> None:
    sender = Sender(FakeService())
    sender.sink.take(TEA)
    sender.service.everywhere, sender.service.faults = True, [status(503), broken(httpx.ReadError)]
    sender.jobs.follow(lambda _: None)
    assert sender.jobs.outcomes().accepted == 6


def test_a_job_that_the_server_does_not_know_any_more_is_no_success() -> None:
    sender = Sender(FakeService())
    sender.sink.take(TEA)
    sender.service.jobs.clear()
    sender.jobs.follow(lambda _: None)
    assert (sender.jobs.outcomes().accepted, sender.jobs.outcomes().failed) == (0, 6)
    assert "--fresh" in sender.jobs.outcomes().failures[0]
