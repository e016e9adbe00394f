"""Every kind of claim after a state, on every kind of predicate: the cases that nobody has to think of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

KINDS = {
    "a state": "state {} @2021-01-01",
    "a bounded state": "state {} @2022-01-01 2021..2021-06",
    "a change": "change {} @2022-01-01 2021-01-01T00:00:00Z..",
    "a patch": "patch {} @2022-01-01 2021..2021-06",
    "an end": "end {} @2022-01-01 ..2021-06",
    "a correction": "correction {} @2021-01-01",
}
"""Claims that follow `state A @2020-01-01`, by name; the value is filled in."""
VALUES = {"of the value": "A", "of another": "B", "denying the value": "¬A"}
PROBES = ("2020-06-01", "2021-03-01", "2023-01-01")


def cases(traits: Iterable[str]) -> Iterator[tuple[str, str, tuple[str, ...], tuple[str, ...]]]:
    """Title, traits, claims and dates to look at."""
    for trait in traits:
        for kind, claim in KINDS.items():
            for which, value in VALUES.items():
                yield f"{kind}, {which}", trait, ("state A @2020-01-01", claim.format(value)), PROBES
        yield "a correction, to another", trait, ("state A @2020-01-01", "correction B ⇐ A @2021-01-01"), PROBES
        yield "a state beside it", trait, ("state A @2020-01-01", "state +B @2021-01-01"), PROBES
