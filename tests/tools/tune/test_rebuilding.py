# SPDX-License-Identifier: MIT
"""A command is printed only after it made the tuned file in a copy of the project."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from compiler_gym.tools.tune import Request, TuningJob, TuningWatcher
from tests.tools.tune.builds.projects import write_project
from tests.tools.tune.simple_tuner import SimpleTuner

DRIVER = """#!/bin/sh
# Stands for the compiler with a plan: what it links is the tuned program.
bin=$(dirname -- "$2")/bin
shift 2
for word; do [ "$word" = -c ] && exec cc "$@"; done
for word; do [ "$before" = -o ] && name=$word; before=$word; done
exec cp "$bin/$name" "$name"
"""
OBJECTS = "%.o: %.c\n\t$(CC) -c -o $@ $<\n"


@pytest.fixture
def request_(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Request:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("compiler-gym-cc", "compiler-gym-cxx"):
        (tools / name).write_text(DRIVER)
        (tools / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    project = write_project(tmp_path / "project")
    return Request(("make",), project, tmp_path / "an output", seconds=100.0)


def rebuild_of(request: Request) -> str:
    job = TuningJob(request, SimpleTuner("-O1"))
    job.run()
    assert not (request.output / "work" / "rebuild").exists()
    return job.rebuild


def makefile(request: Request, link: str, head: str = "") -> None:
    text = f"{head}program: main.o twice.o\n\t{link} -o $@ main.o twice.o\n{OBJECTS}"
    (request.project / "Makefile").write_text(text)


def test_make_is_given_our_compiler_and_a_plan_with_a_blank_in_its_place(
    request_: Request,
) -> None:
    plan = f"{request_.output}/tuned.toml"
    assert rebuild_of(request_) == f"""make 'CC=compiler-gym-cc --plan '"'"'{plan}'"'"''"""


def test_a_makefile_that_links_with_ld_gets_that_too(request_: Request) -> None:
    makefile(request_, "$(LD)", "LD = gcc\n")
    assert " 'LD=compiler-gym-cc --plan " in rebuild_of(request_)


@pytest.mark.parametrize("link", ["gcc", "cc"])
def test_a_build_that_links_with_another_compiler_gets_no_command(
    request_: Request, link: str
) -> None:
    makefile(request_, link)
    assert rebuild_of(request_) == ""


def test_sources_are_compiled_by_our_compiler_itself(request_: Request) -> None:
    build = ("cc", "main.c", "twice.c", "-o", "main")
    (request_.project / "Makefile").unlink()
    command = rebuild_of(replace(request_, build=build))
    assert command.startswith("compiler-gym-cc --plan '")
    assert command.endswith(" main.c twice.c -o main")


def test_a_script_that_names_its_compiler_gets_no_command(request_: Request) -> None:
    build = ("sh", "-c", "cc main.c twice.c -o program")
    assert rebuild_of(replace(request_, build=build)) == ""
    named = replace(request_, build=("sh", "-c", "$CC main.c twice.c -o program"))
    command = rebuild_of(replace(named, output=request_.output.with_name("out")))
    assert command.startswith("CC='compiler-gym-cc --plan ")
    # A shell would split the path that has a blank.
    assert rebuild_of(replace(named, output=request_.output.with_name("an out"))) == ""


def test_a_compiler_that_the_build_sets_itself_is_replaced(request_: Request) -> None:
    command = rebuild_of(replace(request_, build=("make", "-j2", "CC=gcc")))
    assert command.startswith("make -j2 'CC=compiler-gym-cc --plan ")
    assert "CC=gcc" not in command


def test_a_folder_that_cmake_configured_gets_no_command(request_: Request) -> None:
    (request_.project / "build").mkdir()
    (request_.project / "build" / "CMakeCache.txt").write_text("CMAKE_C_COMPILER:FILEPATH=gcc\n")
    assert rebuild_of(request_) == ""


def test_an_interrupted_tuning_tries_no_command(request_: Request) -> None:
    steps: list[str] = []

    class Noting(TuningWatcher):
        def says(self, text: str) -> None:
            steps.append(text)

    job = TuningJob(
        request_,
        SimpleTuner("-O1"),
        Noting(),
        is_interrupted=lambda: any("tuning program" in s for s in steps),
    )
    job.run()
    assert job.rebuild == ""
    assert "building the project with the plan" not in steps
