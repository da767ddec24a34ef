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

import typer

from compiler_gym.errors import UnknownNameError
from compiler_gym.lazy import named
from compiler_gym.registration import Compiler, compilers

__all__ = ["cc"]

_FOLDER = "COMPILER_GYM_CC_OUTPUT"
_COMPILER = "COMPILER_GYM_CC"


def cc(context: typer.Context) -> None:
    """Run the compiler, and keep each compilation as a program: `make CC="compiler-gym cc"`.

    The bitcode goes below the folder that COMPILER_GYM_CC_OUTPUT names; import it with
    `compiler-gym datasets import`. COMPILER_GYM_CC names another compiler to run.
    """
    words = [*_compiler(), *_exact_arguments(context)]
    status = _run(words)
    folder = os.environ.get(_FOLDER)
    if status == 0 and folder:
        _keep(words, Path(folder).expanduser().absolute())
    raise typer.Exit(status)


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
