# SPDX-License-Identifier: MIT
"""``compiler-gym cc``: a compiler that keeps what it compiles.

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
    from compiler_gym.tuning import Plan

__all__ = ["cc"]

_FOLDER = "COMPILER_GYM_CC_OUTPUT"
_COMPILER = "COMPILER_GYM_CC"


def cc(context: typer.Context) -> None:
    """Run the compiler, and keep each compilation as a program: `make CC="compiler-gym cc"`.

    The bitcode goes below the folder that COMPILER_GYM_CC_OUTPUT names; import it with
    `compiler-gym datasets import`. COMPILER_GYM_CC names another compiler to run.
    With `--plan tuned.toml` first, what `compiler-gym tune` found is applied to what is linked.
    """
    plan, arguments = _plan_in(_exact_arguments(context))
    words = [*_compiler(), *arguments]
    status = _run(words)
    if status == 0 and plan is not None:
        _apply(plan, words)
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


def _apply(plan: "Plan", words: list[str]) -> None:
    from compiler_gym.tuning import apply_plan, tuner_named

    def say(text: str) -> None:
        sys.stderr.write(f"compiler-gym cc: {text}\n")

    name = plan.compiler.partition(" ")[0]
    try:
        tuner = tuner_named(name)
    except UnknownNameError:
        say(f"the plan is for {plan.compiler}, which nothing here can apply")
        return
    try:
        apply_plan(plan, tuner, words, Path.cwd(), say=say)
    except Exception as error:  # the build must go on, whatever this is
        say(f"the plan is not applied: {type(error).__name__}: {error}")


def _exact_arguments(context: typer.Context) -> list[str]:
    # Parsing has swallowed a `--`, which means something to a compiler.
    return sys.argv[2:] if sys.argv[1:2] == ["cc"] else list(context.args)


def _compiler() -> list[str]:
    named = os.environ.get(_COMPILER)
    if named:
        return shlex.split(named)
    recording = _recording()
    found = next((name for name in recording.recorded_commands if shutil.which(name)), None)
    if found is None:
        raise UnknownNameError(
            f"expected one of {', '.join(recording.recorded_commands)} on PATH: install one with "
            f"`{recording.install}`, or set {_COMPILER}"
        )
    return [found]


def _run(words: list[str]) -> int:
    try:
        status = subprocess.run(words, check=False).returncode
    except OSError as error:
        raise UnknownNameError(f"cannot run {words[0]}: {error.strerror}: see {_COMPILER}") from (
            error
        )
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
