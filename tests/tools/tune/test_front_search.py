# SPDX-License-Identifier: MIT
"""Hot functions fast and cold ones small: a front of builds, each with its plan."""

import subprocess
from pathlib import Path

import pytest

from compiler_gym.builds import measure_sizes
from compiler_gym.tools.tune import Request, TuningJob, read_plan, write_report
from compiler_gym.tools.tune.llvm.fast import BY_HAND, FAIR_FAST
from compiler_gym.tools.tune.llvm.llvm_tuner import LlvmTuner
from tests.tools.tune.llvm.hot_and_cold import BUILD, make_project


def request(project: Path, **more: object) -> Request:
    wanted: dict[str, object] = {"goal": "both", "seconds": 25.0, "run": "./program 3000000"}
    return Request(BUILD, project, project.parent / "out", **(wanted | more))  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_front_is_handed_over_with_a_plan_and_a_script_each(tmp_path: Path) -> None:
    project = make_project(tmp_path / "project")
    asked = request(project, check="test $(./program 1000) = 1165105226 || test -x ./program")
    job = TuningJob(asked, LlvmTuner())
    (result,) = job.run()
    front = result.found.front
    assert BY_HAND in result.sizes
    assert front
    codes, speeds = [b.code for b in front], [b.speedup for b in front]
    assert codes == sorted(codes)
    assert speeds == sorted(speeds)
    assert codes[0] < measure_sizes(result.found.rivals[FAIR_FAST]).text
    assert result.found.path in [build.path for build in front]
    for build in front:
        (plan,) = read_plan(asked.output / f"front/{build.name}.toml").binaries
        again = LlvmTuner().build(result.binary, plan, tmp_path / f"again-{build.name}", jobs=1)
        handed = asked.output / "front" / build.name / "program"
        assert again.read_bytes() == handed.read_bytes()
    tree = asked.output / "work/tree"
    script = asked.output / f"front/{front[0].name}.sh"
    subprocess.run(["sh", script, tree, tmp_path / "r"], check=True)
    assert (tmp_path / "r/program").read_bytes() == front[0].path.read_bytes()
    summary = write_report(asked, [result], compiler="llvm", others=(), is_interrupted=False)
    assert [row.name for row in summary.binaries[0].front] == [build.name for build in front]
    assert sum(row.is_recommended for row in summary.binaries[0].front) == 1
    assert 'class="plot"' in (asked.output / "report.html").read_text()
