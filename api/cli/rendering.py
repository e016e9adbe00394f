"""What the commands print for people: plain lines, the same in a terminal and in a pipe."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

_CONTROL = dict.fromkeys((*range(32), *range(127, 160)), "�")
# What was said may hold what steers a terminal.
_UNSEEN = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
Node = Mapping[str, Any]
_MARKS = {"POSSIBLE": "possibly", "TIED": "disputed", "RESOLVED": "others disagree", "PROJECTED": "carried forward"}


def day(value: str | None, *, unbounded: str) -> str:
    """A time without its clock where that is midnight."""
    return unbounded if value is None else value.removesuffix("T00:00:00Z")


def named(entity: Node) -> str:
    """An entity's name in one line, with what tells it from another of that name."""
    apart = entity.get("discriminator")
    return printable(str(entity["name"]) + (f" ({apart})" if apart else ""))


def value(node: Node) -> str:
    """The object's name or lexical value, in one line."""
    return named(node["object"]) if node["object"].get("name") else printable(str(node["object"]["value"]))


def predicate(node: Node) -> str:
    """Predicate and qualifier."""
    return str(node["predicate"]["name"]) + (f" [{node['qualifier']}]" if node["qualifier"] else "")


def period(node: Node) -> str:
    """From and to as stated, else as they are."""
    valid = node["validTime"]
    start = valid.get("fromStated") or day(valid["from"], unbounded="ever")
    end = valid.get("toStated") or day(valid["to"], unbounded="now")
    return f"{start} .. {end}"


def marks(node: Node) -> str:
    """What a reader should know about how sure a statement is."""
    found = [_MARKS[node[name]] for name in ("certainty", "conflict", "support") if node[name] in _MARKS]
    return f"  ({', '.join(found)})" if found else ""


def sources(node: Node) -> Iterator[str]:
    """The words of the evidence."""
    for edge in node.get("provenance", {}).get("edges", ()):
        if edge["evidence"]["quote"]:
            yield f'      "{shortened(edge["evidence"]["quote"])}" - {_said(edge["node"])}'


def ending(node: Node) -> Iterator[str]:
    """Why a statement ended, with the words that decided it."""
    found = node.get("invalidation")
    if not found:
        return
    yield f"      ended: {found['reason']} by rule {found['rule']}"
    if found["evidence"] and found["evidence"]["quote"]:
        yield f'        "{shortened(found["evidence"]["quote"])}" - {_said(found["evidence"]["episode"])}'


def statement(node: Node) -> Iterator[str]:
    """A statement with its evidence."""
    denied = "" if node["polarity"] else "NOT "
    yield f"  {named(node['subject'])} | {denied}{predicate(node)} | {value(node)}   {period(node)}{marks(node)}"
    yield from sources(node)
    yield from ending(node)


def segments(timeline: Node) -> Iterator[str]:
    """A slot over time: one line a segment, then what its values rest on and what ended them."""
    told: set[tuple[str, str | None]] = set()
    for segment in timeline["segments"]:
        start, end = (day(segment["validTime"][side], unbounded=word) for side, word in (("from", "ever"), ("to", "now")))
        values = ", ".join(_told(node) for node in segment["statements"])
        yield f"  {start} .. {end}   {values}"
        for node in segment["statements"]:
            name = (_told(node), node["validTime"]["from"])
            if name not in told:
                told.add(name)
                yield from sources(node)
                yield from ending(node)


def _told(node: Node) -> str:
    """A value of a segment, and what makes it less than plain: only one of several, or only possible."""
    found = [_MARKS[node[name]] for name in ("certainty", "conflict") if node[name] in _MARKS]
    return ("" if node["polarity"] else "not ") + value(node) + (f" ({', '.join(found)})" if found else "")


def basis(node: Node) -> str:
    """What an answer stands on."""
    limit = f", evidence said until {node['evidenceUntil']}" if node["evidenceUntil"] else ""
    return f"as of {node['validAt']}, as recorded by {node['recordedAt']} (transaction {node['transaction']}){limit}"


def boundary(node: Node) -> Iterator[str]:
    """Where a slot changed, from what to what, why, and the words or the transaction that say so."""
    sides = (", ".join(_told(each) for each in node[side]) or "nothing known" for side in ("before", "after"))
    yield f"  {day(node['at'], unbounded='ever')}   {printable(' -> '.join(sides))}"
    yield f"      {node['reason']} by rule {node['rule']}"
    for each in node["evidence"]:
        if each["quote"]:
            yield f'      "{shortened(each["quote"])}" - {_said(each["episode"])}'
    if node["transaction"] is not None:
        yield f"      withdrawn by {transaction(node['transaction'])}"


def transaction(node: Node) -> str:
    """A commit: its number, when it was, who did what, and why."""
    reason = f": {shortened(node['reason'])}" if node["reason"] else ""
    return f"transaction {node['number']}, {node['at']}, {node['kind']} by {printable(node['actor'])}{reason}"


def shortened(text: str, most: int = 200) -> str:
    """One line of at most `most` characters, without characters that steer a terminal."""
    return cut(printable(text), most)


def cut(line: str, most: int) -> str:
    """At most `most` characters of a line."""
    return line if len(line) <= most else line[: most - 3].rstrip() + "..."


def escaped(text: str, *, lines: bool = False) -> str:
    """Text that nobody trusts: what is not seen (controls, marks of direction, joiners) as its number. `lines`: line ends stay."""
    kept = "\n" if lines else ""
    return "".join(f"<U+{ord(c):04X}>" if c not in kept and unicodedata.category(c) in _UNSEEN else c for c in text)


def printable(text: str) -> str:
    """One line of what a terminal shows as it is."""
    return " ".join(text.split()).translate(_CONTROL)


def reading(node: Node) -> str:
    """What a claim says, in one line: of a query's answer, or of a preview."""
    subject = node["subject"] if isinstance(node["subject"], str) else named(node["subject"])
    object = node["object"] if isinstance(node["object"], str) else value(node)
    told = node["predicate"] if isinstance(node["predicate"], str) else node["predicate"]["name"]
    relation = told + (f" [{node['qualifier']}]" if node["qualifier"] else "")
    dates = f"   {node['validFrom'] or ''} .. {node['validTo'] or ''}".rstrip() if node["validFrom"] or node["validTo"] else ""
    return printable(f"{subject} | {'' if node['polarity'] else 'NOT '}{relation} | {object}") + dates


def sureness(node: Node) -> str:
    """How a claim was read, and what became of it."""
    found = [node["kind"]] if node["kind"] != "STATE" else []
    found += [node["modality"]] if node["modality"] != "ASSERTED" else []
    found += [f"confidence {node['confidence']:.2f}", node["rule"]]
    found += ["candidate"] if node["candidate"] else []
    found += [f"rejected: {printable(node['rejection'] or '')}"] if node.get("rejected") else []
    return ", ".join(found)


def claim(node: Node) -> Iterator[str]:
    """A claim with its words and its ID."""
    yield f"  {reading(node)}   ({sureness(node)})"
    if node["evidence"]["quote"]:
        yield f'      "{shortened(node["evidence"]["quote"])}" - {_said(node["evidence"]["episode"])}'
    yield f"      {node['evidence']['claim']}"


def effect(result: Node) -> Iterator[str]:
    """What a mutation began and ended."""
    for title, part in (("begin to hold", "asserted"), ("end", "invalidated")):
        if result[part]:
            yield f"statements that {title}: {len(result[part])}"
            yield from (line for node in result[part] for line in statement(node))


def lines(*parts: Iterable[str]) -> str:
    """Everything in one text."""
    return "\n".join(line for part in parts for line in part)


def _said(episode: Node) -> str:
    who = episode["speaker"] or episode["source"]
    return f"{who}, {episode['saidAt'][:10]}"
