"""The Dockerfile, as far as it can be checked without an engine: what it takes in, what it leaves out, and as whom it runs."""

from __future__ import annotations

import fnmatch
import re
import subprocess
import zipfile
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests import compose
from tests.compose import SECRET, SERVICES

ROOT = compose.ROOT


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction, in its stage (from 0)."""

    stage: int
    name: str
    value: str


def _instructions() -> list[Instruction]:
    lines = (line for line in (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines() if not line.lstrip().startswith("#"))
    found: list[Instruction] = []
    for line in re.sub(r"\\\n\s*", "", "\n".join(lines)).splitlines():
        if line.strip():
            name, _, value = line.strip().partition(" ")
            stage = found[-1].stage + (name == "FROM") if found else 0
            found.append(Instruction(stage, name, value.strip()))
    return found


INSTRUCTIONS = _instructions()
LAST = INSTRUCTIONS[-1].stage
COPIED = [source for i in INSTRUCTIONS if i.name == "COPY" and "--from" not in i.value for source in i.value.split()[:-1]]


def of(name: str, stage: int | None = None) -> list[str]:
    """The values of all instructions of a name."""
    return [i.value for i in INSTRUCTIONS if i.name == name and stage in (None, i.stage)]


def tracked(*paths: str) -> list[str]:
    """The files under paths that are checked in."""
    listed = subprocess.run(["git", "ls-files", "-z", *paths], cwd=ROOT, capture_output=True, text=True, check=True)
    return sorted(name for name in listed.stdout.split("\0") if name)


def ignored(path: str) -> bool:
    """Whether .dockerignore keeps a file out; the last pattern that fits decides."""
    parents = [path, *(str(parent) for parent in Path(path).parents if str(parent) != ".")]
    out = False
    for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        pattern = line.removeprefix("!")
        anywhere = pattern.removeprefix("**/")
        if any(fnmatch.fnmatchcase(part if anywhere == pattern else Path(part).name, anywhere) for part in parents):
            out = not line.startswith("!")
    return out


def test_every_source_exists_and_is_sent() -> None:
    assert COPIED
    for source in COPIED:
        assert (ROOT / source).exists(), source
        for path in tracked(source):
            assert not ignored(path), path


def test_nothing_else_is_sent_to_the_engine() -> None:
    sent = {Path(path).parts[0] for path in tracked() if not ignored(path)}
    assert sent == {source.removeprefix("./") for source in COPIED}
    for path in (".env", ".env.example", "secrets/api_keys.json", ".git/config", "ledger.db", "tests/conftest.py", ".venv/bin/python"):
        assert ignored(path), path
    assert ignored("api/__pycache__/app.cpython-311.pyc")


def test_what_is_not_checked_in_stays_out() -> None:
    lines = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert {".env", "secrets/", ".venv/"} <= set(lines)


def test_it_runs_as_a_user_without_rights() -> None:
    assert of("USER", LAST) == ["10001:10001"]
    after = INSTRUCTIONS[[i.name for i in INSTRUCTIONS].index("USER") :]
    assert not {"RUN", "COPY", "ADD"} & {i.name for i in after}
    for name in ("api", "worker-live", "worker-bulk"):
        assert SERVICES[name]["user"] == "10001:10001"


def test_no_secret_and_no_choice_of_a_builder_is_in_it() -> None:
    assert of("ARG") == []
    assert of("ADD") == []
    for value in of("ENV"):
        names = re.findall(r"([A-Z_]+)=", value)
        assert names
        assert not any(SECRET.search(name) for name in names), names


def test_both_stages_stand_on_one_image_whose_version_is_named() -> None:
    images = [value.partition(" AS ")[0] for value in of("FROM")]
    assert len(images) == 2
    assert set(images) == {"python:3.11-slim-bookworm"}


def test_what_is_installed_is_pinned_by_hash_and_built_nowhere() -> None:
    installs = [part for value in of("RUN") for part in value.split("&&") if "pip install" in part]
    assert len(installs) == 2
    assert {"--require-hashes", "--only-binary=:all:", "requirements.txt"} <= set(installs[0].split())
    assert {"--no-deps", "--no-build-isolation"} <= set(installs[1].split())
    pinned = re.findall(r"^[A-Za-z0-9._\[\]-]+==[^\s]+.*?(?=^[A-Za-z0-9]|\Z)", (ROOT / "requirements.txt").read_text(), re.M | re.S)
    assert len(pinned) > 50
    assert all("--hash=sha256:" in requirement for requirement in pinned)


def test_the_image_that_runs_takes_nothing_from_the_network() -> None:
    commands = " ".join(of("RUN", LAST))
    assert not re.search(r"\b(apt|apt-get|pip|curl|wget|gcc|make|git)\b", commands)
    assert [value for value in of("COPY", LAST) if "--from=build" not in value] == []


def test_what_is_taken_out_again_is_needed_by_nothing_that_stays() -> None:
    out = {name for value in of("RUN") if "uninstall" in value for name in value.partition("uninstall --yes ")[2].split()}
    assert "hatchling" in out
    needing: dict[str, set[str]] = {}
    for found in distributions():
        for text in found.requires or ():
            requirement = Requirement(text)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                needing.setdefault(canonicalize_name(requirement.name), set()).add(canonicalize_name(found.metadata["Name"]))
    pinned = {canonicalize_name(name) for name in re.findall(r"^([A-Za-z0-9._-]+)", (ROOT / "requirements.txt").read_text(), re.MULTILINE)}
    for name in out - {"pip"}:
        assert name in pinned
        assert not needing.get(name, set()) & pinned - out, name


@pytest.mark.parametrize("package", ["api", "extraction", "graph", "ontology", "workers"])
def test_the_wheel_holds_every_file_of_each_package(package: str, wheel: set[str]) -> None:
    assert set(tracked(package)) <= wheel


def test_the_wheel_holds_nothing_else(wheel: set[str]) -> None:
    assert {Path(name).parts[0] for name in wheel if ".dist-info" not in name} == {"api", "extraction", "graph", "ontology", "workers"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The names in the wheel that the image installs."""
    built = next(WheelBuilder(str(ROOT)).build(directory=str(tmp_path_factory.mktemp("wheel")), versions=["standard"]))
    with zipfile.ZipFile(built) as archive:
        return set(archive.namelist())


def test_its_health_check_and_command_are_those_of_the_compose_file() -> None:
    check = of("HEALTHCHECK", LAST)[0].partition("CMD ")[2]
    assert ["CMD", *re.findall(r'"([^"]+)"', check)] == SERVICES["api"]["healthcheck"]["test"]
    assert re.findall(r'"([^"]+)"', of("CMD", LAST)[0]) == SERVICES["api"]["command"]
