# SPDX-License-Identifier: MIT
"""The rungs of the ladder, from cheap to expensive."""

from collections.abc import Callable, Iterable
from functools import partial

from compiler_gym.core import CompilerEnv, CompilerEnvState
from compiler_gym.envs.llvm.validation.alive import check_proofs
from compiler_gym.envs.llvm.validation.build import other_machine
from compiler_gym.envs.llvm.validation.checksums import check_checksums, is_of_csmith
from compiler_gym.envs.llvm.validation.generated import check_generated, has_inputs
from compiler_gym.envs.llvm.validation.runs import (
    check_fresh,
    check_more,
    check_runs,
    check_steps,
    has_more,
)
from compiler_gym.envs.llvm.validation.sanitizers import SANITIZERS, check_sanitizer
from compiler_gym.validation import Rung, Subject, ValidationResult, choose_rungs, climb

__all__ = ["RUNGS", "validate"]

_QUESTIONS = {
    "asan": "Is every memory access inside a live object?",
    "ubsan": "Is the program free of undefined behaviour?",
    "msan": "Is every value that affects control flow initialised?",
}


def _here(
    applies: Callable[[Subject], bool] = lambda subject: True,
) -> Callable[[Subject], bool]:
    """Return `applies`, restricted to programs for this machine, which can be run."""
    return lambda subject: not other_machine(subject.benchmark) and applies(subject)


RUNGS = (
    Rung("verify", "Is the module valid IR after every step?", check_steps, is_semantic=False),
    Rung("run", "Does the program behave like a -O0 build on its inputs?", check_runs),
    Rung(
        "checksums",
        "Does a program from csmith print the same checksum as other builds?",
        check_checksums,
        applies=_here(is_of_csmith),
    ),
    Rung(
        "more",
        "Does it also do so on longer inputs and on many that were never recorded?",
        check_more,
        applies=_here(has_more),
    ),
    Rung(
        "fresh",
        "Does it also do so on new random inputs, which cannot be known in advance?",
        check_fresh,
        applies=_here(has_more),
    ),
    Rung(
        "generated",
        "Does it also do so on inputs mutated to increase coverage?",
        check_generated,
        applies=_here(has_inputs),
    ),
    *(
        Rung(
            sanitizer.name,
            f"{_QUESTIONS[sanitizer.name]} (if the unoptimised program is clean)",
            partial(check_sanitizer, sanitizer),
            applies=_here(),
        )
        for sanitizer in SANITIZERS
    ),
    Rung("alive", "Can alive-tv, if installed, prove every function?", check_proofs),
)
"""All rungs after the replay."""


def validate(
    state: CompilerEnvState,
    make_env: Callable[[], CompilerEnv],
    rungs: Iterable[str] | None,
) -> ValidationResult:
    """Return the results of a replay and of the named `rungs` for `state`; None runs all rungs."""
    return climb(state, make_env, choose_rungs(RUNGS, rungs))
