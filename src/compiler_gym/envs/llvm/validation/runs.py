# SPDX-License-Identifier: MIT
"""Checks that run the program and compare its behaviour, or verify the IR after every step."""

import secrets
from collections.abc import Sequence

from compiler_gym.datasets import Benchmark, RunCase, RunLimits, RunSpec
from compiler_gym.envs.llvm.validation.build import build_program, build_reference, other_machine
from compiler_gym.errors import InvalidIrError
from compiler_gym.spaces import action_names
from compiler_gym.validation import (
    Compared,
    Finding,
    Subject,
    ValidationError,
    choose_cases,
    compare_built,
    machine_trouble,
)

__all__ = [
    "FURTHER",
    "check_fresh",
    "check_more",
    "check_runs",
    "check_steps",
    "compare_module",
    "has_more",
    "make_module",
    "more_cases",
]

FURTHER = 64
"""The number of inputs to generate in addition to the recorded ones."""
_FRESH = 16
_MOST_NUMBER = 1 << 31


def check_steps(subject: Subject) -> Finding:
    """Return whether the module is valid IR after every single action."""
    names = action_names(subject.env.action_space)
    with subject.make_env() as env:
        env.observation_space = env.reward_space = None
        env.reset(benchmark=subject.benchmark, action_space=subject.env.action_space)
        for number, action in enumerate(subject.actions, start=1):
            name = names[action] if names else str(action)
            _, _, _, truncated, info = env.multistep([action])
            if truncated and "error" in info:
                if trouble := machine_trouble(info["error"]):
                    return Finding.unknown(f"step {number}, {name}: {trouble}")
                facts = {"step": number, "action": name, "error": info["error_details"]}
                return Finding.fail([ValidationError("an action fails when applied alone", facts)])
            try:
                env.send_param("llvm.verify", "")
            except InvalidIrError as error:
                facts = {"step": number, "action": name, "verifier": str(error)}
                return Finding.fail([ValidationError("the module is not valid IR", facts)])
    return Finding.ok(f"{len(subject.actions)} steps")


def check_runs(subject: Subject) -> Finding:
    """Return whether the program behaves like the unoptimised one on its inputs."""
    return compare_module(subject.benchmark, make_module(subject))


def has_more(subject: Subject) -> bool:
    """Return whether further inputs of the program can be generated."""
    return subject.benchmark.run is not None and subject.benchmark.run.more is not None


def check_more(subject: Subject) -> Finding:
    """Return the result of the comparison on longer inputs and many that were never recorded."""
    spec = subject.benchmark.run
    assert spec is not None
    return compare_module(subject.benchmark, make_module(subject), more_cases(spec))


def check_fresh(subject: Subject) -> Finding:
    """Return the result of the comparison on new random inputs, unknown in advance."""
    spec = subject.benchmark.run
    assert spec is not None
    assert spec.more is not None
    numbers = [FURTHER + secrets.randbelow(_MOST_NUMBER) for _ in range(_FRESH)]
    return compare_module(subject.benchmark, make_module(subject), list(map(spec.more, numbers)))


def more_cases(spec: RunSpec, numbers: range = range(FURTHER)) -> list[RunCase]:
    """Return the cases generated for `numbers`, then those of the other size classes."""
    generated = [spec.more(number) for number in numbers] if spec.more is not None else []
    return [*generated, *spec.of_size("small").cases, *spec.of_size("ref").cases]


def compare_module(
    benchmark: Benchmark,
    module: bytes,
    cases: Sequence[RunCase] | None = None,
    *,
    compared: Compared = Compared.RESULTS,
) -> Finding:
    """Return whether the program of `module` behaves like `benchmark` on its inputs.

    `cases` defaults to the shortest known cases.
    """
    if machine := other_machine(benchmark):
        return Finding.unknown(f"the program is for {machine}, so it cannot be run here")
    spec = benchmark.run
    if spec is None or not spec.cases:
        return Finding.unknown("the benchmark does not describe how to run this program")
    cases = choose_cases(spec) if cases is None else cases
    reference = build_reference(benchmark, spec)
    limits = RunLimits(seconds=spec.time_limit)
    building = build_program(module, link=spec.link)
    return compare_built(building, reference, cases, limits=limits, compared=compared)


def make_module(subject: Subject) -> bytes:
    """Return the bitcode of the replayed program."""
    return subject.env.observation["Bitcode"].tobytes()
