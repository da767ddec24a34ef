# SPDX-License-Identifier: MIT
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from compiler_gym.envs.llvm.demonstration.comparison import (
    Comparison,
)

from .conftest import SOURCE, Run

needs_opt = pytest.mark.skipif(shutil.which("opt-22") is None, reason="needs opt-22")


@needs_opt
def test_the_demo_beats_oz_and_opt_confirms_it(cli: Run, tmp_path: Path) -> None:
    ran = cli("demo", "cbench-v1/crc32", "cbench-v1/sha", "--time", "3", "--output", "out")
    assert ran.status == 0, ran.errors
    for text in ("crc32", "sha", "-O0", "-O3", "-Oz", "Found", "On average", "opt-22 ", "✓"):
        assert text in ran.output
    document = json.loads((tmp_path / "out" / "results.json").read_text())
    assert document["geometric_means"]["COz/C"] >= 1
    for program in document["programs"]:
        counts = program["instructions"]
        assert counts["found"] <= counts["Oz"] < counts["O0"]
        assert program["counted_by_opt"] == counts["found"]
        assert program["is_reproduced"]
        assert program["command"] in (tmp_path / "out" / "reproduce.sh").read_text()
    picture = (tmp_path / "out" / "results.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    subprocess.run([tmp_path / "out" / "reproduce.sh"], check=True, capture_output=True)


def test_without_opt_the_check_is_left_out_and_said(cli: Run, tmp_path: Path) -> None:
    ran = cli("demo", "cbench-v1/crc32", "--time", "2", "--output", "out", PATH=str(tmp_path))
    assert ran.status == 0, ran.errors
    assert "Not checked" in ran.output
    document = json.loads((tmp_path / "out" / "results.json").read_text())
    assert document["programs"][0]["is_reproduced"] is None


def test_any_program_will_do_and_json_comes_alone(cli: Run, tmp_path: Path) -> None:
    ran = cli("demo", "-", "--time", "1", "--output", "out", "--json", stdin=SOURCE.encode())
    (program,) = ran.json["programs"]
    assert program["program"] == "stdin"
    assert program["instructions"]["found"] <= program["instructions"]["best level as an action"]


def test_a_folder_that_cannot_be_made_is_refused(cli: Run) -> None:
    ran = cli("demo", "cbench-v1/crc32", "--output", "/proc/demo")
    assert ran.status == 2
    assert "error: cannot create /proc/demo" in ran.errors


def compared(oz: int, found: int, *, o0: int = 200) -> Comparison:
    return Comparison("p", "benchmark://p/p", o0, o0, 150, oz, oz, found, ["-Oz"], "opt")


def test_another_count_by_opt_is_a_failed_check() -> None:
    row = compared(100, 80)
    assert row.is_reproduced is None
    row.counted = 81
    assert row.is_reproduced is False
    row.counted = 80
    assert row.is_reproduced is True
