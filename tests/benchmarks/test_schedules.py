# SPDX-License-Identifier: MIT
"""The page's tables are those of the committed figures, and what is kept is not measured again."""

import json
from pathlib import Path

import pytest

from benchmarks import schedules
from compiler_gym_mlir.programs.shapes import LAYERS


def test_the_page_holds_what_is_kept() -> None:
    data = json.loads(schedules.FILE.read_text(encoding="utf-8"))
    page = schedules.PAGE.read_text(encoding="utf-8")
    for table in schedules.tables(data).values():
        assert table in page


def test_the_programs_are_those_of_the_evaluation() -> None:
    data = json.loads(schedules.FILE.read_text(encoding="utf-8"))
    assert set(data["shapes"]) <= set(LAYERS["mlir-rl"])
    assert set(data["search"]) == set(schedules._agent().TEST)  # pyright: ignore[reportPrivateUsage]  # tested on its own
    assert set(schedules.HALIDE) < set(LAYERS["mlir-rl"])
    agent = schedules._agent()  # pyright: ignore[reportPrivateUsage]  # tested on its own
    assert set(agent.TEST) < set(LAYERS["mlir-rl"])
    assert not set(agent.TEST.values()) & set(agent.TRAIN)


def test_stored_results_are_not_measured_again(tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    assert schedules.Kept(path, 60.0).get("a", "b", lambda: 3) == 3
    again = schedules.Kept(path, 0.0)
    assert again.get("a", "b", lambda: 4) == 3
    with pytest.raises(schedules.TimeIsUpError):
        again.get("a", "c", lambda: 5)


def test_a_run_that_failed_has_no_time() -> None:
    found = schedules.in_turns({"good": lambda: 2.0, "bad": lambda: 0.0})
    assert found == {"good": 2.0, "bad": 0.0}
    assert schedules._times(8.0, 2.0) == "4.0"  # pyright: ignore[reportPrivateUsage]  # tested on its own
    assert schedules._times(8.0, 0.0) == "-"  # pyright: ignore[reportPrivateUsage]  # tested on its own


def test_the_fastest_of_xtcs_trials_is_read(tmp_path: Path) -> None:
    table = tmp_path / "trials.csv"
    table.write_text("x0,X,time,peak,backend\n4,[4],0.0003,0.2,mlir\n8,[8],0.0001,0.6,mlir\n")
    assert schedules._fastest(table) == 100.0  # pyright: ignore[reportPrivateUsage]  # tested on its own
    assert schedules._fastest(tmp_path / "none.csv") == 0.0  # pyright: ignore[reportPrivateUsage]  # tested on its own
