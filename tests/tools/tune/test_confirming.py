# SPDX-License-Identifier: MIT
"""A run that nothing was chosen by judges the result, and is told first where it loses."""

from pathlib import Path
from typing import cast

import pytest

from compiler_gym.tools.tune import Allowance, BinaryPlan, Found, Goal, RunCommand, TuningSubject
from compiler_gym.tools.tune.builds import Binary
from compiler_gym.tools.tune.confirming import confirm_result
from tests.tools.tune.test_runs import program


def subject(folder: Path, confirm: str | None) -> TuningSubject:
    run = None if confirm is None else RunCommand(confirm, folder, folder / "program")
    binary = cast("Binary", None)  # nothing is built
    allowance = Allowance(seconds=5.0).begin()
    return TuningSubject(binary, folder, Goal.SPEED, allowance, 1, 0, confirm=run)


def found(fair: Path, tuned: Path) -> Found:
    speed = {"speedup": 1.5, "low": 1.4, "high": 1.6}
    plan = BinaryPlan("a", "b")
    return Found(plan, tuned, {"fair": fair}, 0, 1, speed=speed, notes=("another note",))


@pytest.mark.parametrize(("is_slower", "place"), [(True, 0), (False, -1)])
def test_a_result_that_loses_says_so_first(tmp_path: Path, *, is_slower: bool, place: int) -> None:
    slow, fast = program(tmp_path, 60000000), program(tmp_path, 10000000)
    pair = (fast, slow) if is_slower else (slow, fast)
    judged = confirm_result(found(*pair), subject(tmp_path, "./program"))
    assert "held-out run ./program" in judged.notes[place]
    assert judged.notes[0].startswith("slower in the") == is_slower
    assert (judged.speed["confirm_high"] < 1) == is_slower
    assert judged.speed["speedup"] == 1.5


def test_without_such_a_run_nothing_is_reported(tmp_path: Path) -> None:
    made = found(tmp_path / "a", tmp_path / "b")
    assert confirm_result(made, subject(tmp_path, None)) == made
