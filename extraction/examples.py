"""Examples of rules: made-up secrets are written by their length, so that a rule file holds nothing that looks like a leak.

`{mixed:36}` stands for 36 letters and digits, `{hex:32}`, `{HEX:32}`, `{digits:12}` and `{upper:16}` likewise, always the same ones;
`{}` for nothing, so that what two sides of it make is not spelt out. `«...»` stands round what a rule must replace, neither more nor less.
"""

from __future__ import annotations

import re
from itertools import cycle, islice

_ALPHABETS = {
    "mixed": "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1xF2rL8uX4cV6",
    "hex": "3f9a1c7e5b2d8046e1c9a7f35d2b8046",
    "HEX": "3F9A1C7E5B2D8046E1C9A7F35D2B8046",
    "digits": "4817203956",
    "upper": "K7Q2M9X4T1B8R5W3",
}
_MADE = re.compile(r"\{(?:(mixed|hex|HEX|digits|upper):(\d{1,4}))?\}")


def made(alphabet: str, length: int) -> str:
    """`length` characters of an alphabet, always the same."""
    return "".join(islice(cycle(_ALPHABETS[alphabet]), length))


def expanded(example: str) -> tuple[str, list[tuple[int, int]]]:
    """The text of an example and the `[start, end)` of what stands in `«»` in it."""
    text = _MADE.sub(lambda part: made(part[1], int(part[2])) if part[1] else "", example)
    spans: list[tuple[int, int]] = []
    plain: list[str] = []
    length = 0
    for place, piece in enumerate(re.split("[«»]", text)):
        if place % 2:
            spans.append((length, length + len(piece)))
        plain.append(piece)
        length += len(piece)
    return "".join(plain), spans
