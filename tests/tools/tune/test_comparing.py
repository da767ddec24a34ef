# SPDX-License-Identifier: MIT
"""Builds are compared by running them in turns."""

import subprocess
from pathlib import Path

from compiler_gym.tools.tune.comparing import compare_in_turns
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
