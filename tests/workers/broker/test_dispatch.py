"""The owner's side: what is handed out comes back once and checked, and Redis may forget everything."""

from __future__ import annotations

import logging
import os
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from graph.work import BULK, LIVE, MAX_STARTS
from ontology.vocabulary import Vocabulary
from tests.redis_server import RedisServer
from tests.workers.broker.conftest import PASSWORD
from tests.workers.broker.hands import SMALL, Hand, Ledger, all_of, episode, settings_for
from tests.workers.extracting import TripleExtractor
from workers.broker import dispatch as module
from workers.broker.connection import GROUP, OWNER
from workers.broker.dispatch import RedisDispatch
from workers.broker.messages import LARGEST, VERSION, ClaimMessage, Result, digest_of, packed
from workers.broker.settings import BrokerSettings
from workers.broker.signing import Purpose, Signer
from workers.dispatching import DispatchUnavailable, Kind, Outcome
from workers.turns import turn_of


@pytest.fixture(autouse=True)
def looking_always(monkeypatch: pytest.MonkeyPatch) -> None:
    """It sees at once what it would see a quarter of a second later."""
    monkeypatch.setattr(module, "CHECK_EVERY", 0.0)


@pytest.fixture
def settings(redis: RedisServer) -> BrokerSettings:
    return settings_for(redis.url)


@pytest.fixture
def hand(settings: BrokerSettings) -> Iterator[Hand]:
    found = Hand(settings)
    yield found
    found.client.close()


@pytest.fixture
def ledger() -> Ledger:
    return Ledger(*(episode(row) for row in range(5)))


@pytest.fixture
def dispatch(settings: BrokerSettings, ledger: Ledger) -> Iterator[RedisDispatch]:
    found = RedisDispatch(settings, SMALL, ledger)
    # An empty Redis has forgotten what earlier processes sent, and nothing is sent before that is known.
    assert found.room(BULK) == 0
    assert found.lost()
    yield found
    found.close()


def told(outcomes: list[Outcome]) -> list[tuple[str, int]]:
    return [(each.kind.value, each.row) for each in outcomes]


def test_a_chunk_comes_back_as_starts_and_results_and_leaves_nothing(dispatch: RedisDispatch, ledger: Ledger, hand: Hand) -> None:
    dispatch.send(BULK, ledger.all)
    assert hand.work() == 1
    outcomes = dispatch.receive(64, 1)
    assert told(outcomes) == [("started", row) for row in range(5)] + [("extracted", row) for row in range(5)]
    expected = TripleExtractor().extract([turn_of(each.draft, each.said) for each in ledger.all])
    assert [list(each.claims) for each in outcomes[5:]] == expected
    assert {each.extractor for each in outcomes[5:]} == {TripleExtractor.id}
    dispatch.settle(outcomes)
    assert hand.client.xlen(hand.keys.results) == 0
    assert hand.client.xpending(hand.keys.results, GROUP)["pending"] == 0
    assert dispatch.receive(64, 0) == []
    assert hand.waiting() == 0


def test_the_queues_are_apart(dispatch: RedisDispatch, ledger: Ledger, hand: Hand) -> None:
    dispatch.send(LIVE, ledger.all[:1])
    dispatch.send(BULK, ledger.all[1:])
    assert (hand.waiting(LIVE), hand.waiting(BULK)) == (1, 1)
    assert hand.work(LIVE) == 1
    assert told(all_of(dispatch)) == [("started", 0), ("extracted", 0)]


def result(row: int, text: str | None = None, **changes: Any) -> Result:
    waiting = episode(row, text)
    content = waiting.draft.content
    claims = TripleExtractor().extract([turn_of(waiting.draft, waiting.said)])[0]
    given: dict[str, Any] = {
        "kind": Kind.EXTRACTED,
        "row": row,
        "round": 0,
        "key": waiting.key,
        "begun": 1,
        "digest": digest_of(content),
        "vocabulary": SMALL.version,
        "extractor": TripleExtractor.id,
        "claims": [ClaimMessage.of(claim, content) for claim in claims],
    }
    return Result(v=VERSION, **(given | changes))


def put(hand: Hand, body: bytes, *, mark: str | None = None) -> None:
    hand.client.xadd(hand.keys.results, {"body": body, "mark": hand.signer.mark(Purpose.RESULT, body) if mark is None else mark})


GOOD = packed(result(1))
MISQUOTED = ClaimMessage.of(TripleExtractor().extract([turn_of(episode(1).draft, 0)])[0][0], episode(1).draft.content)
FALSE: dict[str, tuple[bytes, str | None]] = {
    "not signed": (GOOD, ""),
    "signed with another key": (GOOD, Signer(b"another key, just as long").mark(Purpose.RESULT, GOOD)),
    "signed as something else": (GOOD, Signer(b"a key of the tests, long").mark(Purpose.EXTRACT, GOOD)),
    "changed after it was signed": (GOOD.replace(b"C1", b"C2"), Signer(b"a key of the tests, long").mark(Purpose.RESULT, GOOD)),
    "a mark that is no text": (GOOD, "é"),
    "of another episode": (packed(result(1, key="key-2")), None),
    "of another text": (packed(result(1, "Bob likes C1")), None),
    "of another vocabulary": (packed(result(1, vocabulary="other")), None),
    "words that do not stand there": (packed(result(1, claims=[MISQUOTED.model_copy(update={"quote": "Ada hates C1"})])), None),
    "words elsewhere": (packed(result(1, claims=[MISQUOTED.model_copy(update={"start": 1, "end": 13})])), None),
    "words beyond the end": (packed(result(1, claims=[MISQUOTED.model_copy(update={"end": 9999})])), None),
    "words from the end to the start": (packed(result(1, claims=[MISQUOTED.model_copy(update={"start": 5, "end": 2, "quote": ""})])), None),
    "a claim about nothing": (packed(result(1, claims=[MISQUOTED.model_copy(update={"subject": ""})])), None),
    "no JSON": (b"{", None),
    "no UTF-8": (b"\xff\xfe", None),
    "no object": (b"[]", None),
    "deep": (b"[" * 100_000, None),
    "a field too many": (GOOD[:-1] + b',"secret-of-mine":1}', None),
    "a field too few": (GOOD.replace(b'"row":1,', b""), None),
    "a number for a text": (GOOD.replace(b'"key-1"', b"1"), None),
    "a confidence beyond all doubt": (GOOD.replace(b'"rule":"triple"', b'"rule":"triple","confidence":7'), None),
    "another version": (GOOD.replace(b'"v":1', b'"v":2'), None),
    "huge": (GOOD[:-1] + b" " * LARGEST + b"}", None),
}


def test_the_good_one_among_the_false_ones_is_taken(dispatch: RedisDispatch, hand: Hand) -> None:
    put(hand, GOOD)
    assert told(all_of(dispatch)) == [("extracted", 1)]
    assert dispatch.figures.refused == {}


@pytest.mark.parametrize("kind", FALSE)
def test_a_false_result_is_refused_counted_and_gone(
    kind: str, dispatch: RedisDispatch, hand: Hand, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LOOK_EVERY", 0.0)
    body, mark = FALSE[kind]
    put(hand, body, mark=mark)
    put(hand, packed(result(3)))
    # What stands beside it is taken.
    assert told(all_of(dispatch)) == [("extracted", 3)]
    assert hand.client.xlen(hand.keys.results) == 0
    assert sum(dispatch.figures.refused.values()) == 1
    lines = [record.getMessage() for record in caplog.records if "refused" in record.getMessage()]
    assert len(lines) == 1
    assert not any(word in lines[0] for word in ("Ada", "C1", "secret", "likes", "key-1"))


def test_an_entry_without_our_fields_is_refused(dispatch: RedisDispatch, hand: Hand) -> None:
    hand.client.xadd(hand.keys.results, {"anything": "else"})
    assert all_of(dispatch) == []
    assert hand.client.xlen(hand.keys.results) == 0


def test_what_nobody_waits_for_is_dropped_in_silence(dispatch: RedisDispatch, ledger: Ledger, hand: Hand) -> None:
    dispatch.send(BULK, ledger.all)
    hand.work()
    del ledger.waiting[2]
    outcomes = all_of(dispatch)
    assert {each.row for each in outcomes} == {0, 1, 3, 4}
    assert hand.client.xlen(hand.keys.results) == 0
    assert dispatch.room(BULK) == settings_for("redis://x").bulk_window
    assert sum(dispatch.figures.refused.values()) == 0


def test_a_result_of_an_earlier_round_counts_and_a_failure_of_one_does_not(dispatch: RedisDispatch, ledger: Ledger, hand: Hand) -> None:
    ledger.waiting = {row: replace(each, round=1) for row, each in ledger.waiting.items()}
    put(hand, packed(result(1)))
    put(hand, packed(result(2, kind=Kind.STARTED, claims=[])))
    put(hand, packed(result(2, kind=Kind.FAILED, claims=[], reason="it was so")))
    outcomes = all_of(dispatch)
    assert [(each.kind, each.row, each.round) for each in outcomes] == [(Kind.EXTRACTED, 1, 1)]


def test_what_an_earlier_process_did_not_settle_comes_first_and_its_starts_count_once(
    settings: BrokerSettings, dispatch: RedisDispatch, ledger: Ledger, hand: Hand
) -> None:
    dispatch.send(BULK, ledger.all[:3])
    dispatch.send(BULK, ledger.all[3:])
    task = hand.take()
    assert task is not None
    hand.running.run(*task)
    committed = dispatch.receive(64, 1)
    # Killed after the commit of starts and one result, before it could say so.
    ledger.note([each for each in committed if each.kind is Kind.STARTED or each.row == 0])
    hand.work()
    after = RedisDispatch(settings, SMALL, ledger)
    first = after.receive(64, 0)
    assert told(first) == [("extracted", 1), ("extracted", 2)]
    second = after.receive(64, 0)
    assert told(second) == [("started", 3), ("started", 4), ("extracted", 3), ("extracted", 4)]
    assert after.receive(64, 0) == []
    assert not after.lost()
    after.settle(first + second)
    assert hand.client.xlen(hand.keys.results) == 0
    after.close()


def test_more_than_one_page_of_an_earlier_process_is_read_whole(settings: BrokerSettings, dispatch: RedisDispatch, hand: Hand) -> None:
    ledger = Ledger(*(episode(row) for row in range(30)))
    for row in range(30):
        put(hand, packed(result(row)))
    hand.client.xreadgroup(GROUP, OWNER, {hand.keys.results: ">"}, count=20)
    after = RedisDispatch(settings, SMALL, ledger)
    # Some were deleted without being acknowledged.
    oldest: Any = hand.client.xrange(hand.keys.results, count=3)
    hand.client.xdel(hand.keys.results, *(id for id, _ in oldest))
    rows = [each.row for _ in range(12) for each in after.receive(4, 0)]
    assert rows == list(range(3, 30))
    after.close()


def test_a_lost_group_is_made_again_and_loses_nothing(dispatch: RedisDispatch, ledger: Ledger, hand: Hand) -> None:
    dispatch.send(BULK, ledger.all)
    hand.work()
    hand.client.xgroup_destroy(hand.keys.results, GROUP)
    assert {each.row for each in all_of(dispatch)} <= {0, 1, 2, 3, 4}
    assert hand.client.xlen(hand.keys.results) == 0


def test_an_emptied_redis_is_noticed_at_once_and_what_is_sent_again_is_read(dispatch: RedisDispatch, ledger: Ledger, hand: Hand) -> None:
    dispatch.send(BULK, ledger.all)
    hand.client.flushall()
    assert dispatch.receive(64, 0) == []
    assert dispatch.lost()
    assert not dispatch.lost()
    assert dispatch.room(BULK) == settings_for("redis://x").bulk_window
    dispatch.send(BULK, ledger.all)
    assert hand.work() == 1
    assert told(all_of(dispatch))[5:] == [("extracted", row) for row in range(5)]


def test_emptied_between_two_calls_the_results_that_came_after_are_read(dispatch: RedisDispatch, ledger: Ledger, hand: Hand) -> None:
    dispatch.send(BULK, ledger.all)
    task = hand.take()
    hand.client.flushall()
    assert task is not None
    # A worker had the task, and has the vocabulary from earlier ones.
    hand.running._loaded[SMALL.version] = TripleExtractor()
    hand.running.run(*task)
    assert {row for kind, row in told(all_of(dispatch)) if kind == "extracted"} == {0, 1, 2, 3, 4}
    assert dispatch.lost()


def test_what_redis_forgot_while_no_process_ran_is_noticed_by_the_next(
    settings: BrokerSettings, dispatch: RedisDispatch, ledger: Ledger, redis: RedisServer
) -> None:
    dispatch.send(BULK, ledger.all)
    dispatch.close()
    kept = RedisDispatch(settings, SMALL, ledger)
    kept.room(BULK)
    assert not kept.lost()
    kept.close()
    redis.restart()
    after = RedisDispatch(settings, SMALL, ledger)
    after.room(BULK)
    assert after.lost()
    after.close()


def test_what_was_sent_with_another_vocabulary_is_sent_again(settings: BrokerSettings, dispatch: RedisDispatch, ledger: Ledger) -> None:
    dispatch.send(BULK, ledger.all)
    after = RedisDispatch(settings, Vocabulary("small-2", {}, {}), ledger)
    after.room(BULK)
    assert after.lost()
    after.close()


def test_a_redis_that_comes_back_with_an_old_copy_has_forgotten_too(dispatch: RedisDispatch, hand: Hand, redis: RedisServer) -> None:
    kept: Any = hand.client.get(hand.keys.alive)
    redis.restart(kill=True)
    with redis.client() as client:
        client.set(hand.keys.alive, kept)
    assert dispatch.receive(1, 0) == []
    assert dispatch.lost()


def test_without_redis_every_call_says_so_in_time_and_it_goes_on_after(
    dispatch: RedisDispatch, ledger: Ledger, hand: Hand, redis: RedisServer
) -> None:
    dispatch.send(BULK, ledger.all[:2])
    hand.work()
    outcomes = dispatch.receive(64, 1)
    redis.kill()
    calls: list[Callable[[], object]] = [
        lambda: dispatch.room(BULK),
        lambda: dispatch.send(BULK, ledger.all),
        lambda: dispatch.receive(64, 1),
        lambda: dispatch.settle(outcomes),
        lambda: dispatch.drop(ledger.all),
    ]
    for call in calls:
        begun = time.monotonic()
        with pytest.raises(DispatchUnavailable) as failure:
            call()
        assert time.monotonic() - begun < 2
        assert PASSWORD not in str(failure.value)
        assert str(redis.port) not in str(failure.value)
    assert [part.ok for part in dispatch.health()] == [False]
    redis.start()
    assert dispatch.receive(64, 0) == []
    assert dispatch.lost()
    dispatch.send(BULK, ledger.all)
    hand.work()
    assert {row for _, row in told(all_of(dispatch))} == {0, 1, 2, 3, 4}


def test_a_redis_that_hangs_holds_nobody(dispatch: RedisDispatch, ledger: Ledger, redis: RedisServer) -> None:
    os.kill(redis.pid, signal.SIGSTOP)
    try:
        for call in (lambda: dispatch.send(BULK, ledger.all), lambda: dispatch.receive(1, 0.1)):
            begun = time.monotonic()
            with pytest.raises(DispatchUnavailable):
                call()
            assert time.monotonic() - begun < 3
    finally:
        os.kill(redis.pid, signal.SIGCONT)
    assert dispatch.receive(64, 0) == []
    assert not dispatch.lost()


def test_settling_that_failed_is_made_up_for(dispatch: RedisDispatch, ledger: Ledger, hand: Hand, monkeypatch: pytest.MonkeyPatch) -> None:
    dispatch.send(BULK, ledger.all)
    hand.work()
    outcomes = dispatch.receive(64, 1)

    def away() -> None:
        raise ConnectionError("away")

    with monkeypatch.context() as broken:
        broken.setattr(dispatch._stream, "settle", away)
        with pytest.raises(DispatchUnavailable):
            dispatch.settle(outcomes)
    assert hand.client.xlen(hand.keys.results) == 10
    # They are not told again either.
    assert dispatch.receive(64, 0) == []
    assert hand.client.xlen(hand.keys.results) == 0


def test_it_takes_a_window_and_no_more_while_results_pile_up(redis: RedisServer, hand: Hand, ledger: Ledger) -> None:
    dispatch = RedisDispatch(settings_for(redis.url, bulk_window=4, live_window=2, stream_high=3), SMALL, ledger)
    assert dispatch.lost()
    assert (dispatch.room(BULK), dispatch.room(LIVE)) == (4, 2)
    dispatch.send(BULK, ledger.all[:3])
    assert (dispatch.room(BULK), dispatch.room(LIVE)) == (1, 2)
    dispatch.send(BULK, ledger.all[3:])
    assert dispatch.room(BULK) == 0
    hand.work()
    assert dispatch.room(LIVE) == 0
    all_of(dispatch)
    assert (dispatch.room(BULK), dispatch.room(LIVE)) == (4, 2)
    dispatch.close()


def test_what_an_earlier_process_sent_counts_against_the_window(redis: RedisServer, ledger: Ledger, hand: Hand) -> None:
    settings = settings_for(redis.url, bulk_window=16)
    before = RedisDispatch(settings, SMALL, ledger)
    for _ in range(3):
        before.send(BULK, ledger.all)
    after = RedisDispatch(settings, SMALL, ledger)
    assert after.room(BULK) == 0
    hand.work()
    assert after.room(BULK) == 16
    before.close()
    after.close()


def test_what_is_given_up_is_not_run(dispatch: RedisDispatch, ledger: Ledger, hand: Hand) -> None:
    dispatch.send(BULK, ledger.all)
    dispatch.drop(ledger.all[1:4])
    hand.work()
    assert told(all_of(dispatch)) == [("started", 0), ("started", 4), ("extracted", 0), ("extracted", 4)]
    assert hand.counts() == {"dropped": 3}
    # Asked for again it is another round.
    again = [replace(each, round=1) for each in ledger.all[1:4]]
    dispatch.send(BULK, again)
    ledger.waiting |= {each.row: each for each in again}
    hand.work()
    assert {row for kind, row in told(all_of(dispatch)) if kind == "extracted"} == {1, 2, 3}


def test_a_failure_after_the_last_start_brings_the_starts_that_nobody_was_told_of(
    dispatch: RedisDispatch, ledger: Ledger, hand: Hand
) -> None:
    put(hand, packed(result(1, kind=Kind.FAILED, claims=[], begun=MAX_STARTS, reason="the worker died")))
    put(hand, packed(result(2, kind=Kind.FAILED, claims=[], begun=1, reason="it stumbled")))
    outcomes = all_of(dispatch)
    assert told(outcomes) == [("started", 1)] * MAX_STARTS + [("failed", 1), ("failed", 2)]
    assert hand.client.xlen(hand.keys.results) == 0


def test_health_tells_of_redis_of_missing_workers_and_of_results_that_pile_up(
    redis: RedisServer, hand: Hand, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LOOK_EVERY", 0.0)
    dispatch = RedisDispatch(settings_for(redis.url, stream_high=2), SMALL, Ledger())
    # Nobody has looked yet.
    assert [(part.name, part.ok) for part in dispatch.health()] == [("broker", True), ("workers", False)]
    dispatch.send(BULK, ledger.all)
    dispatch.receive(1, 0)
    assert dispatch.figures.depth == {LIVE: 0, BULK: 1}
    assert dispatch.figures.flying == 5
    broker, workers = dispatch.health()
    assert broker.ok
    assert broker.latency_ms is not None
    assert not workers.ok
    assert workers.degraded == "no worker takes live or bulk tasks; episodes wait"
    hand.client.set(hand.keys.workers + "one", '{"queues": ["live"]}')
    hand.client.set(hand.keys.workers + "two", "no sign at all")
    dispatch.receive(1, 0)
    assert [(worker.name, worker.queues) for worker in dispatch.figures.workers] == [("one", (LIVE,))]
    assert dispatch.health()[1].degraded == "no worker takes bulk tasks; episodes wait"
    hand.client.set(hand.keys.workers + "three", '{"queues": ["bulk"]}')
    for row in range(3):
        hand.client.xadd(hand.keys.results, {"row": row})
    dispatch._look()
    broker, workers = dispatch.health()
    assert (workers.ok, workers.degraded) == (True, None)
    assert broker.degraded is not None
    dispatch.close()


def test_a_wrong_password_is_told_without_it(redis: RedisServer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    dispatch = RedisDispatch(settings_for(f"redis://:wrong-secret@127.0.0.1:{redis.port}/0"), SMALL, Ledger())
    with pytest.raises(DispatchUnavailable) as failure:
        dispatch.room(BULK)
    assert "refuses" in str(failure.value)
    asked = RedisDispatch(dispatch._settings, SMALL, Ledger())
    assert [part.ok for part in asked.health()] == [False]
    asked.close()
    told = caplog.text + repr(asked.health()) + str(failure.value) + repr(dispatch.health()) + repr(dispatch._settings)
    assert "wrong-secret" not in told
    dispatch.close()


def test_closed_it_takes_nothing_more(settings: BrokerSettings) -> None:
    dispatch = RedisDispatch(settings, SMALL, Ledger())
    dispatch.close()
    with pytest.raises(DispatchUnavailable):
        dispatch.room(BULK)
