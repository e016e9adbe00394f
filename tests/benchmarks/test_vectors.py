"""The runner of the vectors: what it counts as right, as wrong and as not to be asked, and how it tells it."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks.vectors.__main__ import main
from benchmarks.vectors.plain import Plain
from benchmarks.vectors.process import Script
from benchmarks.vectors.questions import Between, Diff, Feed, Question, Replay, Returns, Stale, Told, Why
from benchmarks.vectors.reading import Vectors, load
from benchmarks.vectors.report import report
from benchmarks.vectors.running import Outcome, Run, orders, run
from benchmarks.vectors.scripting import serve
from benchmarks.vectors.serving import ontology
from benchmarks.vectors.worlds import Adapter, Basis, Boundary, Change, Difference, Failed, Operation, Predicate, Slot, Span, Value
from ontology.loading import load_vocabulary
from tests.benchmarks.reference import Reference, ReferenceWorld

VECTORS = load()
BY_ID = {vector.id: vector for vector in VECTORS.vectors}
ROOT = Path(__file__).parents[2]
DAY = 86_400_000_000


def some(*ids: str) -> Vectors:
    """A few vectors."""
    return Vectors(VECTORS.predicates, tuple(BY_ID[id] for id in ids))


def outcomes(found: Run) -> dict[str, tuple[str, str | None]]:
    """By vector: in the given order, and in every other."""
    return {result.vector.id: (result.given.outcome, result.in_every_order) for result in found.results}


class Forgetful(Reference):
    """A system that answers with nothing once two things were said."""

    def world(self, predicates: Mapping[str, Predicate]) -> ReferenceWorld:
        return ForgetfulWorld()


class ForgetfulWorld(ReferenceWorld):
    def as_of(self, slot: Slot, basis: Basis) -> Sequence[Value]:
        return super().as_of(slot, basis) if len(self.operations) < 2 else []


class Breaking(Reference):
    """A system that breaks."""

    def world(self, predicates: Mapping[str, Predicate]) -> ReferenceWorld:
        return BreakingWorld()


class BreakingWorld(ReferenceWorld):
    def apply(self, operation: Operation) -> Any:
        raise Failed("out of order")


class LastSaidLast(Reference):
    """A system that is right only while what is told last was said last."""

    def world(self, predicates: Mapping[str, Predicate]) -> ReferenceWorld:
        return LastSaidLastWorld()


class LastSaidLastWorld(ReferenceWorld):
    def apply(self, operation: Operation) -> Any:
        late = operation.kind == "assert" and any(operation.said < each["said"] for each in self.operations)
        return [] if late else super().apply(operation)


def test_a_system_that_is_right_is_right_on_all_that_it_can_be_asked() -> None:
    found = run(Reference(), VECTORS, 2)
    told = [result for result in found.results if result.given.outcome is not Outcome.RIGHT]
    assert all(result.given.outcome is Outcome.CANNOT for result in told)
    assert {result.vector.id for result in told} == {"V30", "V43", *(vector.id for vector in VECTORS.vectors if vector.group == "drift")}
    assert all(result.in_every_order is not Outcome.WRONG for result in found.results)


def test_wrong_answers_are_counted_and_listed() -> None:
    found = run(Forgetful(), some("V01", "V02", "D01"), 0)
    assert outcomes(found) == {"V01": ("right", None), "V02": ("wrong", None), "D01": ("cannot ask", None)}
    text = report([found], reasons=True)
    assert "| **all** | 1 of 3, 1 cannot ask | - |" in text
    assert "- wrong: V02\n  - V02: AsOf(" in text and "- cannot ask: D01\n  - D01: drift of the resolver alone" in text


def test_a_vector_is_right_in_every_order_only_if_no_order_is_wrong() -> None:
    found = run(LastSaidLast(), some("V02", "V01", "V50"), 6)
    assert outcomes(found) == {"V02": ("right", "wrong"), "V01": ("right", None), "V50": ("right", None)}
    assert "- right in the given order alone: V02\n  - V02: order (1, 0)" in report([found], reasons=True)


def test_what_breaks_is_wrong() -> None:
    assert outcomes(run(Breaking(), some("V01"), 0)) == {"V01": ("wrong", None)}


def test_groups_hold_every_vector_once_and_columns_stand_side_by_side() -> None:
    found = report([run(Reference(), some("V01", "V10"), 0), run(Forgetful(), some("V01", "V10"), 0)])
    assert "| corrections | 1 of 1 | - | 0 of 1 | - |" in found
    assert "| **all** | 2 of 2 | - | 1 of 2 | - |" in found
    assert "the resolver:\n\n- all right, in every order" in found


def test_orders_are_others_than_the_given_and_the_same_each_time() -> None:
    for count, most, wanted in ((1, 6, 0), (2, 6, 1), (3, 9, 5), (4, 6, 6), (9, 8, 8)):
        found = list(orders(count, most))
        assert len(set(found)) == len(found) == wanted and tuple(range(count)) not in found
        assert all(sorted(order) == list(range(count)) for order in found) and found == list(orders(count, most))


def test_the_table_by_hand_is_right_while_things_are_told_in_order() -> None:
    found = outcomes(run(Plain(), some("V02", "V03", "V06", "V09", "V10", "V15", "V47", "V55", "D01"), 3))
    assert found["V02"] == ("right", "wrong") and found["V03"][0] == "wrong" and found["V09"][0] == "right"
    assert found["V06"] == ("right", "wrong")
    assert found["V10"][0] == found["V15"][0] == found["D01"][0] == "cannot ask"
    assert found["V47"][0] == "wrong"


def test_a_script_answers_as_the_adapter_in_this_process_does() -> None:
    asked = some("V01", "V02", "V18", "V39", "V60", "D01")
    script = Script([sys.executable, "-m", "tests.benchmarks.reference"], cwd=ROOT)
    try:
        found = run(script, asked, 1)
    finally:
        script.close()
    assert found.title == "the resolver" and outcomes(found) == outcomes(run(Reference(), asked, 1))


def test_a_script_that_has_ended_is_wrong_and_one_that_breaks_says_so() -> None:
    adapter: Adapter = Breaking()
    replies = io.StringIO()
    erase = {"kind": "erase", "episode": "e1", "claims": []}
    calls: list[tuple[str, list[Any]]] = [("title", []), ("world", [[]]), ("apply", [erase]), ("fly", [])]
    asked = "".join(json.dumps({"call": name, "arguments": rest}) + "\n" for name, rest in calls)
    serve(adapter, io.StringIO(asked), replies)
    answers = [json.loads(line) for line in replies.getvalue().splitlines()]
    assert answers[:2] == [{"answer": "the resolver"}, {"answer": None}]
    assert answers[2] == {"failed": "Failed: out of order"} and answers[3]["failed"].startswith("KeyError")
    with pytest.raises(Failed, match="has ended"):
        Script([sys.executable, "-c", ""])


def test_the_service_gets_the_predicates_as_the_vectors_have_them(tmp_path: Path) -> None:
    file = tmp_path / "vectors.yaml"
    file.write_text(ontology(VECTORS.predicates), encoding="utf-8")
    found = load_vocabulary(file).predicates
    overlay = load_vocabulary(ROOT / "tests" / "spec" / "vectors_ontology.yaml").predicates
    assert {name: found[name] for name in VECTORS.predicates} == {name: overlay[name] for name in VECTORS.predicates}


SLOT = Slot("alice", "works_at")


class Canned(ReferenceWorld):
    """Answers with what it is given, whatever is asked."""

    def __init__(self, answer: Any) -> None:
        super().__init__()
        self.answer = answer

    def _given(self, *_: Any) -> Any:
        return self.answer

    diff = why = returns = feed = between = last_attested = _given


OPENED = Change(1, True, "alice", "works_at", "", "Acme", 10, 20)
CLOSED = Change(2, False, "alice", "works_at", "", "Acme", 10, 20)


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        (Diff(Basis(), Basis(), (("a", "p", None, "x"),)), [Difference("a", "p", (), ("x",))], [Difference("a", "p", ("x",), ())]),
        (Why(SLOT, (Boundary(5, (), ("x",), ("e1",)),)), [Boundary(5, (), ("x",), ("e1", "e1"))], [Boundary(5, (), ("x",), ())]),
        (Returns(SLOT, 1), 1, 0),
        (Feed(0, (OPENED, CLOSED)), [OPENED, CLOSED], [CLOSED, OPENED]),
        (Feed(0, (OPENED,)), [OPENED], []),
        (Between(SLOT, 0, 9, (Span(3, 9, ("x",)),)), [Span(3, 12, ("x",))], [Span(3, 8, ("x",))]),
        (Stale(SLOT, "x", 3 * DAY, 2), DAY, 2 * DAY),
    ],
    ids=["diff", "why", "returns", "feed in order", "feed whole", "between", "stale"],
)
def test_a_question_of_drift_tells_right_from_wrong(question: Question, right: Any, wrong: Any) -> None:
    assert question.problem(Told(Canned(right), (), ())) is None
    assert question.problem(Told(Canned(wrong), (), ())) is not None


class Replayed(Canned):
    """Acme holds from 10 to 20 after the first operation, and nothing after the second."""

    def as_of(self, slot: Slot, basis: Basis) -> Sequence[Value]:
        assert basis.valid_at is not None
        return [Value("Acme")] if basis.operations == 1 and 10 <= basis.valid_at < 20 else []


def test_a_feed_is_replayed_against_what_is_asked_as_of_each_operation() -> None:
    operations = (Operation("assert", "e1"), Operation("retract", "e1"))
    good = Replay().problem(Told(Replayed([OPENED, CLOSED]), operations, ()))
    assert good is None
    for changes in ([OPENED], [OPENED, OPENED], [CLOSED], [Change(1, True, "alice", "works_at", "", "Acme", 10, 21), CLOSED]):
        assert Replay().problem(Told(Replayed(changes), operations, ())) is not None


def test_the_command_prints_tables_for_an_adapter_of_ones_own(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--adapter", "tests.benchmarks.test_vectors:Forgetful", "--orders", "0"])
    printed = capsys.readouterr().out
    assert "| vectors | the resolver | the resolver, shuffled |" in printed and "- wrong: V02" in printed
    with pytest.raises(SystemExit, match="nobody: one of erstwhile"):
        main(["--adapter", "nobody"])


def test_every_question_of_the_file_is_asked() -> None:
    assert all(vector.questions for vector in VECTORS.vectors)
    assert {vector.id for vector in VECTORS.vectors} >= {"V01", "V73", "D01", "D11"}
