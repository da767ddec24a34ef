# SPDX-License-Identifier: MIT
"""GCC tunes for speed by runs: a profile is handed over, and makes the same bytes again."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from compiler_gym.errors import PlanError
from compiler_gym.tools.tune import BinaryPlan, Request, RunCommand, TuningJob, read_plan
from compiler_gym.tools.tune.gcc.fast import BY_HAND, FAIR_FAST, GccFastDecisions, require_fast
from compiler_gym.tools.tune.gcc.gcc_tuner import GccTuner
from tests.tools.tune.gcc.projects import GCC, maker, needed
from tests.tools.tune.llvm.hot_and_cold import BUILD, make_project


def request(folder: Path, **more: object) -> Request:
    needed()
    project = make_project(folder / "project")
    wanted: dict[str, object] = {"seconds": 5.0, "run": "./program 100000", "goal": "speed"}
    return Request(BUILD, project, folder / "out", **(wanted | more))  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_project_is_tuned_for_speed_and_a_lost_profile_is_told(tmp_path: Path) -> None:
    asked = request(tmp_path, seconds=None, compilations=1)
    (result,) = TuningJob(asked, GccTuner(GCC)).run()
    assert list(result.sizes)[-3:] == [BY_HAND, FAIR_FAST, "tuned"]
    assert {"hot", "main"} & {row.name for row in result.found.functions}
    plan = replace(result.found.plan, profile=str(tmp_path / "out/work/none.tar"))
    with pytest.raises(PlanError, match="is missing"):
        GccTuner(GCC).build(result.binary, plan, tmp_path / "b", jobs=1)


@pytest.mark.slow
def test_a_front_is_handed_over_with_a_plan_and_a_script_each(tmp_path: Path) -> None:
    asked = request(tmp_path, seconds=30.0, goal="both", run="./program 3000000")
    (result,) = TuningJob(asked, GccTuner(GCC)).run()
    assert result.found.front
    for build in result.found.front:
        (plan,) = read_plan(asked.output / f"front/{build.name}.toml").binaries
        again = GccTuner(GCC).build(result.binary, plan, tmp_path / f"again-{build.name}", jobs=1)
        handed = asked.output / "front" / build.name / "program"
        assert again.read_bytes() == handed.read_bytes()
        script = asked.output / f"front/{build.name}.sh"
        out = tmp_path / f"r-{build.name}"
        subprocess.run(["sh", script, asked.output / "work/tree", out], check=True)
        assert (out / "program").read_bytes() == handed.read_bytes()


def test_a_run_that_leaves_no_counts_is_told(tmp_path: Path) -> None:
    decisions, notes = GccFastDecisions(maker(tmp_path)), list[str]()
    binary = decisions.maker.binary
    for text, said in {"true": "wrote no profile", "exit 3": "exited with status 3"}.items():
        run = RunCommand(text, binary.path.parent, binary.path)
        assert decisions.train_profile(run, notes) is None
        assert said in notes[-1]


def test_a_profile_makes_the_same_bytes_from_another_folder(tmp_path: Path) -> None:
    made, other = maker(tmp_path / "one"), maker(tmp_path / "two")
    decisions = GccFastDecisions(made)
    run = RunCommand(f"./{made.binary.name} a", made.binary.root, made.binary.path)
    profile = decisions.train_profile(run, [])
    assert str(profile) in decisions.profiles
    plan = replace(decisions.plain(), profile=str(profile))
    decisions.require_possible(plan)
    expected = decisions.build(plan, jobs=1).read_bytes()
    assert GccFastDecisions(other).build(plan, jobs=2).read_bytes() == expected
    assert decisions.build(decisions.plain(), jobs=1).read_bytes() != expected


def test_what_the_project_decides_is_left_alone(tmp_path: Path) -> None:
    free = GccFastDecisions(maker(tmp_path))
    bound = replace(free, decided={"-fipa-pta"})
    words = [word for choice in bound.choices for word in choice.flags]
    assert "-fipa-pta" not in words
    assert len(bound.choices) == len(free.choices) - 1


def test_a_plan_holds_choices_and_nothing_else() -> None:
    with pytest.raises(PlanError, match="fplugin"):
        require_fast(BinaryPlan("p", "gcc fast", flags=("-fplugin=x.so",)))
    with pytest.raises(PlanError, match="bolt"):
        require_fast(BinaryPlan("p", "gcc fast", after=("bolt",)))
