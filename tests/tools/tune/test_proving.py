# SPDX-License-Identifier: MIT
"""What breaks a program is found, down to the pass, and only that goes back to the default."""

import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from compiler_gym.errors import ProjectError
from compiler_gym.tools.tune import BinaryPlan, Request, TuningJob, TuningWatcher
from compiler_gym.tools.tune.proving import explain_difference
from tests.tools.tune.builds.projects import write_project
from tests.tools.tune.simple_tuner import SimpleTuner

WRONG = """
#ifndef ADDED
#define ADDED 0
#endif
int twice(int n) { return n * 2 + ADDED; }
"""
C = "int kept(void) { return 1; } int other(void) { return 2; }"
CXX = "template <class T> T twice(T n) { return n + n; } int kept(int n) { return twice(n); }"


@pytest.fixture
def request_(tmp_path: Path) -> Request:
    project = write_project(tmp_path / "project")
    (project / "twice.c").write_text(WRONG)
    return Request(("make",), project, tmp_path / "out", seconds=100.0, run="./program")


@pytest.mark.parametrize("place", [0, pytest.param(2, marks=pytest.mark.slow), 4])
def test_the_pass_that_breaks_a_program_is_taken_back_alone(request_: Request, place: int) -> None:
    passes = ["-Os", "-fno-ivopts", "-fno-gcse", "-fomit-frame-pointer"]
    tuner = SimpleTuner("-s", passes=" ".join([*passes[:place], "-DADDED=1", *passes[place:]]))
    (result,) = TuningJob(request_, tuner).run()
    assert result.taken_back == (f"pass {place + 1} of 5: -DADDED=1",)
    assert result.found.plan.passes.split() == passes
    assert result.found.plan.flags == ("-s",)


class Whole(SimpleTuner):
    """Cannot take passes apart."""

    def steps(self, plan: BinaryPlan) -> tuple[str, ...]:
        return ()

    def with_steps(self, plan: BinaryPlan, steps: Sequence[str]) -> BinaryPlan:
        raise AssertionError("there are no steps")


def test_passes_that_cannot_be_taken_apart_all_go(request_: Request) -> None:
    (result,) = TuningJob(request_, Whole("-s", passes="-DADDED=1 -Os")).run()
    assert (result.taken_back, result.found.plan.passes) == (("passes",), "")


def test_passes_that_break_it_together_all_go(request_: Request) -> None:
    tuner = SimpleTuner(passes="-DADDED=1 -O1 -DADDED=2")
    (result,) = TuningJob(request_, tuner).run()
    assert result.found.plan.passes == ""
    (name,) = result.taken_back
    assert name == "passes (pass 1 of 3: -DADDED=1 fails)"


def test_the_result_is_never_larger_than_the_rival(request_: Request) -> None:
    tuner = SimpleTuner("-DADDED=1", "-falign-functions=4096")
    (result,) = TuningJob(request_, tuner).run()
    assert result.taken_back == ("flag -DADDED=1",)
    assert result.found.path == result.found.rivals["cc"]
    assert result.found.plan.decisions() == ()


def test_a_library_that_the_build_does_not_need_is_refused(request_: Request) -> None:
    watcher = Sayings()
    tuner = SimpleTuner("-Wl,--no-as-needed,-lstdc++", "-O1")
    (result,) = TuningJob(replace(request_, run=None), tuner, watcher).run()
    assert result.taken_back == ("flag -Wl,--no-as-needed,-lstdc++",)
    assert (
        "refused a build of program, because it also needs the library libstdc++.so.6"
        in watcher.said
    )


def test_a_program_that_loses_symbols_without_any_decision_is_an_error(request_: Request) -> None:
    asked = replace(request_, build=("make", "LDFLAGS=-rdynamic"))
    with pytest.raises(ProjectError, match=r"even without tuning: it does not export main, twice"):
        TuningJob(asked, SimpleTuner("-O1")).run()


class Sayings(TuningWatcher):
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def says(self, text: str) -> None:
        self.said.append(text)


def build(folder: Path, name: str, *words: str, text: str = C) -> Path:
    source = folder / f"{name}.cpp"
    source.write_text(text)
    language = "c++" if text == CXX else "c"
    command = ["c++", "-fPIC", "-x", language, source, "-x", "none", *words, "-o", folder / name]
    subprocess.run(command, check=True)
    return folder / name


@pytest.fixture
def library(tmp_path: Path) -> Path:
    return build(tmp_path, "original", "-shared")


def test_equal_libraries_do_not_differ(library: Path, tmp_path: Path) -> None:
    again = build(tmp_path, "again", "-shared", "-Os", "-s", "-fuse-ld=bfd", "-Wl,--gc-sections")
    assert explain_difference(library, again, is_library=True) == ""


def test_a_lost_and_an_added_symbol_are_named(library: Path, tmp_path: Path) -> None:
    text = C.replace("other", "another")
    other = build(tmp_path, "other", "-shared", text=text)
    said = explain_difference(library, other, is_library=True)
    assert said == "does not export other; also exports another"
    assert explain_difference(library, other, is_library=False) == "does not export other"


def test_an_added_library_is_named(library: Path, tmp_path: Path) -> None:
    needed = ("-Wl,--no-as-needed", str(library), "-Wl,--as-needed")
    other = build(tmp_path, "more", "-shared", *needed)
    assert explain_difference(library, other, is_library=True) == (
        f"also needs the library {library}"
    )


def test_a_template_may_be_inlined(tmp_path: Path) -> None:
    plain, small = (build(tmp_path, level, "-shared", level, text=CXX) for level in ("-O0", "-O2"))
    assert explain_difference(plain, small, is_library=True) == ""
