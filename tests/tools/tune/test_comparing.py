# SPDX-License-Identifier: MIT
"""Builds are compared by running them in turns, and by counting what they execute."""

import shutil
import subprocess
from pathlib import Path

import pytest

from compiler_gym.tools.tune.comparing import compare_in_turns, instructions, race
from compiler_gym.tools.tune.measuring import RunCommand

_LOOP = """
volatile unsigned long sum;
int main(void) {{ for (unsigned long i = 0; i < {count}; ++i) sum += i; return 0; }}
"""


def program(folder: Path, count: int) -> Path:
    source, path = folder / f"{count}.c", folder / f"loop-{count}"
    source.write_text(_LOOP.format(count=count))
    subprocess.run(["cc", "-O1", source, "-o", path], check=True)
    return path


def test_the_faster_build_is_found_and_the_others_are_left_behind(tmp_path: Path) -> None:
    slow, middle, fast = (program(tmp_path, count) for count in (60000000, 30000000, 10000000))
    run = RunCommand("./program", tmp_path, tmp_path / "program")
    found = race(run, middle, {"slow": slow, "fast": fast}, rounds=(2, 4))
    assert list(found) == ["fast", "slow"]
    assert found["fast"].low > 1
    assert found["slow"].speedup < 1
    again, seconds = compare_in_turns(run, slow, fast, 5)
    assert again.low > 1
    assert seconds > 0


def test_a_build_that_crashes_is_never_the_faster_one(tmp_path: Path) -> None:
    well, broken = program(tmp_path, 10000000), tmp_path / "broken"
    broken.write_text("#!/bin/sh\nexit 1\n")
    run = RunCommand("./program", tmp_path, tmp_path / "program")
    found = race(run, well, {"broken": broken}, rounds=(5, 0))["broken"]
    assert (found.speedup, found.high) == (0.0, 0.0)


def test_a_race_that_is_over_claims_nothing(tmp_path: Path) -> None:
    path = program(tmp_path, 10)
    run = RunCommand("./program", tmp_path, tmp_path / "program")
    found = race(run, path, {"same": path}, is_over=lambda: True)
    assert not found["same"].is_significant


@pytest.mark.skipif(not (shutil.which("perf") or shutil.which("valgrind")), reason="no counter")
def test_instructions_of_all_processes_of_a_run_are_counted(tmp_path: Path) -> None:
    run = RunCommand("./program && ./program", tmp_path, tmp_path / "program")
    once = RunCommand("./program", tmp_path, tmp_path / "program")
    path = program(tmp_path, 1000000)
    twice, single = instructions(run, path, 0.1), instructions(once, path, 0.1)
    if twice is None or single is None:
        pytest.skip("nothing counts here")
    assert twice == pytest.approx(2 * single, rel=0.05)
    assert single > 3000000


def test_what_would_take_too_long_to_count_or_fails_is_not_counted(tmp_path: Path) -> None:
    path = program(tmp_path, 10)
    assert instructions(RunCommand("./program", tmp_path, tmp_path / "program"), path, 60) is None
    assert instructions(RunCommand("exit 3", tmp_path, tmp_path / "program"), path, 0.1) is None
