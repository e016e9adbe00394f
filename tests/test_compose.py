"""docker-compose.yml: held against the specification, and against what we want of it."""

from __future__ import annotations

import inspect
import re
from importlib.metadata import version

import pytest
import yaml
from compose_spec import PyCompose

from api.probe import PATIENCE
from api.settings_table import settings_classes, settings_of
from api.supervisor import Supervisor
from tests import compose
from tests.compose import GIVEN, SECRET, SERVICES
from workers.beat import STALE

TEXT = compose.FILE.read_text(encoding="utf-8")
EXAMPLE = (compose.ROOT / ".env.example").read_text(encoding="utf-8")
OURS = ("api", "worker-live", "worker-bulk")
SETTINGS = {setting.variable: setting for kind in settings_classes() for setting in settings_of(kind)}
every_service = pytest.mark.parametrize("name", sorted(SERVICES))


def test_it_follows_the_specification() -> None:
    parsed = PyCompose.from_yaml(yaml.safe_dump(compose.read(GIVEN)))
    parsed.validate()
    assert sorted(parsed.service_names()) == sorted(SERVICES) == ["api", "qdrant", "redis", "worker-bulk", "worker-live"]
    # That the check checks: the same file with a field that no service has, and with a network that is none.
    wrongs: list[dict[str, list[str]]] = [{"ports_": []}, {"networks": ["nowhere"]}]
    for wrong in wrongs:
        broken = compose.read(GIVEN)
        broken["services"]["api"] |= wrong
        with pytest.raises(ValueError):
            PyCompose.from_yaml(yaml.safe_dump(broken)).validate()


def test_it_does_not_start_without_its_secrets() -> None:
    for name in ("REDIS_PASSWORD", "ERSTWHILE_WORKER_KEY"):
        for absent in ({}, {name: ""}):
            with pytest.raises(compose.Missing, match=name):
                compose.read({**{other: value for other, value in GIVEN.items() if other != name}, **absent})


def test_no_secret_has_a_value_in_what_is_checked_in() -> None:
    named = compose.variables(TEXT)
    secret = {name: how for name, how in named.items() if SECRET.search(name)}
    assert {"REDIS_PASSWORD", "ERSTWHILE_WORKER_KEY", "ERSTWHILE_QDRANT_KEY"} <= set(secret)
    assert all(how is not None and (how.startswith(":?") or how == "-") for how in secret.values()), secret
    for line in EXAMPLE.splitlines():
        name, _, value = line.lstrip("#").partition("=")
        assert not (SECRET.search(name) and value), line
    for service in SERVICES.values():
        for name, value in service.get("environment", {}).items():
            if SECRET.search(name):
                assert value in ("", *GIVEN.values()), name


def test_the_example_of_the_environment_lists_every_variable_and_no_other() -> None:
    listed = re.findall(r"^#?([A-Z][A-Z0-9_]+)=(.*)$", EXAMPLE, re.MULTILINE)
    named = compose.variables(TEXT)
    assert sorted(name for name, _ in listed) == sorted(named)
    defaults = {name: how.lstrip(":-") for name, how in named.items() if how and "-" in how[:2]}
    shown = {name: value for name, value in listed if name in defaults}
    assert {name: value for name, value in shown.items() if name != "ERSTWHILE_QDRANT_URL"} == {
        name: value for name, value in defaults.items() if name != "ERSTWHILE_QDRANT_URL"
    }


def test_every_setting_in_it_is_one() -> None:
    known = set(SETTINGS)
    named = {name for service in SERVICES.values() for name in service.get("environment", {}) if name.startswith("ERSTWHILE_")}
    assert named - known == set()


@every_service
def test_each_service_is_confined(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["init"] is True
    assert int(service["user"].partition(":")[0]) >= 1000
    assert service["restart"] == "unless-stopped"
    assert {"mem_limit", "pids_limit", "stop_grace_period", "healthcheck"} <= set(service)
    assert service["logging"]["options"].keys() == {"max-size", "max-file"}
    assert not {"privileged", "cap_add", "network_mode", "pid", "ipc", "devices"} & set(service)
    for volume in service.get("volumes", ()):
        assert re.fullmatch(r"[a-z]+:/[a-z/]+", volume), "a volume of its own, nothing of the host"
    image, _, tag = service["image"].rpartition(":")
    assert tag != "latest" or image == "erstwhile"


@every_service
def test_only_the_api_is_reached_from_outside_and_from_this_machine_alone(name: str) -> None:
    service = SERVICES[name]
    assert service.get("ports", []) == (["127.0.0.1:8000:8000"] if name == "api" else [])
    assert service["networks"] == (["inner", "outer"] if name == "api" else ["inner"])
    assert compose.read(GIVEN)["networks"]["inner"] == {"internal": True}


def test_services_wait_for_what_they_need() -> None:
    for name in OURS:
        assert SERVICES[name]["depends_on"]["redis"] == {"condition": "service_healthy"}
    # Started only with its profile, Qdrant is not required.
    assert SERVICES["qdrant"]["profiles"] == ["qdrant"]
    assert SERVICES["api"]["depends_on"]["qdrant"] == {"condition": "service_healthy", "required": False}


def test_times_fit_each_other() -> None:
    grace = inspect.signature(Supervisor.__init__).parameters["grace"].default
    assert grace < compose.seconds(SERVICES["api"]["stop_grace_period"])
    for name in OURS:
        check = SERVICES[name]["healthcheck"]
        assert max(PATIENCE, 1) < compose.seconds(check["timeout"]) <= compose.seconds(check["interval"])
    limit = int(SETTINGS["ERSTWHILE_TASK_TIME_LIMIT"].default or 0)
    assert all(0 < limit < compose.seconds(SERVICES[name]["stop_grace_period"]) for name in OURS[1:])
    # A worker that is stuck is known as such before a second minute is over.
    check = SERVICES["worker-live"]["healthcheck"]
    assert STALE + check["retries"] * compose.seconds(check["interval"]) < 120
    assert compose.seconds("1h2m3s4ms") == 3723.004


def test_the_processes_of_a_worker_fit_into_its_container() -> None:
    for name in OURS[1:]:
        processes = int(SERVICES[name]["environment"]["ERSTWHILE_WORKER_PROCESSES"])
        most = int(SETTINGS["ERSTWHILE_WORKER_MEMORY"].default or 0)
        assert 0 < processes * most + 250 < 1024 * int(SERVICES[name]["mem_limit"].removesuffix("g"))


def test_redis_may_hold_less_than_its_container() -> None:
    limit = re.search(r"--maxmemory (\d+)mb ", SERVICES["redis"]["command"][2])
    assert limit is not None
    assert int(limit[1]) * 1.3 < int(SERVICES["redis"]["mem_limit"].removesuffix("m"))


def test_the_qdrant_server_is_one_that_its_client_speaks_to() -> None:
    image = re.search(r"v(\d+)\.(\d+)\.\d+", SERVICES["qdrant"]["image"])
    assert image is not None
    major, minor, *_ = version("qdrant-client").split(".")
    assert image[1] == major
    assert abs(int(image[2]) - int(minor)) <= 1
