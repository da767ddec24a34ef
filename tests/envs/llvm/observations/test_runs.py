# SPDX-License-Identifier: MIT
"""Rows of what is run: their space holds what a run gives, and what stands for a failed one."""

from typing import Any

import pytest

from compiler_gym.core.specs import space_from_spec, value_from_plain
from compiler_gym.envs.llvm.observations.compute import ENGINE
from compiler_gym.envs.llvm.observations.runs import RUNS

MEASURED: dict[str, Any] = {
    "IsBuildable": True,
    "IsRunnable": True,
    "Buildtime": [0.25],
    "Runtime": [0.5, 0.25],
    "RuntimeComparison": {
        "speedup": 2.0, "low": 1.5, "high": float("inf"), "baseline": [0.5], "candidate": [0.25],
    },
}  # fmt: skip


def test_every_row_is_computed_by_the_executable() -> None:
    assert {row.name for row in RUNS} == set(MEASURED)
    assert all(row.compute.startswith("executable.") and row.compute in ENGINE for row in RUNS)


@pytest.mark.parametrize("row", RUNS, ids=lambda row: row.name)
def test_a_space_holds_what_a_run_gives_and_its_default(row: Any) -> None:
    space, decode = space_from_spec(row.space, row.name), value_from_plain(row.space)
    assert decode(MEASURED[row.name]) in space
    assert decode(row.default) in space
    assert "no value" not in space


def test_times_are_never_negative_and_never_the_same_everywhere() -> None:
    rows = {row.name: row for row in RUNS}
    for name in ("Buildtime", "Runtime"):
        space = space_from_spec(rows[name].space, name)  # type: ignore[arg-type]  # each has one
        assert [-1.0] not in space
        assert not rows[name].deterministic
    assert all(row.platform_dependent for row in RUNS)
