"""docker-compose.yml without an engine: variables put in as Compose does, commands as the container would run them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[1]
FILE = ROOT / "docker-compose.yml"

# compose-spec, "Interpolation": $$ is a dollar; ${V:-d} and ${V-d} have a default, ${V:?m} and ${V?m} are required; the colon counts
# an empty value as none.
_VARIABLE = re.compile(r"\$(?:(?P<dollar>\$)|(?P<bare>[A-Za-z_]\w*)|\{(?P<name>[A-Za-z_]\w*)(?:(?P<how>:?[-?])(?P<rest>[^}]*))?\})")


class Missing(Exception):
    """A required variable is not set."""


def variables(text: str) -> dict[str, str | None]:
    """Each variable that a text names, with how it stands there: None, or such as `:-default`."""
    found = ((match["name"] or match["bare"], match) for match in _VARIABLE.finditer(text) if not match["dollar"])
    return {name: f"{match['how']}{match['rest']}" if match["how"] else None for name, match in found}


def interpolated(text: str, given: Mapping[str, str]) -> str:
    """The text with its variables put in. Raises Missing."""

    def put(match: re.Match[str]) -> str:
        if match["dollar"]:
            return "$"
        name = match["name"] or match["bare"]
        value, how = given.get(name), match["how"] or ""
        if value is not None and (value or not how.startswith(":")):
            return value
        if how.endswith("?"):
            raise Missing(f"{name}: {match['rest']}")
        return match["rest"] or ""

    return _VARIABLE.sub(put, text)


def read(given: Mapping[str, str]) -> dict[str, Any]:
    """The file as Compose would read it."""
    found: dict[str, Any] = yaml.safe_load(interpolated(FILE.read_text(encoding="utf-8"), given))
    return found


def health_check(service: Mapping[str, Any]) -> list[str]:
    """The command of a service's health check, as the engine runs it."""
    kind, *command = service["healthcheck"]["test"]
    if kind == "CMD-SHELL":
        return ["/bin/sh", "-c", *command]
    assert kind == "CMD"
    return list(command)


def seconds(duration: str) -> float:
    """A duration of the specification, such as 1m30s."""
    units = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
    return sum(float(number) * units[unit] for number, unit in re.findall(r"(\d+(?:\.\d+)?)(ms|h|m|s)", duration))


GIVEN = {"REDIS_PASSWORD": "0f" * 32, "ERSTWHILE_WORKER_KEY": "1e" * 32, "ERSTWHILE_EMBEDDER": "none"}
"""What a user has put into .env."""

SERVICES: dict[str, Any] = read(GIVEN)["services"]
SECRET = re.compile(r"PASSWORD|SECRET|TOKEN|_KEY$")
"""What the names of secrets look like."""
