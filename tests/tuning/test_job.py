# SPDX-License-Identifier: MIT
"""A tuning from the build to what is handed over, with a compiler's part of a few lines."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from compiler_gym.errors import CacheError, ProjectError
from compiler_gym.runs import FolderLock
from compiler_gym.tuning import Found, Job, Request, Subject, read_plan
from compiler_gym.tuning.measuring import put
from tests.builds.projects import write_project
from tests.tuning.simple_tuner import SimpleTuner

WRONG = """
#include <stdio.h>
#ifndef ADDED
#define ADDED 0
#endif
int twice(int n) { return n * 2 + ADDED; }
"""


@pytest.fixture
def request_(tmp_path: Path) -> Request:
    project = write_project(tmp_path / "project")
    (project / "twice.c").write_text(WRONG)
    return Request(("make",), project, tmp_path / "out", seconds=1.0)


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_what_is_handed_over_can_be_made_again(request_: Request) -> None:
    before = everything(request_.project)
    (result,) = Job(request_, SimpleTuner("-O1")).run()
    out = request_.output
    assert everything(request_.project) == before
    assert (out / "bin" / "program").read_bytes() == result.found.path.read_bytes()
    plan = read_plan(out / "tuned.toml")
    assert plan.binaries[0].flags == ("-O1",)
    assert set(plan.binaries[0].sizes) == {"cc", "tuned"}
    made = ["sh", out / "reproduce.sh", out / "work" / "tree", out / "again"]
    subprocess.run(made, check=True)
    assert (out / "again" / "program").read_bytes() == (out / "bin" / "program").read_bytes()


@pytest.mark.parametrize("way", ["check", "run"])
def test_the_decision_that_breaks_a_program_is_taken_back(request_: Request, way: str) -> None:
    command = {"check": 'test "$(./program)" = 2', "run": "./program"}[way]
    tuner = SimpleTuner("-O1", "-DADDED=1", "-fno-inline")
    (result,) = Job(replace(request_, **{way: command}), tuner).run()
    assert result.taken_back == ("flag -DADDED=1",)
    assert result.found.plan.flags == ("-O1", "-fno-inline")
    answer = subprocess.run([request_.output / "bin" / "program"], capture_output=True, check=True)
    assert answer.stdout == b"2\n"


def test_several_decisions_that_break_it_are_all_taken_back(request_: Request) -> None:
    tuner = SimpleTuner("-DADDED=1", "-O1", "-DADDED=2")
    (result,) = Job(replace(request_, run="./program"), tuner).run()
    assert result.found.plan.flags in ((), ("-O1",))


def test_tests_that_fail_before_are_the_projects_own(request_: Request) -> None:
    with pytest.raises(ProjectError, match=r"(?s)fail before anything was tuned.*oh no"):
        Job(replace(request_, check="echo oh no; false"), SimpleTuner()).run()
    again = replace(request_, output=request_.output.with_name("other"), run="exit 3")
    with pytest.raises(ProjectError, match="status 3 before anything"):
        Job(again, SimpleTuner()).run()


def test_a_run_that_never_prints_the_same_is_judged_by_its_status(request_: Request) -> None:
    request = replace(request_, run="./program; date +%N")
    (result,) = Job(request, SimpleTuner("-O1")).run()
    assert result.taken_back == ()

    assert any("prints something else each time" in note for note in result.found.notes)


def test_what_cmake_tries_a_compiler_with_is_not_listed(request_: Request) -> None:
    text = "make && mkdir -p b/CMakeFiles/3 && $CC -O0 main.c twice.c -o b/CMakeFiles/3/a.out"
    job = Job(replace(request_, build=("sh", "-ec", text), binaries=("program",)), SimpleTuner())
    job.run()
    assert job.others == []


def test_a_tuning_goes_on_where_it_was(request_: Request) -> None:
    Job(request_, SimpleTuner("-O1")).run()
    journal = request_.output / "work" / "record" / "commands.jsonl"
    before = journal.stat().st_mtime_ns
    with pytest.raises(ProjectError, match="--resume"):
        Job(request_, SimpleTuner("-O1")).run()
    Job(replace(request_, resume=True), SimpleTuner("-O1")).run()
    assert journal.stat().st_mtime_ns == before
    with pytest.raises(ProjectError, match="another build"):
        Job(replace(request_, resume=True, seed=7), SimpleTuner("-O1")).run()


class _Killed(SimpleTuner):
    """Is ended while another binary lies in the place of the project's own."""

    def tune(self, subject: Subject) -> Found:
        put(Path("/bin/true"), subject.binary.path)
        raise KeyboardInterrupt


def test_a_tuning_that_was_ended_in_mid_run_goes_on(request_: Request) -> None:
    with pytest.raises(KeyboardInterrupt):
        Job(request_, _Killed()).run()
    (result,) = Job(replace(request_, resume=True, run="./program"), SimpleTuner("-O1")).run()
    assert result.found.plan.flags == ("-O1",)


def test_after_a_build_that_fails_the_same_folder_is_good_enough(request_: Request) -> None:
    with pytest.raises(ProjectError, match="status 7"):
        Job(replace(request_, build=("sh", "-c", "exit 7")), SimpleTuner()).run()
    (result,) = Job(request_, SimpleTuner("-O1")).run()
    assert result.found.plan.flags == ("-O1",)


def test_folders_that_do_not_fit_are_refused(request_: Request, tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match="nothing to resume"):
        Job(replace(request_, resume=True), SimpleTuner()).run()
    with pytest.raises(ProjectError, match="holds other files"):
        Job(replace(request_, output=request_.project), SimpleTuner()).run()
    with pytest.raises(ProjectError, match="found none"):
        Job(replace(request_, project=tmp_path / "missing"), SimpleTuner()).run()


def test_two_at_a_time_are_refused(request_: Request) -> None:
    Job(request_, SimpleTuner()).run()
    lock = FolderLock.take(request_.output)
    with pytest.raises(CacheError, match="is written by"):
        Job(replace(request_, resume=True), SimpleTuner()).run()
    lock.release()


def test_binaries_are_chosen_by_name_or_size(request_: Request) -> None:
    text = "make && $CC -O0 main.c twice.c -o other && $CC -shared -fPIC twice.c -o lib.so"
    request = replace(request_, build=("sh", "-ec", text))
    job = Job(request, SimpleTuner())
    (result,) = job.run()
    assert sorted([result.binary.name, *job.others]) == ["lib.so", "other", "program"]
    named = replace(request, resume=True, binaries=("other", "program"))
    assert [r.binary.name for r in Job(named, SimpleTuner()).run()] == ["other", "program"]
    with pytest.raises(ProjectError, match=r"does not link 'absent'.*expected one of"):
        Job(replace(named, binaries=("absent",)), SimpleTuner()).run()


def test_a_build_that_makes_nothing_says_what_to_do(request_: Request) -> None:
    with pytest.raises(ProjectError, match="built already, clean it"):
        Job(replace(request_, build=("true",)), SimpleTuner()).run()
