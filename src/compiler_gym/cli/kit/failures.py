# SPDX-License-Identifier: MIT
"""Turns an error into one clear line, the next step and an exit status: no tracebacks."""

import errno
import re
import sys
from collections.abc import Sequence

from compiler_gym.cli.kit.programs import DEFAULT_ENVIRONMENT, SUFFIXES
from compiler_gym.errors import (
    BenchmarkInitError,
    CompilerGymError,
    InvalidActionError,
    UnknownNameError,
)
from compiler_gym.errors.nearest import did_you_mean
from compiler_gym.registration import compilers
from compiler_gym.version import DISTRIBUTION

__all__ = ["INTERRUPTED", "REFUSED", "report_failure"]

REFUSED = 2
"""The exit status after a request that cannot be served."""
INTERRUPTED = 130
"""The exit status after Ctrl-C, as in shells."""

_NEXT_STEPS: tuple[tuple[type[BaseException], str], ...] = (
    (
        BenchmarkInitError,
        f"a program is a URI (cbench-v1/qsort), a path ({SUFFIXES}) or - for standard input",
    ),
    (InvalidActionError, "`compiler-gym describe {env} --actions` lists every action"),
    (UnknownNameError, "`compiler-gym describe {env}` lists what an environment has"),
)
_ADVICE = (
    "apt install",
    "COMPILER_GYM_",
    "no algorithm ",
    "no task ",
    "no recipe ",
    "no policy ",
    "cannot compile ",
)
"""Messages with these texts already include advice, or do not concern an environment."""
_MOST_LINES = 16
_ERROR = re.compile(r"\b(fatal )?error: ")
_LEFT_OUT = ("gymnasium", "httpx", "jinja2", "networkx", "numpy")
"""Packages that the commands for building programs never import (page *Platforms*)."""
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def report_failure(error: BaseException) -> int | None:
    """Report `error` on standard error and return the exit status; None if it is a defect."""
    if isinstance(error, KeyboardInterrupt):
        sys.stderr.write("\ninterrupted\n")
        return INTERRUPTED
    if isinstance(error, CompilerGymError):
        _report_error(str(error), _next_step(error), error.reproducer)
        return REFUSED
    if type(error).__module__ == "gymnasium.error":
        _report_error(
            _unknown_environment(error), "`compiler-gym envs` lists every environment", None
        )
        return REFUSED
    if isinstance(error, ModuleNotFoundError) and error.name in _LEFT_OUT:
        message = f"{error.name} is missing: a thin installation has only the packages for `cc`"
        _report_error(message, f"pip install {DISTRIBUTION}", None)
        return REFUSED
    if isinstance(error, OSError) and error.errno in _NO_ROOM:
        name = "the output" if error.filename is None else str(error.filename)
        _report_error(
            f"cannot write {name}: {error.strerror}", "free some space and try again", None
        )
        return REFUSED
    return None


def _unknown_environment(error: BaseException) -> str:
    """Return Gymnasium's message with our suggestion, because its own does not fit."""
    text = str(error).partition(" Did you mean")[0]
    match = re.search(r"`([^`]+)`", text)
    ids = [env.id for compiler in compilers().values() for env in compiler.environments]
    hint = did_you_mean(match[1], ids) if match else ""
    return f"{text.rstrip('.')}: {hint}" if hint else text


def _next_step(error: BaseException) -> str | None:
    for compiler in compilers().values():
        if type(error).__name__ in compiler.next_steps:
            return compiler.next_steps[type(error).__name__]
    if any(text in str(error) for text in _ADVICE):
        return None  # general advice would be misleading here
    step = next((step for cls, step in _NEXT_STEPS if isinstance(error, cls)), None)
    return step and step.format(env=_find_environment(sys.argv[1:]))


def _find_environment(arguments: Sequence[str]) -> str:
    """Return the environment that a command line names, or the default one."""
    for previous, argument in zip(["", *arguments], arguments, strict=False):
        if previous in ("--env", "describe") and not argument.startswith("-"):
            return argument
        if argument.startswith("--env="):
            return argument.partition("=")[2]
    return DEFAULT_ENVIRONMENT


def _most_telling(lines: list[str]) -> list[str]:
    """Return the lines to show, with the numbers of the omitted ones.

    The output of a compiler is shown from its first error on, without earlier warnings; other
    text is shown from its end, which has the reason.
    """
    if len(lines) < _MOST_LINES:
        return lines
    last = len(lines) - _MOST_LINES + 1
    first = next((i for i, line in enumerate(lines) if _ERROR.search(line)), last)
    begin = min(first, last)
    omitted = len(lines) - begin - _MOST_LINES + 1
    selected = lines[begin : begin + _MOST_LINES - 1]
    return [
        *([f"... {begin} lines"] if begin else []),
        *selected,
        *([f"... {omitted} lines"] if omitted else []),
    ]


def _report_error(message: str, next_step: str | None, reproducer: str | None) -> None:
    from compiler_gym.cli.kit.output import errors, style_text

    lines = message.strip().splitlines() or ["failed without a message"]
    errors().print(style_text("error:", "bold red"), lines[0], soft_wrap=True)
    for line in _most_telling(lines[1:]):
        errors().print(f"  {line}", soft_wrap=True, style="dim")
    if reproducer:
        errors().print(style_text("shown by:", "bold"), reproducer, soft_wrap=True)
    if next_step:
        errors().print(style_text("next step:", "bold"), next_step, soft_wrap=True)
