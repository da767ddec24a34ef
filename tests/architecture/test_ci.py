# SPDX-License-Identifier: MIT
"""Whatever step of continuous integration fails, all of it fails, and says so."""

import os
import subprocess
from pathlib import Path

import pytest

RUN = Path(__file__).parents[2] / ".ci" / "run"
FAKE = """#!/bin/sh
echo "$1" >>"$STEPS"
echo "output of $1"
[ "$1" != "$FAILS" ] || exit 3
"""
STEPS = (".venv/bin/.tested", "check", "native", "test-docs", "test")


def run(folder: Path, fails: str) -> tuple[int, str, list[str]]:
    """Run it with a make whose step `fails` does; return its status, output and steps."""
    make, steps = folder / "make", folder / "steps"
    make.write_text(FAKE)
    make.chmod(0o755)
    path = f"{folder}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "STEPS": str(steps), "FAILS": fails}
    done = subprocess.run([RUN], env=environment, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, steps.read_text().split()


def test_every_step_runs_and_the_tests_are_printed_last(tmp_path: Path) -> None:
    status, output, steps = run(tmp_path, "")
    assert status == 0
    assert set(steps) == {*STEPS}
    assert steps[0] == ".venv/bin/.tested"
    assert [step for step in steps if step != "check"][1:] == ["native", "test-docs", "test"]
    assert "output of check" in output
    assert output.splitlines()[-1] == "output of test"


@pytest.mark.parametrize("step", STEPS)
def test_a_step_that_fails_is_the_end(tmp_path: Path, step: str) -> None:
    status, output, steps = run(tmp_path, step)
    assert status in (2, 3)
    if step != "check":  # which may end before the tests begin, or beside them
        assert (step == "test") == ("test" in steps)
    assert step == "native" or f"output of {step}" in output
