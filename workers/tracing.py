"""The log of one request's way from its acceptance to its commit: a line for each step and trace, as `step key=value ... trace=ID`.

The trace is an attribute of the record too (`trace`), for handlers that write other formats. What comes without one is not told.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable


def note(logger: logging.Logger, step: str, traces: Iterable[str | None], **facts: object) -> None:
    """Tell that a step was taken with some episodes, each with its trace."""
    if not logger.isEnabledFor(logging.INFO):
        return
    for trace, number in Counter(trace for trace in traces if trace is not None).items():
        told = " ".join(f"{name}={value}" for name, value in {"episodes": number, **facts}.items())
        logger.info("%s %s trace=%s", step, told, trace, extra={"trace": trace})
