# SPDX-License-Identifier: MIT
"""``compiler-gym cc`` and ``cxx``: C and C++ compilers that record what they compile.

The real compiler runs first and determines the exit status. Errors while recording never reach the
build; they are written to a file.
"""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from inspect import getdoc
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import typer

from compiler_gym.errors import PlanError, UnknownNameError
from compiler_gym.lazy import part, parts
from compiler_gym.tools.tune.commands.driver import become_driver
from compiler_gym.tools.tune.commands.recipes import describe_recipe

if TYPE_CHECKING:
    from compiler_gym.tools.tune import BuildPlan, Tuner

__all__ = ["cc", "cxx"]

_COMPILERS = {"cc": "COMPILER_GYM_CC", "cxx": "COMPILER_GYM_CXX"}
"""The environment variables that select another compiler."""


def cc(context: typer.Context) -> None:
    """Run the C compiler and record each compilation: `make CC="compiler-gym cc"`.

    Bitcode is stored below the folder in COMPILER_GYM_CC_OUTPUT; import it with
    `compiler-gym datasets import`. COMPILER_GYM_CC selects another compiler.
    These options must come first:
    `--plan tuned.toml`: apply the result of `compiler-gym tune` when linking.
    `--recipe small`: build smaller code; see `compiler-gym recipe`.
    `--policy size`: link twice, with options found by tuning and without, and keep the smaller
    file; with `--no-never-larger` after it, link only once, with `--old-loaders`, don't pack
    relocations, which glibc older than 2.36 cannot load, with `--no-plugin`, don't load the size
    plug-in, and with `--baseline=DIR`, compare with the same programs in DIR. The program runs
    slower: by about 3 %, and at worst by 25 %, in our tests.
    `compiler-gym-cc` accepts the same options and starts faster, so use it in builds.
    """
    _drive("cc", context)


def cxx(context: typer.Context) -> None:
    """Run the C++ compiler and record each compilation: `make CXX="compiler-gym cxx"`.

    It works like `compiler-gym cc`. COMPILER_GYM_CXX selects another compiler.
    """
    _drive("cxx", context)


def _drive(verb: str, context: typer.Context) -> None:
    arguments = _exact_arguments(verb, context)
    if arguments[:1] and arguments[0] in _WITH_PLAN:
        if len(arguments) < 2:
            example = _NAMED.get(arguments[0], "tuned.toml")
            raise PlanError(
                f"{arguments[0]} needs a {'name' if arguments[0] in _NAMED else 'file'}, as in "
                f"`compiler-gym {verb} {arguments[0]} {example}`"
            )
        _WITH_PLAN[arguments[0]](verb, Path(arguments[1]), arguments[2:])
        return
    if arguments == ["--help"]:  # print both help texts: the compiler's own follows
        typer.echo(f"{getdoc(cc if verb == 'cc' else cxx)}\n")
        sys.stdout.flush()
    words = [*_compiler(verb), *arguments]
    status = _run(words)
    if status == 0:
        _record_if_requested(words)
    raise typer.Exit(status)


def _become_driver(verb: str, plan: Path, arguments: list[str]) -> None:
    become_driver([verb, *sys.argv[2:3], str(plan), *arguments])


def _describe_recipe(verb: str, kind: Path, names: list[str]) -> None:
    """Print what the driver needs to know about a recipe or a policy."""
    sys.stdout.buffer.write(describe_recipe(str(kind), names[0]))
    sys.stdout.buffer.flush()


def _record(verb: str, compiler: Path, arguments: list[str]) -> None:
    _record_if_requested([str(compiler), *arguments])


def _check_plan(verb: str, plan: Path, arguments: list[str]) -> None:
    """Print the data that the driver needs to apply a plan; refuse an invalid plan."""
    from compiler_gym.tools.tune import driver_facts, read_plan

    build_plan = read_plan(plan)
    tuner = _find_tuner(build_plan)
    compilers = (_find_recorder("cc"), _find_recorder("cxx")) if tuner is None else tuner.compilers
    sys.stdout.buffer.write(driver_facts(build_plan, compilers))
    sys.stdout.buffer.flush()


def _apply_plan(verb: str, plan: Path, words: list[str]) -> None:
    """Apply the plan in a file to the output of the link command `words`."""
    from compiler_gym.tools.tune import apply_plan, read_plan

    build_plan = read_plan(plan)
    tuner = _find_tuner(build_plan)
    if tuner is not None:
        try:
            apply_plan(build_plan, tuner, words, Path.cwd(), say=_say)
        except Exception as error:  # no error may stop the build
            _say(f"plan not applied: {type(error).__name__}: {error}")
    _record_if_requested(words)


_WITH_PLAN = {
    "--plan": _become_driver,
    "--recipe": _become_driver,
    "--policy": _become_driver,
    "--check-plan": _check_plan,
    "--apply-plan": _apply_plan,
    "--describe-recipe": _describe_recipe,
    "--record": _record,
}
"""The functions for first arguments that need a file or a name; the last four are internal to the
driver."""
_NAMED = {"--recipe": "small", "--policy": "size"}
"""The arguments that need a name, each with an example."""


def _find_tuner(plan: "BuildPlan") -> "Tuner | None":
    """Return the tuner that applies `plan`; print a message and return None if there is none."""
    from compiler_gym.tools.tune import tuner_named

    try:
        return tuner_named(plan.compiler)
    except UnknownNameError as error:
        _say(f"plan not applied: {error}")
        return None


def _say(text: str) -> None:
    sys.stderr.write(f"compiler-gym cc: {text}\n")


def _exact_arguments(verb: str, context: typer.Context) -> list[str]:
    # Typer's parser removes a `--`, which the compiler must see.
    return sys.argv[2:] if sys.argv[1:2] == [verb] else list(context.args)


def _compiler(verb: str) -> list[str]:
    command = os.environ.get(_COMPILERS[verb])
    return shlex.split(command) if command else _find_recorder(verb)


def _find_recorder(verb: str) -> list[str]:
    recorder = _recorder()
    names = recorder.COMMANDS if verb == "cc" else recorder.CXX_COMMANDS
    command = next((name for name in names if shutil.which(name)), None)
    if command is None:
        raise UnknownNameError(
            f"none of {', '.join(names)} found on PATH: install one with "
            f"`{recorder.INSTALL}`, or set {_COMPILERS[verb]}"
        )
    return [command]


def _run(words: list[str]) -> int:
    try:
        status = subprocess.run(words, check=False).returncode
    except OSError as error:
        raise UnknownNameError(
            f"cannot run {words[0]}: {error.strerror}: see COMPILER_GYM_CC"
        ) from (error)
    return status if status >= 0 else 128 - status


def _record_if_requested(words: list[str]) -> None:
    folder = os.environ.get("COMPILER_GYM_CC_OUTPUT")
    if folder:
        _keep(words, Path(folder).expanduser().absolute())


def _keep(words: list[str], folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _recorder(words).record(words, Path.cwd(), folder)
    except Exception as error:  # no error may stop the build
        _note(folder, f"{shlex.join(words)}\n  {type(error).__name__}: {error}\n")


def _note(folder: Path, text: str) -> None:
    try:
        with (folder / "errors.log").open("a", errors="surrogateescape") as file:
            file.write(text)
    except OSError as error:
        sys.stderr.write(f"compiler-gym cc: cannot write to {folder}: {error.strerror}\n")


class _Recorder(Protocol):
    """A compiler's recorder of compilations: a module or an object."""

    COMMANDS: Sequence[str]
    """The commands that compile C, the preferred one first."""
    CXX_COMMANDS: Sequence[str]
    INSTALL: str
    """The shell command that installs the first of them."""

    def record(self, words: list[str], cwd: Path, folder: Path) -> object:
        """Compile with the command `words` and store the program in `folder`."""


def _recorder(words: Sequence[str] = ()) -> _Recorder:
    """Return the recorder of the compiler that `words` run, or the only one there is."""
    names = {Path(word).name for word in words[:2]}  # the second follows ccache
    for entry in parts("recorders").values():
        recorder: _Recorder = entry.load()
        if names & {*recorder.COMMANDS, *recorder.CXX_COMMANDS}:
            return recorder
    return part("recorders")
