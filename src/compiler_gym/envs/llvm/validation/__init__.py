# SPDX-License-Identifier: MIT
"""Validation of LLVM's results: the rungs of the ladder, from cheap to expensive."""

from collections.abc import Callable, Iterable
from functools import partial

from compiler_gym.core import CompilerEnv, CompilerEnvState
from compiler_gym.envs.llvm.validation.alive import check_proofs, is_proved
from compiler_gym.envs.llvm.validation.bug_report import BugReport
from compiler_gym.envs.llvm.validation.build import AS_IT_IS, other_machine
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

__all__ = ["AS_IT_IS", "QUICK", "RUNGS", "BugReport", "is_proved", "validate"]

_QUESTIONS = {
    "asan": "Is every access inside an object that is alive?",
    "ubsan": "Does it stay clear of undefined behaviour?",
    "msan": "Is every value that decides something initialised?",
}


def _here(
    applies: Callable[[Subject], bool] = lambda subject: True,
) -> Callable[[Subject], bool]:
    """Return `applies` for programs that can be run: those of other machines cannot."""
    return lambda subject: not other_machine(subject.benchmark) and applies(subject)


RUNGS = (
    Rung("verify", "Is the module valid IR after every step?", check_steps, is_semantic=False),
    Rung("run", "Does the program do on its inputs what a -O0 build does?", check_runs),
    Rung(
        "checksums",
        "Does a program of csmith print the checksum that other builds print?",
        check_checksums,
        applies=_here(is_of_csmith),
    ),
    Rung(
        "more",
        "Does it do so on longer inputs, and on many that were never recorded?",
        check_more,
        applies=_here(has_more),
    ),
    Rung(
        "fresh",
        "Does it do so on inputs that are drawn anew, so that nobody can know them?",
        check_fresh,
        applies=_here(has_more),
    ),
    Rung(
        "generated",
        "Does it do so on inputs changed to reach what the known ones do not?",
        check_generated,
        applies=_here(has_inputs),
    ),
    *(
        Rung(
            sanitizer.name,
            f"{_QUESTIONS[sanitizer.name]} (where the unoptimised program is clean)",
            partial(check_sanitizer, sanitizer),
            applies=_here(),
        )
        for sanitizer in SANITIZERS
    ),
    Rung("alive", "Can alive-tv prove every function, where it is installed?", check_proofs),
)
"""Every rung above the replay."""

QUICK = ("replay", "verify", "run", "checksums")
"""The rungs that take a second or less."""


def validate(
    state: CompilerEnvState,
    make_env: Callable[[], CompilerEnv],
    rungs: Iterable[str] | None = QUICK,
) -> ValidationResult:
    """Return what a replay and the named `rungs` say of `state`; None asks every rung."""
    return climb(state, make_env, choose_rungs(RUNGS, rungs))
