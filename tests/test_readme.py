"""The README is true: each of its commands and queries is run over `examples/`, and what it shows comes out."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from api.cli.commands import app
from api.cli.link import LocalLink
from api.folder import owned
from api.settings import Settings
from api.wiring import open_service

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
WRONG = README[README.index("## When it is wrong") : README.index("## What it does not do yet")]
"""The section whose commands change what is believed: they run after all others."""
RIGHT = README.replace(WRONG, "")
MEANT = README[README.index("## Recall") : README.index("## GraphQL")]
"""The section that shows what the default embedder finds: the only one that is run with it."""
DRIFT = (ROOT / "docs" / "drift.md").read_text(encoding="utf-8")
_SCORE = re.compile(r"\b\d\.\d{3}\b")


def blocks(language: str, text: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def commands(text: str) -> Iterator[tuple[str, list[str]]]:
    """Each command line with the lines shown below it."""
    for block in blocks("console", text):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *shown = part.splitlines()
            yield command, shown


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("readme")


def run(command: str, data: Path, embedder: str = "none") -> str:
    name, *arguments = shlex.split(command)
    assert name == "erstwhile"
    env = {"ERSTWHILE_DATA": str(data), "ERSTWHILE_EMBEDDER": embedder}
    result = CliRunner().invoke(app, arguments, env=env, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_commands_and_queries(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    run("erstwhile ingest examples --speaker Maya", data)
    _queries(data, RIGHT.replace(MEANT, ""))
    # The page about drift is told over the same examples, as they are before that.
    for command, shown in commands(DRIFT):
        output = run(command, data)
        for line in shown:
            assert line.strip() in output, f"`{command}` does not show {line!r}:\n{output}"
    # The README takes its example back at the end: what is asked before that is asked before that.
    listed = [pair for pair in commands(RIGHT) if not pair[0].startswith("erstwhile ingest examples")]
    assert len(listed) >= 10
    meant = dict(commands(MEANT))
    for command, shown in listed:
        if command in meant:
            continue
        output = run(command, data)
        for line in shown:
            assert line in output, f"`{command}` does not show {line!r}:\n{output}"
    _recall(data, meant)
    assert "accepted 0  known before 207" in run("erstwhile ingest examples --speaker Maya", data)


def _recall(data: Path, meant: dict[str, list[str]]) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("ERSTWHILE_EMBEDDER", "minilm")
        for command, shown in meant.items():
            output = _columns(run(command, data, "minilm"))
            for line in shown:
                assert _columns(line).strip() in output, f"`{command}` does not show {line!r}:\n{output}"
        _queries(data, MEANT)


def _columns(text: str) -> str:
    """Without the width of columns, and without scores: int8 weights are multiplied a little differently on each kind of processor."""
    return _SCORE.sub("0.000", re.sub(r"(?<=\S) {2,}", "  ", text))


def _queries(data: Path, text: str) -> None:
    queries, answers = blocks("graphql", text), blocks("json", text)
    assert len(queries) == len(answers) >= 1
    settings = Settings(data=data, graph_engine="sql")
    with owned(data), asyncio.Runner() as runner:
        service = open_service(settings)
        try:
            link = LocalLink(service, runner, "default")
            for query, answer in zip(queries, answers, strict=True):
                assert link.execute(query) == json.loads(answer)
        finally:
            service.close()


def test_taking_back_and_telling_apart(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits for the ledger's side of identity, rejections and rehearsals."""
    monkeypatch.chdir(ROOT)
    run("erstwhile ingest examples --speaker Maya", data)
    claim = json.loads(run("erstwhile claims Lena --predicate diet --json", data))[0]["evidence"]["claim"]
    for command, shown in commands(WRONG):
        output = run(command.replace("CLAIM", claim), data)
        for line in shown:
            assert line in output, f"`{command}` does not show {line!r}:\n{output}"


def test_every_command_is_in_the_readme() -> None:
    # What needs a file of yours stands in a block that is not run.
    written = re.findall(r"^erstwhile (\w+)", "\n".join(blocks("sh", README)), re.MULTILINE)
    shown = {command.split()[1] for command, _ in commands(README)} | {*written, "serve"}
    commanded = {(info.name or getattr(info.callback, "__name__", "")) for info in app.registered_commands}
    assert shown == commanded | {str(group.name) for group in app.registered_groups}


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)]+)\)", README):
        file, _, heading = target.partition("#")
        assert (ROOT / file).exists(), target
        headings = re.findall(r"^#+ (.+)$", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE) if heading else []
        assert not heading or heading in {re.sub(r"[^\w -]", "", each).lower().replace(" ", "-") for each in headings}, target
