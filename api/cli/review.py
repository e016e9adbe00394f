"""A review: claims one by one, each with the sentence it was read from, and what a person decides about it."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from api.cli import documents, rendering
from api.cli.link import Link
from api.cli.options import payload
from api.cli.terminal import Answers
from ontology.errors import ErstwhileError

KEYS = "k keep, r reject, c correct, s skip, u undo, q quit"
SOURCE = "review"
"""The source of what is stated in a review."""
MISREAD = "misread"
_OPEN, _CLOSE = "\ue000", "\ue001"
# Of private use: marks that no text holds by intention.
_END = re.compile(r"(?<=[.!?])\s+|\n+")
Node = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided about the claim at `place`, and what takes it back (None: nothing was stored)."""

    place: int
    name: str
    undo: Callable[[], None] | None = None


class Review:
    """Walks claims. Raises nothing for what the service refuses: it is said, and the claim asked about again."""

    def __init__(self, link: Link, answers: Answers, claims: Sequence[Node]) -> None:
        self._link = link
        self._answers = answers
        self._claims = claims
        self._decided: list[Decision] = []

    def run(self) -> dict[str, int]:
        """Ask about each claim until the last, or until the person quits or the input ends. Counts of what was decided."""
        place = 0
        try:
            while place < len(self._claims):
                place = self._ask(place)
        except EOFError:
            pass
        counts = {name: sum(each.name == name for each in self._decided) for name in ("kept", "rejected", "corrected", "skipped")}
        return {**counts, "left": len(self._claims) - len(self._decided)}

    def _ask(self, place: int) -> int:
        """Show a claim and do what is answered; the place to go on at."""
        claim = self._claims[place]
        print(f"\n{place + 1}/{len(self._claims)}")
        self._show(claim)
        while True:
            key = self._answers.key(f"  {KEYS} > ")
            try:
                if key == "q":
                    raise EOFError
                if key == "u":
                    return self._undo(place)
                decided = self._decide(key, place, claim)
            except ErstwhileError as failure:
                print(f"  refused: {failure.message}")
                continue
            if decided is not None:
                self._decided.append(decided)
                return place + 1

    def _show(self, claim: Node) -> None:
        evidence = claim["evidence"]
        before, quote, after = sentence(evidence["episode"]["content"] or evidence["quote"], evidence["start"], evidence["end"])
        # Put on one line as a whole, so that no space comes between the quote and what follows.
        head, _, rest = rendering.printable(f"{before}{_OPEN}{quote}{_CLOSE}{after}").partition(_OPEN)
        said, _, tail = rest.partition(_CLOSE)
        words = f'"{head}{self._answers.strong(said) if head or tail else said}{tail}"' if said else "(stated without words)"
        who = evidence["episode"]["speaker"] or evidence["episode"]["source"]
        print(f"  {words} - {rendering.printable(who)}, {claim['saidAt'][:10]}")
        print(f"  {rendering.reading(claim)}   ({rendering.sureness(claim)})")

    def _decide(self, key: str, place: int, claim: Node) -> Decision | None:
        if key == "k":
            return Decision(place, "kept")
        if key == "s":
            return Decision(place, "skipped")
        if key == "r":
            reason = self._answers.line(f"  why [{MISREAD}]: ", MISREAD)
            self._reject(claim, reason)
            return Decision(place, "rejected", lambda: self._restore(claim))
        if key == "c":
            return self._correct(place, claim)
        print(f"  no such key: {KEYS}")
        return None

    def _reject(self, claim: Node, reason: str) -> None:
        done = payload(self._link, documents.REJECT, {"ids": [claim["evidence"]["claim"]], "reason": reason}, "rejectClaims")
        print(f"  rejected in transaction {done['transaction']}")

    def _restore(self, claim: Node) -> None:
        variables = {"ids": [claim["evidence"]["claim"]], "reason": "undone in review"}
        payload(self._link, documents.RESTORE, variables, "restoreClaims")

    def _correct(self, place: int, claim: Node) -> Decision | None:
        """State the claim as the person says it, and reject it as it was read; a candidate that was read well is only stated."""
        if claim["modality"] not in ("ASSERTED", "REPORTED"):
            print("  a plan, a wish or a supposition cannot be stated by hand: keep or reject it")
            return None
        read = rendering.value(claim), claim["validFrom"] or "", claim["validTo"] or ""
        object = self._answers.line(f"  object [{rendering.printable(read[0])}]: ", read[0])
        start = self._date("from", read[1])
        end = self._date("to", read[2])
        same = (object, start, end) == read
        if same and not claim["candidate"]:
            print("  nothing differs: keep it, or say what is right")
            return None
        external = f"{claim['evidence']['claim']}/{uuid.uuid4().hex[:12]}"
        stated = _stated(claim, self._subject(claim), self._object(claim, object), external, start, end)
        done = payload(self._link, documents.STATE, {"input": stated}, "assertStatements")
        print(f"  stated in transaction {done['transaction']}")
        if not same:
            try:
                self._reject(claim, f"corrected in review: {MISREAD}")
            except ErstwhileError:
                # Both or neither.
                self._withdraw(external)
                raise

        def undo() -> None:
            if not same:
                self._restore(claim)
            self._withdraw(external)

        return Decision(place, "corrected", undo)

    def _known(self, entity: Node) -> str | None:
        """The key of an entity; None where nothing but candidates speaks of it, and so its name alone is known."""
        found = self._link.execute(documents.KEYS, {"name": entity["name"], "id": entity["key"]})["asOf"]["keyed"]
        return None if found is None else str(entity["key"])

    def _subject(self, claim: Node) -> Node:
        key = self._known(claim["subject"])
        return {"name": claim["subject"]["name"]} if key is None else {"id": key}

    def _object(self, claim: Node, told: str) -> Node:
        """What a person has told, or has left as it was read: the same entity then, whatever else has its name."""
        read = claim["object"]
        if read.get("datatype"):
            return {"literal": {"value": told, "datatype": read["datatype"]}}
        if told != rendering.value(claim):
            return {"name": told}
        key = self._known(read)
        return {"name": read["name"]} if key is None else {"entity": key}

    def _date(self, name: str, read: str) -> str:
        hint = f"{name} [{read or 'none'}]" + (", - for none" if read else "")
        answer = self._answers.line(f"  {hint}: ", read)
        return "" if answer == "-" else answer

    def _withdraw(self, external: str) -> None:
        variables = {"ref": {"source": SOURCE, "externalId": external}, "reason": "undone in review"}
        payload(self._link, documents.RETRACT, variables, "retractEpisode")

    def _undo(self, place: int) -> int:
        """Take the last decision back and go to its claim."""
        if not self._decided:
            print("  there is nothing to undo")
            return place
        last = self._decided[-1]
        if last.undo is not None:
            last.undo()
        self._decided.pop()
        print(f"  undone: {last.name}")
        return last.place


def _stated(claim: Node, subject: Node, object: Node, external: str, start: str, end: str) -> Node:
    """The claim as the person states it, said when it was said: it is the reading that was wrong, not the speaker."""
    evidence = claim["evidence"]
    before, quote, after = sentence(evidence["episode"]["content"] or evidence["quote"], evidence["start"], evidence["end"])
    statement = {
        "subject": subject,
        "predicate": claim["predicate"]["name"],
        "qualifier": claim["qualifier"],
        "object": object,
        "polarity": claim["polarity"],
        # What a correction corrects is not known here.
        "kind": "STATE" if claim["kind"] == "CORRECTION" else claim["kind"],
        "validFrom": start or None,
        "validTo": end or None,
        "additive": claim["additive"],
        "quote": quote or None,
    }
    stated = {
        "content": f"{before}{quote}{after}" or None,
        "group": evidence["episode"]["group"],
        "speaker": evidence["episode"]["speaker"],
    }
    return {"source": SOURCE, "externalId": external, "saidAt": claim["saidAt"], **stated, "statements": [statement]}


def sentence(content: str, start: int, end: int) -> tuple[str, str, str]:
    """The sentence around a quote, as what stands before it, the quote, and what stands after."""
    left = max((found.end() for found in _END.finditer(content, 0, start)), default=0)
    following = _END.search(content, max(end - 1, start))
    right = following.start() if following is not None else len(content)
    return content[left:start], content[start:end], content[end : max(right, end)]
