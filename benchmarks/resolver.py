"""How long the resolver takes: one small unit, and 5,000 claims in one one-valued slot in mixes made to hurt.

    python -m benchmarks.resolver [--claims 5000] [--only MIX]

Prints microseconds per resolve for small units, then seconds for each mix at half and at full size; near n log n the second is
about twice the first. No input or network is needed.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator

from graph.belief.traits import Traits
from graph.belief.unit import Unit
from ontology.claim import Claim, ClaimKind
from ontology.edtf import Stated, exactly
from ontology.instant import DAY, Instant

ONE = Traits(one_valued=True)
RESUMES = Traits(one_valued=True, resumes=True)
START: Instant = 1_500_000_000_000_000
LIMIT_SECONDS = 1.0


def day(number: int) -> Instant:
    """The instant a number of days after the start."""
    return START + number * DAY


def claim(
    number: int,
    value: str,
    said: int,
    *,
    kind: ClaimKind = ClaimKind.STATE,
    start: Stated | None = None,
    end: Stated | None = None,
    polarity: bool = True,
    replaces: str | None = None,
) -> Claim:
    """A claim of the slot, said on a day."""
    return Claim(f"c{number}", f"e{number}", 0, "s", value, day(said), polarity, kind, start, end, replaces=replaces)


def on(number: int) -> Stated:
    """An exact bound."""
    return exactly(day(number))


def month(number: int) -> Stated:
    """An imprecise bound of thirty days."""
    return Stated(day(number), day(number + 30), "month")


def successive(count: int) -> Iterator[Claim]:
    """Every day another value."""
    return (claim(n, f"v{n}", n) for n in range(count))


def alternating(count: int) -> Iterator[Claim]:
    """Two values in turn."""
    return (claim(n, f"v{n % 2}", n) for n in range(count))


def repeated(count: int) -> Iterator[Claim]:
    """One value said again and again."""
    return (claim(n, "v", n) for n in range(count))


def said_at_once(count: int) -> Iterator[Claim]:
    """All said on one day, each about another start."""
    return (claim(n, f"v{n}", count, start=on(n)) for n in range(count))


def tied(count: int) -> Iterator[Claim]:
    """All said on one day, of one strength: each ties with all."""
    return (claim(n, f"v{n}", 0) for n in range(count))


def tied_spans(count: int) -> Iterator[Claim]:
    """All said on one day, nested bounds: what ties changes at every bound."""
    return (claim(n, f"v{n}", 2 * count, start=on(n), end=on(2 * count - n)) for n in range(count))


def ended(count: int) -> Iterator[Claim]:
    """As many values told as former ones."""
    return (claim(n, f"v{n}", n, kind=ClaimKind.END) for n in range(count))


def ended_spans(count: int) -> Iterator[Claim]:
    """As many values told as former ones, with both bounds."""
    return (claim(n, f"v{n}", n + 100, kind=ClaimKind.END, start=on(n), end=on(n + 50)) for n in range(count))


def denied(count: int) -> Iterator[Claim]:
    """A value affirmed and denied in turn."""
    return (claim(n, "v", n, polarity=n % 2 == 0) for n in range(count))


def imprecise(count: int) -> Iterator[Claim]:
    """Changes in a month, among rivals attested inside it."""
    kinds = (ClaimKind.CHANGE, ClaimKind.STATE)
    return (claim(n, f"v{n % 7}", n, kind=kinds[n % 2], start=month(n - 20) if n % 2 == 0 else None) for n in range(count))


def patched(count: int) -> Iterator[Claim]:
    """Overlapping overlays."""
    return (claim(n, f"v{n % 5}", n, kind=ClaimKind.PATCH, start=on(n), end=on(n + 1000)) for n in range(count))


def chained(count: int) -> Iterator[Claim]:
    """Each claim corrects the one before it."""
    yield claim(0, "v0", 0)
    for n in range(1, count):
        yield claim(n, f"v{n}", n, kind=ClaimKind.CORRECTION, replaces=f"v{n - 1}")


def corrected(count: int) -> Iterator[Claim]:
    """Every second claim corrects all that was said before it of the value."""
    kinds = (ClaimKind.STATE, ClaimKind.CORRECTION)
    return (claim(n, "v", n, kind=kinds[n % 2]) for n in range(count))


def renamed(count: int) -> Iterator[Claim]:
    """Every second claim moves all that was said before it to another value and back."""
    for n in range(count):
        if n % 2 == 0:
            yield claim(n, f"v{n % 4 // 2}", n)
        else:
            yield claim(n, f"v{(n % 4 // 2 + 1) % 2}", n, kind=ClaimKind.CORRECTION, replaces=f"v{n % 4 // 2}")


def corrected_start(count: int) -> Iterator[Claim]:
    """Half the claims, then as many corrections of the nearest start."""
    for n in range(count // 2):
        yield claim(n, "v", 3 * n + 100)
    for n in range(count // 2, count):
        yield claim(n, "v", 4 * count + n, kind=ClaimKind.CORRECTION, start=on(3 * (n - count // 2) + 101))


def corrected_span(count: int) -> Iterator[Claim]:
    """Half the claims, then as many corrections of both bounds, each of which touches all."""
    for n in range(count // 2):
        yield claim(n, "v", n)
    for n in range(count // 2, count):
        yield claim(n, "v", n, kind=ClaimKind.CORRECTION, start=on(n % 50), end=on(4 * count + n % 50))


MIXES: dict[str, Callable[[int], Iterator[Claim]]] = {
    mix.__name__: mix
    for mix in (
        successive,
        alternating,
        repeated,
        said_at_once,
        tied,
        tied_spans,
        ended,
        ended_spans,
        denied,
        imprecise,
        patched,
        chained,
        corrected,
        renamed,
        corrected_start,
        corrected_span,
    )
}

SMALL: dict[str, list[Claim]] = {
    "one state": [claim(0, "a", 0)],
    "one value, three times": [claim(n, "a", n) for n in range(3)],
    "two values": [claim(0, "a", 0), claim(1, "b", 10)],
    "three changes": [claim(n, f"v{n}", n * 10, kind=ClaimKind.CHANGE) for n in range(3)],
    "a state and its end": [claim(0, "a", 0), claim(1, "a", 10, kind=ClaimKind.END)],
    "a state and its correction": [claim(0, "a", 0), claim(1, "b", 10, kind=ClaimKind.CORRECTION, replaces="a")],
}


def seconds(claims: list[Claim], traits: Traits) -> float:
    """Processor time to find all intervals."""
    began = time.process_time()
    assert Unit(claims, traits).intervals
    return time.process_time() - began


def microseconds(claims: list[Claim], *, times: int = 3000) -> float:
    """Best of five rounds, per resolve."""
    rounds = []
    for _ in range(5):
        began = time.process_time()
        for _ in range(times):
            assert Unit(claims, ONE).intervals
        rounds.append((time.process_time() - began) / times * 1e6)
    return min(rounds)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--claims", type=int, default=5000)
    parser.add_argument("--only", choices=sorted(MIXES))
    options = parser.parse_args()
    if not options.only:
        print(f"{'small units':28}{'us':>8}")
        for name, claims in SMALL.items():
            print(f"{name:28}{microseconds(claims):8.1f}")
    print(f"{'mix':20}{'half':>9}{options.claims:>9}  (seconds, limit {LIMIT_SECONDS})")
    for name, mix in MIXES.items():
        if options.only not in (None, name):
            continue
        for traits in (ONE, RESUMES):
            half, full = seconds(list(mix(options.claims // 2)), traits), seconds(list(mix(options.claims)), traits)
            late = "  LATE" if full > LIMIT_SECONDS else ""
            print(f"{name + (' (resume)' if traits.resumes else ''):28}{half:9.3f}{full:9.3f}{late}", flush=True)


if __name__ == "__main__":
    main()
