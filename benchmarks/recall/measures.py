"""What is measured of a ranking, and how sure one can be of a mean."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class Measured:
    """Of one ranking: the shares of the wanted items among the first 5 and 10, and 1 / the place of the first one (0 without one)."""

    recall_5: float
    recall_10: float
    reciprocal: float


def measure(ranking: Sequence[str], wanted: Collection[str]) -> Measured:
    """Measure a ranking of external IDs, best first, by those that are wanted."""
    places = [place for place, name in enumerate(ranking) if name in wanted]
    shares = [sum(place < most for place in places) / len(wanted) for most in (5, 10)]
    return Measured(shares[0], shares[1], 1 / (places[0] + 1) if places else 0.0)


def interval(values: Sequence[float]) -> tuple[float, float]:
    """The 95 % bootstrap interval of the mean of some questions' values (percentiles; Efron 1979); always the same for the same values."""
    array = np.asarray(values)
    chosen = np.random.default_rng(7).integers(0, len(array), (RESAMPLES, len(array)))
    low, high = np.percentile(array[chosen].mean(axis=1), [2.5, 97.5])
    return float(low), float(high)


def told(values: Sequence[float], *, sure: bool = True) -> str:
    """A mean, with its interval where wanted: `.763 (.738-.788)`."""
    if not values:
        return ""
    mean = short(sum(values) / len(values))
    if not sure:
        return mean
    low, high = interval(values)
    return f"{mean} ({short(low)}-{short(high)})"


def short(value: float) -> str:
    """A share with three places and no leading zero."""
    return f"{value:.3f}".removeprefix("0") if value >= 0 else f"-{-value:.3f}".replace("-0", "-")


def row(measured: Sequence[Measured], *, sure: bool = True) -> tuple[str, str, str]:
    """R@5, R@10 and MRR of some questions."""
    return (
        told([each.recall_5 for each in measured], sure=sure),
        told([each.recall_10 for each in measured], sure=sure),
        told([each.reciprocal for each in measured], sure=sure),
    )
