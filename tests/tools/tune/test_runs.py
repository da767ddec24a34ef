# SPDX-License-Identifier: MIT
"""The user's own commands, with one binary or another in its place."""

import math
import subprocess
from pathlib import Path

import pytest

from compiler_gym.errors import ProjectError
from compiler_gym.tools.tune.runs import RunCommand, compare_in_turns, put, run_check

_LOOP = """
volatile unsigned long sum;
int main(void) {{ for (unsigned long i = 0; i < {count}; ++i) sum += i; return 0; }}
"""


def script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_a_run_uses_the_binary_in_its_place(tmp_path: Path) -> None:
    one, two = script(tmp_path / "1", "echo one"), script(tmp_path / "2", "echo two; exit 4")
    run = RunCommand("./program", tmp_path, tmp_path / "program")
    first, second = run.run(one), run.run(two)
    assert (first.status, second.status) == (0, 4)
    assert first.output != second.output
    assert run.run(one).output == first.output
    assert first.tail == "one"


def test_runs_alternate(tmp_path: Path) -> None:
    log = tmp_path / "log"
    binaries = [script(tmp_path / name, f"echo {name} >> {log}") for name in ("a", "b")]
    times = RunCommand("./p", tmp_path, tmp_path / "p").alternate(binaries, 3)
    assert log.read_text().split() == ["a", "b"] * 3
    assert [len(found) for found in times] == [3, 3]
    assert all(seconds >= 0 for found in times for seconds in found)


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    run = RunCommand("true", tmp_path, Path("/proc/there"))
    with pytest.raises(ProjectError, match="/proc/there"):
        run.run(script(tmp_path / "1", "true"))


def test_an_interrupt_of_the_terminal_does_not_reach_the_users_commands(tmp_path: Path) -> None:
    # The fifth word of a process's status is its group: that of the shell is its own.
    assert run_check('test "$(cut -d" " -f5 /proc/$$/stat)" = $$', tmp_path).status == 0


def test_the_last_lines_are_reported_and_where_all_of_them_are(tmp_path: Path) -> None:
    log = tmp_path / "check.log"
    outcome = run_check("seq 5000; echo; echo why >&2; exit 3", tmp_path, log=log)
    assert outcome.status == 3
    assert outcome.tail.endswith(f"why\nThe whole output is in {log}")
    assert "5000" in outcome.tail
    assert "\n1\n" not in outcome.tail
    lines = log.read_text().splitlines()
    assert lines[:2] == ["1", "2"]
    assert "why" in lines


def test_a_run_that_ends_with_another_status_is_never_fast(tmp_path: Path) -> None:
    binaries = [tmp_path / "three", tmp_path / "zero"]
    for path, status in zip(binaries, (3, 0), strict=True):
        path.write_text(f"#!/bin/sh\nexit {status}\n")
    run = RunCommand("./p", tmp_path, tmp_path / "p", expected=3)
    (three, zero) = run.alternate(binaries, 1)
    assert math.isfinite(three[0])
    assert zero == [math.inf]


def test_all_names_of_a_file_get_the_binary(tmp_path: Path) -> None:
    for name in ("tuned", "app-hash"):
        (tmp_path / name).write_text(name)
    (tmp_path / "app").hardlink_to(tmp_path / "app-hash")
    put(tmp_path / "tuned", tmp_path / "app")
    assert (tmp_path / "app-hash").read_text() == "tuned"


def program(folder: Path, count: int) -> Path:
    source, path = folder / f"{count}.c", folder / f"loop-{count}"
    source.write_text(_LOOP.format(count=count))
    subprocess.run(["cc", "-O1", source, "-o", path], check=True)
    return path


def test_the_faster_build_is_found(tmp_path: Path) -> None:
    slow, fast = (program(tmp_path, count) for count in (60000000, 10000000))
    run = RunCommand("./program", tmp_path, tmp_path / "program")
    result, seconds = compare_in_turns(run, slow, fast, 5)
    assert result.low > 1
    assert seconds > 0


def test_a_build_that_crashes_is_never_the_faster_one(tmp_path: Path) -> None:
    well, broken = program(tmp_path, 10000000), tmp_path / "broken"
    broken.write_text("#!/bin/sh\nexit 1\n")
    run = RunCommand("./program", tmp_path, tmp_path / "program")
    result, _ = compare_in_turns(run, well, broken, 5)
    assert (result.speedup, result.high) == (0.0, 0.0)
