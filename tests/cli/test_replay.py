"""`fireloop replay`: recorded loops judged anew."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pytest_fireloop.cli.replay import main

DATA = Path(__file__).parents[1] / "data" / "traces" / "public.jsonl"
ROW_KEYS = ["iteration", "score", "window_score", "health", "level", "circuit", "refused", "stop"]


def loop(name: str = "idle", **more: Any) -> str:
    rows = [
        {"iteration": number, "at": number * 60, "outcomes": {"t::a": "failed"}, "tree": "x"} for number in range(5)
    ]
    return json.dumps({"name": name, "iterations": rows, **more}, ensure_ascii=False)


def ran(argv: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    try:
        code = main(argv)
    except SystemExit as left:
        code = int(left.code or 0)
    out, err = capsys.readouterr()
    return code, out, err


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "loops.jsonl"
    path.write_text(loop() + "\n\n" + loop("second") + "\n", encoding="utf-8")
    return path


def test_json_is_one_object_a_trace(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = ran([str(trace), "--json"], capsys)
    assert (code, err) == (0, "")
    first, second = map(json.loads, out.splitlines())
    assert list(first) == ["name", "stop", "iterations"]
    assert (first["name"], second["name"]) == ("idle", "second")
    assert first["stop"] == {"iteration": 3, "reason": "no_progress"}
    assert [list(row) for row in first["iterations"]] == [ROW_KEYS] * 4
    assert first["iterations"][2] == {
        "iteration": 3,
        "score": -5,
        "window_score": -15,
        "health": "STALLED",
        "level": "tripped",
        "circuit": "OPEN",
        "refused": False,
        "stop": "no_progress",
    }
    assert first["iterations"][3]["refused"] is True


def test_a_table_for_people_names_the_stop_and_its_evidence(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = ran([str(trace)], capsys)
    assert code == 0
    assert "idle: stops after iteration 3: no_progress" in out
    assert "    3     -5     -15  STALLED   tripped  OPEN      no_progress" in out
    assert "nothing meaningful changed and no test got better (iterations 1 to 3)" in out
    assert "refused" in out


@pytest.mark.parametrize(
    ("options", "stop"),
    [
        (["--profile", "aggressive"], 2),
        (["--profile", "strict"], 3),
        (["--set", "no_progress=4", "--set", "window=4"], 4),
        (["--set", "no_progress=9", "--set", "window=9"], None),
    ],
)
def test_other_thresholds(
    options: list[str], stop: int | None, trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, _ = ran([str(trace), "--json", *options], capsys)
    found = json.loads(out.splitlines()[0])["stop"]
    assert (found and found["iteration"]) == stop


def test_a_trace_brings_its_own_thresholds_until_a_profile_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "own.jsonl"
    path.write_text(loop(settings={"profile": "aggressive", "no_progress": 1, "max_iterations": 50}), encoding="utf-8")
    _, own, _ = ran([str(path), "--json"], capsys)
    _, asked, _ = ran([str(path), "--json", "--profile", "balanced"], capsys)
    assert json.loads(own)["stop"]["iteration"] == 1
    assert json.loads(asked)["stop"]["iteration"] == 3


def test_line_ends_inside_a_text_are_no_line_ends(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "odd.jsonl"
    path.write_text("\ufeff" + loop("a\u2028b\x85c"), encoding="utf-8")
    code, out, _ = ran([str(path), "--json"], capsys)
    assert code == 0
    assert json.loads(out)["name"] == "a\u2028b\x85c"


@pytest.mark.parametrize(
    ("content", "argv", "message"),
    [
        (None, [], "there is no file and no loop"),
        (b"", [], "holds no trace"),
        (b"{]", [], "line 1 is no trace"),
        (b"[1]\n", [], "line 1 is no trace"),
        (b"\xff\xfe\x00", [], "can't decode"),
        (loop().encode() + b'\n{"name": "x"}\n', [], "line 2 is no trace"),
        (b"[" * 100_000, [], "line 1 is no trace"),
        (loop().encode(), ["--profile", "kind"], "kind"),
        (loop().encode(), ["--set", "speed=3"], "unknown threshold 'speed'"),
        (loop().encode(), ["--set", "no_progress"], "write NAME=NUMBER"),
        (loop().encode(), ["--set", "no_progress=many"], "write NAME=NUMBER"),
        (loop().encode(), ["--set", "no_progress=nan"], "no_progress"),
        (loop().encode(), ["--set", "no_progress=-1"], "threshold no_progress is -1"),
        (loop().encode(), ["--fast"], "--fast"),
    ],
)
def test_what_cannot_be_replayed_is_one_line_and_4(
    content: bytes | None, argv: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "loops.jsonl"
    if content is not None:
        path.write_bytes(content)
    code, out, err = ran([str(path), "--json", *argv], capsys)
    assert (code, out) == (4, "")
    assert err.startswith("fireloop replay: ")
    assert err.count("\n") == 1
    assert message in err


def test_a_folder_is_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = ran([str(tmp_path)], capsys)
    assert (code, err.count("\n")) == (4, 1)


def test_the_module_runs_by_itself_on_all_labelled_loops() -> None:
    command = [sys.executable, "-m", "pytest_fireloop.cli.replay", "--json", str(DATA)]
    run = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2])
    names = [json.loads(line)["name"] for line in run.stdout.splitlines()]
    assert names == [json.loads(line)["name"] for line in DATA.read_text("utf-8").splitlines()]
