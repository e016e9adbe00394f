"""What a person decides on the command line where a file leaves it open: the order of dates, the start of a meeting, bots."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from api.cli.importing import one_meeting, read_options
from api.cli.previewing import inputs
from api.cli.progress import summary, summary_lines
from api.cli.transcripts import drafts_of
from ontology.errors import InvalidInput
from ontology.instant import parse_instant
from tests.api.cli.running import erstwhile
from workers.bulk import Tally
from workers.readers import ReadOptions, ReadReport

CHAT = "04/05/2026, 09:01 - Maya: I moved to Lisbon.\n"
CUE = "00:00:01.000 --> 00:00:02.000\nAna: I moved to Lisbon.\n"
STATED = {"speaker": None, "saidAt": None, "timeZone": None, "group": None}


def written(path: Path, content: str) -> Path:
    path.write_text(content, encoding="utf-8")
    return path


def test_the_options_reach_the_readers() -> None:
    options = read_options(None, speaker=None, time_zone="Europe/Berlin", date_order="mdy", start="2026-05-20 15:00", bots=True)
    assert (options.date_order, options.include_bots) == ("mdy", True)
    assert options.start == parse_instant("2026-05-20T13:00:00Z")


def test_a_file_is_held_back_on_standard_error_until_the_option_decides(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path, option in ((written(tmp_path / "c.txt", CHAT), "--date-order"), (written(tmp_path / "m.srt", CUE), "--start")):
        assert not list(drafts_of(path, ReadOptions()))
        assert option in capsys.readouterr().err
    read = erstwhile("extract", tmp_path / "c.txt", "--date-order", "mdy")
    assert (json.loads(read.out)["object"], read.err) == ("Lisbon", "")


def test_a_preview_of_a_file_takes_them_too(tmp_path: Path) -> None:
    chat = written(tmp_path / "c.txt", CHAT)
    assert [input["saidAt"] for input in inputs(chat, "", STATED, None, date_order="dmy")] == ["2026-05-04T09:01:00Z"]
    meeting = written(tmp_path / "m.srt", CUE)
    assert [input["saidAt"] for input in inputs(meeting, "", STATED, None, start="2026-05-20")] == ["2026-05-20T00:00:01Z"]


def test_a_start_is_that_of_one_meeting(tmp_path: Path) -> None:
    files = [written(tmp_path / name, CUE) for name in ("a.srt", "b.srt")]
    for paths in (files, [tmp_path], [written(tmp_path / "all.zip", "")]):
        ran = erstwhile("ingest", *paths, "--start", "2026-05-20", "--data", tmp_path / "data")
        assert ran.status == 1
        assert ran.err.startswith("erstwhile: --start is when one meeting began")
    assert not (tmp_path / "data").exists()
    one_meeting(files, None)


@pytest.mark.parametrize("start", ["nonsense", "", "15:00", ".."])
def test_a_start_that_is_no_time_stops_before_anything_is_read(start: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_options(None, speaker=None, time_zone=None, start=start)
    assert caught.value.path[0] == "start"


def test_what_was_mended_is_told_with_the_rest() -> None:
    report = ReadReport()
    report.mended["user ID without a name"] += 2
    assert "mended 2: user ID without a name 2" in list(summary_lines(summary(Tally(), report)))
