"""What a worker does with a task: announced before it is run, told once it is done, and nothing of it believed unsigned."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from threading import Thread

import pytest
from celery.exceptions import SoftTimeLimitExceeded

from extraction.extractor import Extractor
from graph.work import BULK, MAX_STARTS
from ontology.claim import ClaimDraft, ObjectDraft
from ontology.episode import Turn
from ontology.loading import load_vocabulary
from ontology.vocabulary import Vocabulary
from tests.redis_server import RedisServer
from tests.workers.broker.hands import SMALL, Hand, Ledger, all_of, episode, settings_for
from tests.workers.extracting import TripleExtractor
from workers.broker.dispatch import RedisDispatch
from workers.broker.messages import LARGEST
from workers.broker.running import NotNow
from workers.broker.settings import BrokerSettings
from workers.broker.signing import Purpose, Signer
from workers.dispatching import Outcome


class Recording(TripleExtractor):
    """Remembers what it was given together. `slow` takes too long, `odd` makes what is no claim, `much` too many."""

    def __init__(self) -> None:
        self.given: list[list[str]] = []

    def extract(self, turns: Sequence[Turn]) -> list[list[ClaimDraft]]:
        self.given.append([turn.text for turn in turns])
        if any("slow" in turn.text for turn in turns):
            raise SoftTimeLimitExceeded
        return [self._more(turn, claims) for turn, claims in zip(turns, super().extract(turns), strict=True)]

    def _more(self, turn: Turn, claims: list[ClaimDraft]) -> list[ClaimDraft]:
        if "odd" in turn.text:
            return [ClaimDraft("Ada", "likes", ObjectDraft("tea"), confidence=7.0)]
        if "much" in turn.text:
            return [ClaimDraft("Ada", "likes", ObjectDraft("x" * 50_000))] * (LARGEST // 50_000 + 1)
        return claims


@pytest.fixture
def settings(redis: RedisServer) -> BrokerSettings:
    return settings_for(redis.url, stream_high=50)


@pytest.fixture
def extractor() -> Recording:
    return Recording()


@pytest.fixture
def hand(settings: BrokerSettings, extractor: Recording) -> Iterator[Hand]:
    found = Hand(settings, lambda vocabulary: extractor)
    yield found
    found.client.close()


Open = Callable[[Ledger], RedisDispatch]


@pytest.fixture
def owner(settings: BrokerSettings) -> Iterator[Open]:
    opened: list[RedisDispatch] = []

    def open(ledger: Ledger) -> RedisDispatch:
        opened.append(RedisDispatch(settings, SMALL, ledger))
        return opened[-1]

    yield open
    for each in opened:
        each.close()


def results(outcomes: Sequence[Outcome]) -> dict[int, tuple[str, str]]:
    return {each.row: (each.kind.value, each.reason) for each in outcomes if each.kind != "started"}


def test_a_task_is_run_together_after_all_of_it_was_announced(owner: Open, hand: Hand, extractor: Recording) -> None:
    ledger = Ledger(episode(0), episode(1))
    dispatch = owner(ledger)
    dispatch.send(BULK, ledger.all)
    seen: list[int] = []
    extract = extractor.extract

    def watched(turns: Sequence[Turn]) -> list[list[ClaimDraft]]:
        seen.append(hand.client.xlen(hand.keys.results))
        return extract(turns)

    extractor.extract = watched  # type: ignore[method-assign]
    hand.work()
    assert extractor.given == [["Ada likes C0", "Ada likes C1"]]
    assert seen == [2]


def test_the_log_tells_the_way_of_a_request_and_no_text(owner: Open, hand: Hand, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    ledger = Ledger(*(replace(episode(row), trace="of the request" if row else None) for row in range(3)))
    owner(ledger).send(BULK, ledger.all)
    hand.work()
    lines = [record.getMessage() for record in caplog.records if record.name == "workers.broker.running"]
    assert len(lines) == 1
    assert lines[0].startswith("extracted episodes=2 ")
    assert lines[0].endswith("trace=of the request")
    assert "Ada" not in caplog.text


@pytest.mark.parametrize("how", ["unsigned", "another key", "another purpose", "changed", "no text", "no JSON", "no episodes"])
def test_a_false_task_is_refused_counted_and_not_run(
    how: str, owner: Open, hand: Hand, extractor: Recording, caplog: pytest.LogCaptureFixture
) -> None:
    ledger = Ledger(episode(0))
    owner(ledger).send(BULK, ledger.all)
    task = hand.take()
    assert task is not None
    body, mark = task
    false: dict[str, tuple[object, object]] = {
        "unsigned": (body, None),
        "another key": (body, Signer(b"another key, just as long").mark(Purpose.EXTRACT, body.encode())),
        "another purpose": (body, hand.signer.mark(Purpose.RESULT, body.encode())),
        "changed": (body.replace("Ada", "Eve"), mark),
        "no text": ({"episodes": []}, mark),
        "no JSON": ("{Ada", hand.signer.mark(Purpose.EXTRACT, b"{Ada")),
        "no episodes": ('{"v":1,"episodes":[]}', hand.signer.mark(Purpose.EXTRACT, b'{"v":1,"episodes":[]}')),
    }
    hand.running.run(*false[how])
    assert extractor.given == []
    assert hand.counts() == {"refused": 1}
    assert hand.client.xlen(hand.keys.results) == 0
    line = caplog.records[-1].getMessage()
    assert "ERSTWHILE_WORKER_KEY" in line
    assert "Ada" not in line
    hand.running.run(body, mark)
    assert len(extractor.given) == 1


def test_what_was_begun_before_is_run_alone_behind_the_others(owner: Open, hand: Hand, extractor: Recording) -> None:
    ledger = Ledger(*(episode(row) for row in range(4)))
    dispatch = owner(ledger)
    dispatch.send(BULK, ledger.all)
    for row in (1, 2):
        hand.client.set(hand.keys.starts(row, 0), 1)
    assert hand.work() == 3
    assert extractor.given == [["Ada likes C0", "Ada likes C3"], ["Ada likes C1"], ["Ada likes C2"]]
    assert set(results(all_of(dispatch))) == {0, 1, 2, 3}


def test_the_starts_that_the_ledger_counted_are_known_to_an_emptied_redis(owner: Open, hand: Hand, extractor: Recording) -> None:
    ledger = Ledger(episode(0, starts=1), episode(1), episode(2, starts=MAX_STARTS))
    dispatch = owner(ledger)
    dispatch.send(BULK, ledger.all)
    hand.work()
    assert extractor.given == [["Ada likes C1"], ["Ada likes C0"]]
    assert hand.client.get(hand.keys.starts(0, 0)) == b"2"
    told = results(all_of(dispatch))
    assert told[2] == ("failed", "the worker died 3 times while it read this episode")


def test_what_killed_its_worker_three_times_is_not_run_again(owner: Open, hand: Hand, extractor: Recording) -> None:
    ledger = Ledger(episode(0), episode(1))
    dispatch = owner(ledger)
    dispatch.send(BULK, ledger.all)
    hand.client.set(hand.keys.starts(1, 0), MAX_STARTS)
    hand.work()
    assert extractor.given == [["Ada likes C0"]]
    outcomes = all_of(dispatch)
    assert results(outcomes) == {0: ("extracted", ""), 1: ("failed", "the worker died 3 times while it read this episode")}
    assert sum(each.row == 1 and each.kind == "started" for each in outcomes) == MAX_STARTS


def test_one_that_fails_costs_its_neighbours_nothing_and_its_message_is_clean(
    owner: Open, hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger(episode(0), episode(1, "told to fail"), episode(2))
    dispatch = owner(ledger)
    dispatch.send(BULK, ledger.all)

    def claims(self: TripleExtractor, text: str) -> list[ClaimDraft]:
        if "fail" in text:
            raise ValueError("the password\n is hunter2 " + "x" * 1000)
        return []

    monkeypatch.setattr(TripleExtractor, "_claims", claims)
    hand.work()
    told = results(all_of(dispatch))
    assert {row: kind for row, (kind, _) in told.items()} == {0: "extracted", 1: "failed", 2: "extracted"}
    assert told[1][1].startswith("ValueError: the password is [REDACTED] xxx")
    assert len(told[1][1]) == 300
    # It was one start of each: the second reading is part of it.
    assert hand.client.mget([hand.keys.starts(row, 0) for row in range(3)]) == [b"1"] * 3


def test_where_time_is_up_the_episodes_go_on_alone_and_the_slow_one_fails(owner: Open, hand: Hand, extractor: Recording) -> None:
    ledger = Ledger(episode(0), episode(1, "slow"), episode(2))
    dispatch = owner(ledger)
    dispatch.send(BULK, ledger.all)
    hand.work()
    assert extractor.given[1:] == [["Ada likes C0"], ["slow"], ["Ada likes C2"]]
    assert results(all_of(dispatch)) == {
        0: ("extracted", ""),
        1: ("failed", "extraction took longer than the time limit"),
        2: ("extracted", ""),
    }


def test_time_that_is_up_while_they_are_read_one_by_one_puts_off_the_rest(owner: Open, hand: Hand) -> None:
    ledger = Ledger(episode(0), episode(1, "told to fail"), episode(2, "slow"), episode(3))
    dispatch = owner(ledger)
    dispatch.send(BULK, ledger.all)
    extract = TripleExtractor.extract
    # `slow` is noticed only in what is read alone.
    calls: list[int] = []

    class Late(TripleExtractor):
        def extract(self, turns: Sequence[Turn]) -> list[list[ClaimDraft]]:
            calls.append(len(turns))
            if [turn.text for turn in turns] == ["slow"]:
                raise SoftTimeLimitExceeded
            return extract(self, turns)

    hand.running._loaded[SMALL.version] = Late()
    hand.work()
    assert calls == [4, 1, 1, 1, 1, 1]
    assert {row: kind for row, (kind, _) in results(all_of(dispatch)).items()} == {0: "extracted", 1: "failed", 2: "failed", 3: "extracted"}


def test_a_claim_that_is_none_and_results_beyond_all_measure_fail_alone(owner: Open, hand: Hand) -> None:
    ledger = Ledger(episode(0), episode(1, "odd"), episode(2, "much"))
    dispatch = owner(ledger)
    dispatch.send(BULK, ledger.all)
    hand.work()
    told = results(all_of(dispatch))
    assert told == {
        0: ("extracted", ""),
        1: ("failed", "the result of the extractor is not valid"),
        2: ("failed", "its result is larger than can be sent"),
    }


def test_over_the_mark_nothing_is_begun_and_the_stream_is_never_cut(owner: Open, hand: Hand, extractor: Recording) -> None:
    ledger = Ledger(episode(0))
    dispatch = owner(ledger)
    dispatch.send(BULK, ledger.all)
    for _ in range(50):
        hand.client.xadd(hand.keys.results, {"of": "others"})
    task = hand.take()
    assert task is not None
    begun = time.monotonic()
    with pytest.raises(NotNow):
        hand.running.run(*task)
    assert time.monotonic() - begun >= 0.3
    assert extractor.given == []
    assert hand.client.get(hand.keys.starts(0, 0)) is None
    assert hand.client.xlen(hand.keys.results) == 50


def test_a_worker_that_waits_goes_on_when_there_is_room(owner: Open, settings: BrokerSettings, extractor: Recording) -> None:
    hand = Hand(settings, lambda vocabulary: extractor, patience=20)
    ledger = Ledger(episode(0))
    dispatch = owner(ledger)
    dispatch.send(BULK, ledger.all)
    for _ in range(50):
        hand.client.xadd(hand.keys.results, {"of": "others"})
    working = Thread(target=hand.work)
    working.start()
    time.sleep(0.2)
    assert extractor.given == []
    # They are not of ours: the owner refuses them, which makes room.
    found: list[Outcome] = []
    while working.is_alive():
        found += all_of(dispatch)
    assert results([*found, *all_of(dispatch)]) == {0: ("extracted", "")}
    hand.client.close()


def test_a_vocabulary_is_read_once_and_a_lost_one_leaves_the_task_to_be_sent_again(owner: Open, settings: BrokerSettings) -> None:
    made: list[Vocabulary] = []

    def extractors(vocabulary: Vocabulary) -> Extractor:
        made.append(vocabulary)
        return TripleExtractor()

    hand = Hand(settings, extractors)
    ledger = Ledger(*(episode(row) for row in range(3)))
    dispatch = owner(ledger)
    dispatch.send(BULK, ledger.all[:1])
    hand.client.delete(hand.keys.vocabulary(SMALL.version))
    assert hand.work() == 1
    assert hand.counts() == {"orphaned": 1}
    dispatch.send(BULK, ledger.all[1:2])
    dispatch.send(BULK, ledger.all[2:])
    assert hand.work() == 2
    assert made == [SMALL]
    assert set(results(all_of(dispatch))) == {1, 2}
    hand.client.close()


def test_a_forged_vocabulary_is_refused(owner: Open, hand: Hand, extractor: Recording) -> None:
    ledger = Ledger(episode(0))
    owner(ledger).send(BULK, ledger.all)
    hand.client.hset(hand.keys.vocabulary(SMALL.version), "body", "{}")
    hand.work()
    assert extractor.given == []
    assert hand.counts() == {"refused": 1, "orphaned": 1}


def test_the_whole_vocabulary_reaches_the_worker(settings: BrokerSettings) -> None:
    vocabulary = load_vocabulary()
    made: list[Vocabulary] = []

    def extractors(found: Vocabulary) -> Extractor:
        made.append(found)
        return TripleExtractor()

    hand = Hand(settings, extractors)
    ledger = Ledger(episode(0))
    dispatch = RedisDispatch(settings, vocabulary, ledger)
    dispatch.send(BULK, ledger.all)
    hand.work()
    assert made == [vocabulary]
    assert list(made[0].predicates) == list(vocabulary.predicates)
    assert any(predicate.patterns for predicate in made[0].predicates.values())
    hand.client.close()
    dispatch.close()
