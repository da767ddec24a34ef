# SPDX-License-Identifier: MIT
"""A wrong program is found by running it, and a program that is not run is not called right."""

from collections.abc import Callable

import pytest

from compiler_gym.datasets import Benchmark, ExpectedOutput, RunCase, RunSpec
from compiler_gym.errors import ValidationUnavailableError
from compiler_gym.wrappers import TimeLimit
from compiler_gym_gcc import GccEnv, make_benchmark_from_source
from compiler_gym_gcc.validation.runs import compare_object

from ..conftest import needed

Make = Callable[..., GccEnv]
SOURCE = """
#include <stdio.h>
enum e { A, B };
int main(void) { printf("%d\\n", (int)sizeof(enum e)); return 0; }
"""
PLANTED = "-fshort-enums"
"""The option with which the program prints another number."""


def program(spec: RunSpec | None) -> Benchmark:
    return make_benchmark_from_source(SOURCE, run=spec)


@pytest.mark.parametrize(
    "spec",
    [
        RunSpec((RunCase(),)),
        RunSpec.single(expected=ExpectedOutput.of(stdout=b"4\n")),
    ],
    ids=["against the reference", "against what is recorded"],
)
def test_a_benchmark_sees_a_wrong_program(make_env: Make, spec: RunSpec) -> None:
    env = make_env(benchmark=program(spec))
    env.reset()
    assert env.benchmark is not None
    assert env.benchmark.validate(env) == []
    env.step(env.action_space["-O2"])
    assert env.benchmark.validate(env) == []
    env.step(env.action_space[PLANTED])
    (error,) = env.benchmark.validate(env)
    assert error.data["output"] == "line 1: expected '4', got '1'"
    assert [str(found) for found in env.benchmark.ivalidate(env)] == [str(error)]


def test_a_wrapped_environment_runs_the_program_too(make_env: Make) -> None:
    inner = make_env(benchmark=program(RunSpec((RunCase(),))))
    env = TimeLimit(inner, max_episode_steps=5)
    env.reset()
    env.step(inner.action_space[PLANTED])
    assert inner.benchmark is not None
    assert len(inner.benchmark.validate(env)) == 1


def test_a_bundled_program_is_run_on_its_cases(make_env: Make) -> None:
    env = make_env(benchmark="cbench-v1/crc32")
    env.reset()
    env.step(env.action_space["-O3"])
    assert env.benchmark is not None
    assert env.benchmark.validate(env) == []


def test_a_wrong_reference_is_what_a_program_is_compared_with(make_env: Make) -> None:
    other = make_benchmark_from_source(SOURCE.replace('"%d', '"x%d'))
    env = make_env(benchmark=program(RunSpec((RunCase(),), reference=other.contents)))
    env.reset()
    assert [error.type for error in env.behaviour_errors()] == ["the program behaves differently"]


def test_a_program_that_does_not_link_is_not_called_right(make_env: Make) -> None:
    source = "int missing(void);\nint main(void) { return missing(); }\n"
    wanted = make_benchmark_from_source(SOURCE)
    spec = RunSpec((RunCase(),), reference=wanted.contents)
    env = make_env(benchmark=make_benchmark_from_source(source, run=spec))
    env.reset()
    (error,) = env.behaviour_errors()
    assert error.type == "the program does not link"
    assert "missing" in str(error.data["error"])


@pytest.mark.parametrize("spec", [None, RunSpec(())], ids=["no run", "no case"])
def test_a_program_without_a_case_is_not_called_right(make_env: Make, spec: RunSpec | None) -> None:
    env = make_env(benchmark=program(spec))
    env.reset()
    with pytest.raises(ValidationUnavailableError, match="does not describe how to run"):
        env.behaviour_errors()
    assert not env.validate().benchmark_semantics_validated


def test_a_program_of_another_machine_is_not_called_right(make_env: Make) -> None:
    spec = RunSpec((RunCase(),))
    benchmark = make_benchmark_from_source("int main(void) { return 0; }\n", run=spec)
    env = make_env(gcc_bin=needed("avr-gcc"), benchmark=benchmark)
    env.reset()
    with pytest.raises(ValidationUnavailableError, match="compiles for another machine"):
        benchmark.validate(env)


def test_a_program_of_an_image_is_not_called_right() -> None:
    benchmark = program(RunSpec((RunCase(),)))
    with pytest.raises(ValidationUnavailableError, match="not run outside of its image"):
        compare_object("docker:gcc:12", benchmark, lambda: pytest.fail("compiled"), "")
