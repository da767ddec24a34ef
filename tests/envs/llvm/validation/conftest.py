# SPDX-License-Identifier: MIT
"""Programs with their runs, an environment that validates them, and what it said."""

from collections.abc import Callable, Iterable, Iterator

import pytest

import compiler_gym
from compiler_gym.datasets import Benchmark, RunCase, RunSpec
from compiler_gym.envs.llvm import LlvmEnv, make_benchmark_from_source
from compiler_gym.validation import ValidationResult


def program(source: str, *cases: RunCase, **options: object) -> Benchmark:
    spec = RunSpec(cases or (RunCase(),), **options)  # type: ignore[arg-type]  # varied by the tests
    return make_benchmark_from_source(source, lang="c", run=spec)


@pytest.fixture(scope="module")
def validated() -> Iterator[Callable[..., ValidationResult]]:
    """Return a function that runs a few actions on a program and validates the end."""
    with compiler_gym.make("llvm-v0", reward_space="IrInstructionCount") as env:
        assert isinstance(env, LlvmEnv)

        def validate(
            benchmark: str | Benchmark, *names: str, rungs: Iterable[str] | None = None
        ) -> ValidationResult:
            env.reset(benchmark=benchmark)
            env.multistep([env.action_space[name] for name in names])
            return env.validate(rungs=rungs)

        yield validate


def reason(result: ValidationResult, name: str) -> str:
    rung = result.rung(name)
    assert rung is not None, name
    return rung.reason


def verdicts(result: ValidationResult) -> dict[str, str]:
    return {rung.name: rung.verdict.value for rung in result.rungs}
