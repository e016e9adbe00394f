"""docs/jobs.md is true: its operations and commands run, and its tables name what there is."""

from __future__ import annotations

import json
import re
import shlex
from enum import Enum
from functools import partial
from pathlib import Path

import httpx

from api.app import create_app
from api.folder import owned
from api.schema.job import JobProgress, JobState
from api.service import Service
from tests.api.cli.running import erstwhile
from tests.api.clients import OverHttp, served
from tests.api.conftest import Borrowed
from tests.api.following import stream
from tests.api.jobs import ended
from tests.api.test_metrics import read
from workers.meters import Ending, Failure

PAGE = (Path(__file__).parents[2] / "docs" / "jobs.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def rows(title: str) -> set[str]:
    """The first column of the table whose title begins so."""
    table = PAGE[PAGE.index(f"| {title} |") :].split("\n\n")[0]
    return set(re.findall(r"^\| `(\w+)", table, re.MULTILINE))


def test_operations_and_commands_do_what_the_page_says(service: Service, http: httpx.Client, tmp_path: Path) -> None:
    hand, job, follow = blocks("graphql")
    with served(create_app(partial(Borrowed, service.graph, service.ingestion))) as url, owned(tmp_path, url):
        client = OverHttp(http, url, "the-page")
        made = client.ok(hand, **json.loads(blocks("json")[0]))["ingestEpisodes"]["job"]
        ended(client, made)
        progress = client.ok(job, id=made["id"])["ingestJob"]["progress"]
        assert {name: number for name, number in progress.items() if number} == {"accepted": 2, "committed": 1, "quarantined": 1}
        with stream(http, url, client.namespace, follow, {"id": made["id"]}) as events:
            assert [name for name, _ in events] == ["next", "complete"]
        options = ("--data", str(tmp_path), "--namespace", client.namespace)
        names = {"JOB": made["id"], "EPISODE": erstwhile("quarantine", "--json", *options).json[0]["key"]}
        for part in re.split(r"^\$ ", "".join(blocks("console")), flags=re.MULTILINE)[1:]:
            command, *shown = part.splitlines()
            name, *arguments = shlex.split(command)
            assert name == "erstwhile"
            ran = erstwhile(*(names.get(each, each) for each in arguments), *options)
            assert ran.status == 0, ran.err
            for line in shown:
                assert line in ran.out, f"`{command}` does not show {line!r}:\n{ran.out}"


def test_the_example_of_a_socket_follows_a_job(service: Service, http: httpx.Client) -> None:
    with served(create_app(partial(Borrowed, service.graph, service.ingestion))) as url:
        client = OverHttp(http, url, "the-page-again")
        made = client.ok(blocks("graphql")[0], **json.loads(blocks("json")[0]))["ingestEpisodes"]["job"]
        ended(client, made)
        (example,) = blocks("python")
        example = example.replace("127.0.0.1:8000", url.removeprefix("http://")).replace('"JOB"', repr(made["id"]))
        told: list[object] = []
        exec(example.replace('"default"', '"the-page-again"'), {"print": told.append})
    assert told == [{"state": "SUCCEEDED"}]


def names(kind: type[Enum]) -> set[str]:
    return {member.value for member in kind}


def test_the_tables_name_all_counts_states_and_figures(service: Service) -> None:
    assert rows("state") == names(JobState)
    assert rows("count") == {field.name for field in JobProgress.__strawberry_definition__.fields} - {"accepted"}  # type: ignore[attr-defined]
    told = set(re.findall(r"`(erstwhile_\w+)", PAGE))
    shown = {
        re.sub(r"_(bucket|sum|count)$", "", name)
        for name, _ in read(service.metrics.text())
        if name.startswith("erstwhile_") and not name.endswith("_created")
    }
    assert shown - told == set()
    only_with_a_broker = {
        "erstwhile_broker_up",
        "erstwhile_broker_tasks",
        "erstwhile_stream_results",
        "erstwhile_workers",
        "erstwhile_refused_results",
    }
    only_once_counted = {"erstwhile_redactions_total", "erstwhile_requests_total", "erstwhile_request_seconds"}
    only_of_an_application = {"erstwhile_followers"}
    assert told - shown <= only_with_a_broker | only_once_counted | only_of_an_application
    figures = PAGE[PAGE.index("## Figures") :]
    for kind in (*Ending, *Failure):
        assert f"`{kind.value}`" in figures, kind
