# SPDX-License-Identifier: MIT
"""The check that runs the program and compares it with its -O0 build."""

from collections.abc import Callable

from compiler_gym.datasets import Benchmark, RunLimits
from compiler_gym.errors import ValidationUnavailableError
from compiler_gym.validation import Finding, Subject, choose_cases, compare_built
from compiler_gym_gcc.state.settings import CommandReader, make_words
from compiler_gym_gcc.toolchain.gcc import Gcc
from compiler_gym_gcc.toolchain.products import runs_here
from compiler_gym_gcc.toolchain.spec import get_spec
from compiler_gym_gcc.validation.build import build_reference, link_program

__all__ = ["check_runs", "compare_object", "is_linked"]


def is_linked(subject: Subject) -> bool:
    """Return whether the compiler's programs run on this machine."""
    return not Gcc(_find_compiler(subject)).is_docker


def check_runs(subject: Subject) -> Finding:
    """Return whether the program behaves like its -O0 build on its inputs."""
    env = subject.env
    try:
        return compare_object(
            _find_compiler(subject),
            subject.benchmark,
            lambda: env.observation["obj"],
            env.commandline(),
        )
    except ValidationUnavailableError as error:
        return Finding.unknown(str(error))


def compare_object(
    gcc_bin: str, benchmark: Benchmark, make: Callable[[], bytes], commandline: str
) -> Finding:
    """Return whether the program linked from the object of `make` behaves like `benchmark`.

    `commandline` is the command that compiled the object: some settings need a library when
    linking. Raises `ValidationUnavailableError` if the program cannot be run.
    """
    spec = benchmark.run
    if spec is None or not spec.cases:
        raise ValidationUnavailableError("the benchmark does not describe how to run this program")
    if Gcc(gcc_bin).is_docker:
        raise ValidationUnavailableError(f"programs from {gcc_bin} cannot run outside of its image")
    object_file = make()
    if not runs_here(object_file):
        raise ValidationUnavailableError(f"{gcc_bin} compiles for another machine; nothing was run")
    cases = choose_cases(spec)
    reference = build_reference(gcc_bin, benchmark, spec)
    limits = RunLimits(seconds=spec.time_limit)
    building = link_program(gcc_bin, object_file, benchmark, _command_words(gcc_bin, commandline))
    return compare_built(building, reference, cases, limits=limits, builds="link")


def _find_compiler(subject: Subject) -> str:
    gcc_bin = getattr(subject.env, "gcc_bin", "")
    assert isinstance(gcc_bin, str)
    return gcc_bin


def _command_words(gcc_bin: str, commandline: str) -> list[str]:
    spec = get_spec(gcc_bin)
    options = spec.options
    choices, _ = CommandReader(options, spec.gcc.program).read(commandline)
    return make_words(options, choices)
