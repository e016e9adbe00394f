"""The sets: conversations with questions, and for each question the turns that answer it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ontology.episode import EpisodeDraft
from workers.readers import read_path

_TURN = re.compile(r"D\d+:\d+")
# BEAM's own mark of the plan that a message was written by; nobody typed it.
_PLAN = re.compile(r"\s*->->.*$", re.DOTALL)
ADVERSARIAL = "adversarial"
LOCOMO_KINDS = {1: "several turns", 2: "when", 3: "with knowledge", 4: "one turn", 5: ADVERSARIAL}


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, of which kind, and the external IDs of the turns that answer it. `older` and `newer`: those of an update."""

    text: str
    kind: str
    evidence: frozenset[str]
    older: frozenset[str] = frozenset()
    newer: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation, its turns as the readers give them, and what is asked of it."""

    name: str
    turns: tuple[EpisodeDraft, ...]
    questions: tuple[Question, ...]


def read_locomo(path: Path) -> list[Conversation]:
    """The conversations of a LoCoMo file, with the questions that name evidence. Turns hold what the reader keeps: no images."""
    by_group: dict[str, list[EpisodeDraft]] = {}
    for item in read_path(path):
        if isinstance(item, EpisodeDraft):
            by_group.setdefault(item.group or "", []).append(item)
    found = []
    for sample in json.loads(path.read_text(encoding="utf-8")):
        name = sample["sample_id"]
        turns = tuple(by_group[name])
        known = {turn.external_id or "" for turn in turns}
        questions = []
        for asked in sample["qa"]:
            named = {f"{name}/{turn}" for text in asked["evidence"] for turn in _TURN.findall(text)} & known
            if named:
                questions.append(Question(asked["question"], LOCOMO_KINDS[asked["category"]], frozenset(named)))
        found.append(Conversation(name, turns, tuple(questions)))
    return found


def read_beam(path: Path) -> list[Conversation]:
    """The chats of a BEAM folder (`N/chat.json`, `N/questions.json`), user turns only, with the questions that name one of them.

    BEAM states a date now and then; the turns are a minute apart, in their order.
    """
    found = []
    for folder in sorted((each for each in path.iterdir() if (each / "chat.json").is_file()), key=lambda each: each.name.zfill(9)):
        name = f"beam-{folder.name}"
        turns = tuple(_user_turns(name, json.loads((folder / "chat.json").read_text(encoding="utf-8"))))
        known = {turn.external_id or "" for turn in turns}
        questions = []
        for kind, together in json.loads((folder / "questions.json").read_text(encoding="utf-8")).items():
            for asked in together:
                sources = asked.get("source_chat_ids")
                evidence = _ids(name, sources) & known
                updated = sources if kind == "knowledge_update" and isinstance(sources, dict) else {}
                older, newer = _ids(name, updated.get("original_info")) & known, _ids(name, updated.get("updated_info")) & known
                if evidence:
                    questions.append(Question(asked["question"], kind.replace("_", " "), evidence, older - newer, newer - older))
        found.append(Conversation(name, turns, tuple(questions)))
    return found


def _user_turns(name: str, chat: list[dict[str, Any]]) -> Iterator[EpisodeDraft]:
    number = 0
    for batch in chat:
        for exchange in batch["turns"]:
            for turn in exchange:
                if turn["role"] == "user" and (text := _PLAN.sub("", turn["content"])).strip():
                    number += 1
                    said = f"2024-01-{1 + number // 1440:02d}T{number // 60 % 24:02d}:{number % 60:02d}:00Z"
                    yield EpisodeDraft(text, "beam", f"{name}/{turn['id']}", name, "user", said_at=said)


def _ids(name: str, given: Any) -> frozenset[str]:
    """All turn numbers in a value, however nested, as external IDs."""
    if isinstance(given, dict):
        given = list(given.values())
    if isinstance(given, list):
        return frozenset().union(*(_ids(name, each) for each in given))
    return frozenset({f"{name}/{given}"}) if isinstance(given, int) else frozenset()


@dataclass(frozen=True, slots=True)
class Pair:
    """Two turns of which the later one supersedes the earlier one."""

    id: str
    older: EpisodeDraft
    newer: EpisodeDraft


def read_pairs(path: Path) -> list[Pair]:
    """The pairs of a JSON Lines file that are labelled `supersedes`."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line) if line.strip() else {}
        if row.get("label") == "supersedes":
            sides = [
                EpisodeDraft(row[side]["text"], "pairs", f"{row['id']}/{side}", row["id"], row[side]["speaker"], said_at=row[side]["said"])
                for side in ("a", "b")
            ]
            found.append(Pair(row["id"], *sides))
    return found
