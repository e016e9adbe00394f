"""Which claims a review walks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from api.cli.documents import CLAIMS, CONTESTED
from api.cli.link import Link
from ontology.instant import Instant, parse_instant

DOUBTFUL = 0.7
"""Confidence under which a claim is walked where nobody says what to walk."""
NEWEST = 20
"""How many of the newest are walked then besides."""
PAGE = 100
LOOKED_AT = 2_000
"""How many of the newest claims, and how many statements, are looked at then: a short review is no walk over everything."""

Node = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Choice:
    """What to walk: the union of what is chosen, or where nothing is, what is doubtful and what is new.

    `since` and `source` limit it; `since` alone chooses everything said from then on. The order is that of saying, newest first.
    """

    candidates: bool = False
    contested: bool = False
    below: float | None = None
    since: Instant | None = None
    source: str | None = None

    @property
    def open(self) -> bool:
        """Whether nobody says what to walk."""
        return not (self.candidates or self.contested or self.below is not None or self.since is not None)

    @property
    def words(self) -> str:
        """What is walked, for people."""
        parts = ["candidates"] if self.candidates or self.open else []
        parts += ["contested claims"] if self.contested or self.open else []
        below = DOUBTFUL if self.open else self.below
        parts += [f"claims of a confidence below {below:g}"] if below is not None else []
        parts += ["new claims"] if self.open else []
        return ", ".join(parts) or "claims"


def walked(link: Link, choice: Choice, first: int) -> Iterator[Node]:
    """Claims that nobody rejected, newest said first, at most `first`."""
    contested = _contested_slots(link, choice) if choice.contested or choice.open else set()
    below = DOUBTFUL if choice.open else choice.below
    plain = choice.since is not None and not (choice.candidates or choice.contested or choice.below is not None)
    found = 0
    for place, claim in enumerate(islice(_claims(link, choice), LOOKED_AT if choice.open else None)):
        if choice.since is not None and parse_instant(claim["saidAt"]) < choice.since:
            return
        new = choice.open and place < NEWEST
        unsure = (choice.candidates or choice.open) and claim["candidate"]
        doubtful = below is not None and claim["confidence"] < below
        if plain or new or unsure or doubtful or _slot(claim) in contested:
            yield claim
            found += 1
        if found == first:
            return


def _slot(node: Node) -> tuple[str, str, str]:
    return node["subject"]["key"], node["predicate"]["name"], node["qualifier"]


def _contested_slots(link: Link, choice: Choice) -> set[tuple[str, str, str]]:
    """Slots in which other evidence disagrees now. Whatever the source of the one side is, the other may come from any."""
    held = islice(_statements(link), LOOKED_AT if choice.open else None)
    return {_slot(node) for node in held if node["conflict"] != "NONE"}


def _statements(link: Link) -> Iterator[Node]:
    yield from _walk(lambda after: link.execute(CONTESTED, {"filter": None, "after": after})["asOf"]["statements"])


def _claims(link: Link, choice: Choice) -> Iterator[Node]:
    only_candidates = choice.candidates and not choice.contested and choice.below is None
    asked = {"candidate": True if only_candidates else None, "rejected": False, "filter": {"source": choice.source}, "first": PAGE}
    yield from _walk(lambda after: link.execute(CLAIMS, {**asked, "after": after})["asOf"]["claims"])


def _walk(page_after: Callable[[str | None], Node]) -> Iterator[Node]:
    """The nodes of a connection, page by page as they are needed."""
    after = None
    while True:
        page = page_after(after)
        yield from (edge["node"] for edge in page["edges"])
        if not page["pageInfo"]["hasNextPage"]:
            return
        after = page["pageInfo"]["endCursor"]
