# SPDX-License-Identifier: MIT
"""What is learnt from, and what is told where there is nothing to learn."""

from pathlib import Path

import pytest

from compiler_gym.errors import ProjectError
from compiler_gym.tools.tune import Request, TuningJob
from compiler_gym.tools.tune.llvm.fast import BY_HAND, FAIR_FAST
from compiler_gym.tools.tune.llvm.llvm_tuner import LlvmTuner
from tests.tools.tune.llvm.hot_and_cold import BUILD, make_project
from tests.tools.tune.llvm.test_profiling import SAMPLES


def request(project: Path, **more: object) -> Request:
    wanted: dict[str, object] = {"seconds": 5.0, "run": "./program 100000"}
    return Request(BUILD, project, project.parent / "out", **(wanted | more))  # type: ignore[arg-type]


def test_both_begins_with_a_profile(tmp_path: Path) -> None:
    project = make_project(tmp_path / "project")
    with pytest.raises(ProjectError, match=r"needs a profile.*wrote no profile"):
        TuningJob(request(project, goal="both", train="true"), LlvmTuner()).run()


def test_speed_goes_on_without_a_profile_and_says_so(tmp_path: Path) -> None:
    project = make_project(tmp_path / "project")
    asked = request(project, goal="speed", train="true", seconds=None, compilations=1)
    (result,) = TuningJob(asked, LlvmTuner()).run()
    assert any("wrote no profile" in note for note in result.found.notes)
    assert BY_HAND not in result.sizes
    assert list(result.sizes)[-2:] == [FAIR_FAST, "tuned"]


def test_a_profile_from_production_is_learnt_from_instead_of_a_run(tmp_path: Path) -> None:
    project = make_project(tmp_path / "project")
    samples = tmp_path / "samples.txt"
    samples.write_text(SAMPLES)
    asked = request(project, goal="speed", profile=str(samples))
    (result,) = TuningJob(asked, LlvmTuner()).run()
    assert any("covers 2 of 3 functions" in note for note in result.found.notes)
    assert BY_HAND in result.sizes
