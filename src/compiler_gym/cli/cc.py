# SPDX-License-Identifier: MIT
"""``compiler-gym cc`` and ``cxx``: compilers of C and C++ that keep what they compile.

The real compiler does its work first, and its exit status is ours. Nothing that goes
wrong with the keeping ever reaches the build: it is written to a file.
"""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from compiler_gym.errors import PlanError, UnknownNameError
from compiler_gym.lazy import named
from compiler_gym.registration import Compiler, compilers

if TYPE_CHECKING:
    from compiler_gym.tuning import Plan, Tuner

__all__ = ["cc", "cxx"]

_FOLDER = "COMPILER_GYM_CC_OUTPUT"
_COMPILERS = {"cc": "COMPILER_GYM_CC", "cxx": "COMPILER_GYM_CXX"}
"""The variables that name another compiler."""


def cc(context: typer.Context) -> None:
    """Run the compiler, and keep each compilation as a program: `make CC="compiler-gym cc"`.

    The bitcode goes below the folder that COMPILER_GYM_CC_OUTPUT names; import it with
    `compiler-gym datasets import`. COMPILER_GYM_CC names another compiler to run.
    With `--plan tuned.toml` first, what `compiler-gym tune` found is applied to what is linked.
    """
    _drive("cc", context)


def cxx(context: typer.Context) -> None:
    """Run the C++ compiler, and keep what it compiles: `make CXX="compiler-gym cxx"`.

    It is to C++ what `compiler-gym cc` is to C. COMPILER_GYM_CXX names another compiler to run.
    """
    _drive("cxx", context)


def _drive(verb: str, context: typer.Context) -> None:
    from compiler_gym.builds import build_variables

    plan, arguments = _plan_in(_exact_arguments(verb, context))
    if plan is not None:
        os.environ |= build_variables()
    tuner = None if plan is None else _tuner_of(plan)
    words = [*_compiler(verb, tuner), *arguments]
    status = _run(words)
    if status == 0 and plan is not None and tuner is not None:
        _apply(plan, tuner, words)
    folder = os.environ.get(_FOLDER)
    if status == 0 and folder:
        _keep(words, Path(folder).expanduser().absolute())
    raise typer.Exit(status)


def _plan_in(arguments: list[str]) -> "tuple[Plan | None, list[str]]":
    """Return the plan that the first arguments name, if they do, and those of the compiler."""
    if arguments[:1] != ["--plan"]:
        return None, arguments
    from compiler_gym.tuning import read_plan

    if len(arguments) < 2:
        raise PlanError("expected a file after --plan, as in `compiler-gym cc --plan tuned.toml`")
    return read_plan(Path(arguments[1])), arguments[2:]


def _tuner_of(plan: "Plan") -> "Tuner | None":
    """Return what applies `plan`, or None, said, where nothing here can."""
    from compiler_gym.tuning import tuner_of

    try:
        return tuner_of(plan)
    except UnknownNameError:
        _say(f"the plan is for {plan.compiler}, which nothing here can apply")
        return None


def _apply(plan: "Plan", tuner: "Tuner", words: list[str]) -> None:
    from compiler_gym.tuning import apply_plan

    try:
        apply_plan(plan, tuner, words, Path.cwd(), say=_say)
    except Exception as error:  # the build must go on, whatever this is
        _say(f"the plan is not applied: {type(error).__name__}: {error}")


def _say(text: str) -> None:
    sys.stderr.write(f"compiler-gym cc: {text}\n")


def _exact_arguments(verb: str, context: typer.Context) -> list[str]:
    # Parsing has swallowed a `--`, which means something to a compiler.
    return sys.argv[2:] if sys.argv[1:2] == [verb] else list(context.args)


def _compiler(verb: str, tuner: "Tuner | None") -> list[str]:
    variable = _COMPILERS[verb]
    named = os.environ.get(variable)
    if named:
        return shlex.split(named)
    if tuner is not None:
        return list(tuner.compilers[verb == "cxx"])
    recording = _recording()
    names = recording.recorded_commands if verb == "cc" else recording.recorded_cxx_commands
    found = next((name for name in names if shutil.which(name)), None)
    if found is None:
        raise UnknownNameError(
            f"expected one of {', '.join(names)} on PATH: install one with "
            f"`{recording.install}`, or set {variable}"
        )
    return [found]


def _run(words: list[str]) -> int:
    try:
        status = subprocess.run(words, check=False).returncode
    except OSError as error:
        raise UnknownNameError(
            f"cannot run {words[0]}: {error.strerror}: see COMPILER_GYM_CC"
        ) from (error)
    return status if status >= 0 else 128 - status


def _keep(words: list[str], folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        named(_recording().recorder)(words, Path.cwd(), folder)
    except Exception as error:  # the build must go on, whatever this is
        _note(folder, f"{shlex.join(words)}\n  {type(error).__name__}: {error}\n")


def _note(folder: Path, text: str) -> None:
    try:
        with (folder / "errors.log").open("a", errors="surrogateescape") as file:
            file.write(text)
    except OSError as error:
        sys.stderr.write(f"compiler-gym cc: cannot write to {folder}: {error.strerror}\n")


def _recording() -> Compiler:
    """Return the compiler whose runs can be kept."""
    return next(compiler for compiler in compilers().values() if compiler.recorder)
