# SPDX-License-Identifier: MIT
"""What each decision wins is measured on the result; functions are found by their sources."""

from dataclasses import replace
from pathlib import Path

import pytest

from compiler_gym.builds import measure_sizes
from compiler_gym.errors import ProjectError
from compiler_gym.tools.tune import Allowance, BinaryPlan, Found, FunctionSize, Goal, TuningSubject
from compiler_gym.tools.tune.builds import find_binaries, map_beside
from compiler_gym.tools.tune.explaining import explain_result, measure_gains, sizes_by_function
from tests.tools.tune.builds.projects import record, write_project
from tests.tools.tune.simple_tuner import SimpleTuner

HEAD = "             VMA              LMA     Size Align Out     In      Symbol\n"
SECTION = "            1000             1000       40    16 .text\n"


def line(size: int, indent: int, text: str) -> str:
    return f"            1000             1000 {size:8x}     1 {' ' * indent}{text}\n"


@pytest.fixture
def subject(tmp_path: Path) -> TuningSubject:
    tree = write_project(tmp_path / "tree")
    recording = record(tree, tmp_path / "record", "make")
    (binary,) = find_binaries(recording.events(), tree)
    folder = tmp_path / "work"
    return TuningSubject(binary, folder, Goal.SIZE, Allowance(seconds=60), 2, 0)


def test_a_gain_is_what_the_file_grows_by_without_one_decision(subject: TuningSubject) -> None:
    tuner = SimpleTuner("-Os", "-DNOTHING")
    found = tuner.tune(subject)
    gains = measure_gains(found, tuner, subject)
    without = tuner.build(
        subject.binary, found.plan.only(("flag -DNOTHING",)), subject.folder, jobs=1
    )
    assert gains == {
        "flag -Os": measure_sizes(without).loaded - measure_sizes(found.path).loaded,
        "flag -DNOTHING": 0,
    }
    assert gains["flag -Os"] != 0


def test_linker_options_are_measured_first(subject: TuningSubject) -> None:
    builds: list[tuple[str, ...]] = []

    class Watched(SimpleTuner):
        def build(self, binary, plan, folder, *, jobs):  # type: ignore[no-untyped-def]
            builds.append(plan.linker)
            return super().build(binary, plan, folder, jobs=jobs)

    found = SimpleTuner("-Os").tune(subject)
    found = replace(found, plan=replace(found.plan, linker=("-Wl,-O1",)))
    assert measure_gains(found, Watched(), replace(subject, jobs=1)).keys() == {
        "flag -Os", "linker -Wl,-O1",
    }  # fmt: skip
    assert builds[0] == ()


class _Broken(SimpleTuner):
    def build(self, binary, plan, folder, *, jobs):  # type: ignore[no-untyped-def]
        if "-DNEEDED" not in plan.flags:
            raise ProjectError("does not build")
        return super().build(binary, plan, folder, jobs=jobs)


def test_a_decision_that_does_not_build_alone_has_no_gain(subject: TuningSubject) -> None:
    found = SimpleTuner("-Os", "-DNEEDED").tune(subject)
    assert list(measure_gains(found, _Broken(), subject)) == ["flag -Os"]


def test_nothing_is_measured_for_another_goal_or_after_a_stop(subject: TuningSubject) -> None:
    tuner = SimpleTuner("-Os")
    found = tuner.tune(subject)
    assert explain_result(found, tuner, subject).gains
    assert not explain_result(found, tuner, replace(subject, goal=Goal.SPEED)).gains
    stopped = replace(subject, allowance=Allowance(seconds=60, is_stopped=lambda: True))
    assert not explain_result(found, tuner, stopped).gains


def test_functions_are_found_by_source_also_as_copies(tmp_path: Path) -> None:
    paths = {name: tmp_path / name / "p" for name in ("plain", "fair", "tuned")}
    for path in paths.values():
        path.parent.mkdir()
    map_beside(paths["plain"]).write_text(
        HEAD + SECTION + line(48, 8, "a.o:(.text)") + line(32, 16, "big") + line(16, 16, "twin")
        + line(16, 8, "b.o:(.text)") + line(16, 16, "twin")
    )  # fmt: skip
    map_beside(paths["fair"]).write_text(
        HEAD + SECTION + line(40, 8, "x.lto.o:(.text)") + line(30, 16, "big")
        + line(8, 16, "big.llvm.123") + line(2, 16, "twin") + line(0, 16, "label")
        + line(99, 0, ".data") + line(99, 8, "x.lto.o:(.data)") + line(99, 16, "table")
    )  # fmt: skip
    map_beside(paths["tuned"]).write_text(
        HEAD
        + SECTION
        + line(22, 8, "p.o:(.text)")
        + line(20, 16, "big")
        + line(2, 16, "outlined.1")
    )
    found = Found(
        BinaryPlan("p", "program"), paths["tuned"],
        {"plain": paths["plain"], "fair": paths["fair"]}, 0, 1,
        objects={"a.c": Path("a.o"), "b.c": Path("b.o")},
    )  # fmt: skip
    assert sizes_by_function(found) == (
        FunctionSize("big", "a.c", 38, 20),
        FunctionSize("outlined", "", 0, 2),
        FunctionSize("twin", "", 2, 0),
    )


def test_without_maps_no_function_is_shown(subject: TuningSubject) -> None:
    assert sizes_by_function(SimpleTuner("-Os").tune(subject)) == ()
