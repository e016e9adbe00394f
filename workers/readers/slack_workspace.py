"""What a Slack export says about its people and channels: `users.json`, `channels.json`, `groups.json`, `dms.json`, `mpims.json`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from workers.readers.files import SourceFile
from workers.readers.lines import read_objects, split_items
from workers.readers.options import ReadOptions
from workers.readers.report import ReadReport, Rejected

LISTS = ("users", "channels", "groups", "dms", "mpims")
OTHERS = frozenset(
    {"integration_logs", "canvases", "lists", "file_conversations", "huddle_transcripts", "org_users", "teams", "workspaces", "usergroups"}
)
"""Lists of an export in which nobody says anything."""

DAY = re.compile(r"(?P<before>.*?)[-_. ]*(?P<date>\d{4}-\d\d-\d\d)[-_. ]*")
_NAMES = ("real_name", "real_name_normalized", "display_name", "display_name_normalized", "name")


@dataclass(frozen=True, slots=True)
class Channel:
    """A conversation: its ID where the export states one, else the name of its folder; members only of direct messages."""

    id: str
    name: str
    members: tuple[str, ...] = ()


@dataclass(slots=True)
class Workspace:
    """Names by user ID and channels by ID and by the name of their folder. Empty where a day's file lies alone."""

    users: dict[str, str] = field(default_factory=dict)
    handles: dict[str, str] = field(default_factory=dict)
    bots: set[str] = field(default_factory=set)
    channels: dict[str, Channel] = field(default_factory=dict)

    def person(self, user: str, options: ReadOptions, source: str) -> str:
        """The name of a user: by the speaker maps from its ID or handle, else the export's, else the ID."""
        for key in (user, self.handles.get(user)):
            if key is not None and (mapped := options.speaker_map.get(key) or options.speakers.name_of(source, key)):
                return mapped
        return self.users.get(user, user)


def place_of(file: SourceFile) -> tuple[str, str]:
    """(where the export's lists lie beside a day's file, the channel's folder or what stands for it)."""
    match = DAY.fullmatch(file.stem)
    if match and not match["before"]:
        return ("../" if file.beside_exists("../users.json") or not file.beside_exists("users.json") else ""), file.folder
    return "", (match["before"] if match else file.stem)


def load_workspace(file: SourceFile, report: ReadReport) -> Workspace:
    """The workspace of a day's file. A list that is missing or broken leaves IDs as they are."""
    folder, before = place_of(file)
    found = Workspace()
    for name in LISTS:
        for path in (f"{folder}{name}.json", f"{before}_{name}.json", f"{before}-{name}.json"):
            for record in _records(file, path, report):
                _USERS_OR_CHANNELS.get(name, _channel)(found, record)
    for channel in list(found.channels.values()):
        if channel.members:
            people = ", ".join(sorted(found.users.get(member, member) for member in channel.members))
            found.channels[channel.id] = Channel(channel.id, people, channel.members)
            if channel.name != channel.id:
                found.channels[channel.name] = found.channels[channel.id]
    return found


def _records(file: SourceFile, path: str, report: ReadReport) -> Iterator[dict[str, Any]]:
    try:
        opened = file.beside(path)
        if opened is None:
            return
        with opened:
            for item in read_objects(split_items(opened), path, report):
                if isinstance(item, Rejected):
                    report.skipped["broken item of a workspace list"] += 1
                else:
                    yield item.value
    except OSError:
        report.skipped["broken workspace list"] += 1


def name_in(record: Any) -> str | None:
    """The name in a user or a message's `user_profile`: the real one, else the one shown, else the handle."""
    if not isinstance(record, dict):
        return None
    for holder in (record.get("profile"), record):
        if isinstance(holder, dict):
            for key in _NAMES:
                value = holder.get(key)
                if isinstance(value, str) and value.strip():
                    return value.strip()
    return None


def _user(found: Workspace, record: dict[str, Any]) -> None:
    user = record.get("id")
    if not isinstance(user, str) or not user:
        return
    name = name_in(record)
    if name is not None:
        found.users[user] = name
    if isinstance(record.get("name"), str):
        found.handles[user] = record["name"]
    if record.get("is_bot") is True:
        found.bots.add(user)


def _channel(found: Workspace, record: dict[str, Any]) -> None:
    own, name = record.get("id"), record.get("name")
    if not isinstance(own, str) or not own:
        return
    known = name if isinstance(name, str) and name.strip() else own
    members = record.get("members")
    # A direct message has no name, one of several people a name that is made of their handles.
    private = known == own or known.startswith("mpdm-")
    people = tuple(member for member in members if isinstance(member, str)) if private and isinstance(members, list) else ()
    found.channels[own] = found.channels[known] = Channel(own, known, people)


_USERS_OR_CHANNELS = {"users": _user}
