# SPDX-License-Identifier: MIT
"""``compiler-gym cc`` and ``cxx``: C and C++ compilers that record what they compile.

The real compiler runs first and determines the exit status. Errors while recording never reach the
build; they are written to a file. The compiled driver handles plans, recipes and policies; it calls
the library for everything else.
"""

import os
import platform
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from inspect import getdoc
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from compiler_gym.errors import PlanError, UnknownNameError
from compiler_gym.tools.tune.commands.early import OPTIONS, become_driver

if TYPE_CHECKING:
    from compiler_gym.tools.tune import BuildPlan, Tuner

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
    word, *rest = arguments or [""]
    if (option := OPTIONS.get(word)) is not None:
        if not rest:
            example = f"compiler-gym {verb} {word} {option.example}"
            raise PlanError(f"{word} needs a {option.takes}, as in `{example}`")
        if option.run:
            globals()[option.run](rest[0], rest[1:])
        else:
            become_driver([verb, *arguments])
        return
    if arguments == ["--help"]:  # print both help texts: the compiler's own follows
        typer.echo(f"{getdoc(cc if verb == 'cc' else cxx)}\n")
        sys.stdout.flush()
    words = [*_compiler(verb), *arguments]
    status = _run(words)
    if status == 0:
        _record_if_requested(words)
    raise typer.Exit(status)


def print_description(kind: str, names: Sequence[str]) -> None:
    """Print the data that the driver needs for the recipe or policy in `names`."""
    _print_bytes(describe_recipe(kind, names[0]))


def describe_recipe(kind: str, name: str) -> bytes:
    """Return the description of a ``recipe`` or a ``policy``, its name or file.

    It consists of lists of words; each word ends with a null character, and each list with an empty
    word. The driver asks once, and again when a file named in the answer changes. Raises
    `UnknownNameError` if there is none of this name, and `PlanError` if its file is damaged or for
    another machine.
    """
    from compiler_gym.builds import SET_APART
    from compiler_gym.tools.tune import Kind, policy_named, recipe_named
    from compiler_gym.tools.tune.llvm.driver import describe_plan

    is_policy = Kind(kind) is Kind.POLICY
    recipe = policy_named(name) if is_policy else recipe_named(name)
    machine = recipe.known.machine
    if machine != platform.machine():
        raise PlanError(
            f"the {kind} {name} is for {machine}, but this machine is {platform.machine()}: search "
            "for decisions with `compiler-gym tune`"
        )
    compiler, linker, *added = describe_plan(recipe.plan, is_packed=is_policy)
    known = [str(recipe.path), *(w for w in (*compiler, *linker, *added[4]) if Path(w).is_file())]
    lists: list[Sequence[str]] = [[*_identify(known)], compiler, linker, SET_APART, *added]
    return os.fsencode("".join(f"{word}\0" for each in lists for word in (*each, "")))


def _identify(files: Sequence[str]) -> Iterator[str]:
    """Yield each file, followed by text that changes when it is replaced or written."""
    for name in files:
        status = os.stat(name)
        times = (
            part for ns in (status.st_mtime_ns, status.st_ctime_ns) for part in divmod(ns, 10**9)
        )
        facts = (status.st_dev, status.st_ino, status.st_size, *times)
        yield name
        yield "".join(f"{fact} " for fact in facts)


def check_plan(plan: str, _words: Sequence[str]) -> None:
    """Print the data that the driver needs to apply a plan; refuse an invalid plan."""
    from compiler_gym.tools.tune import driver_facts, read_plan

    build_plan = read_plan(Path(plan))
    tuner = _find_tuner(build_plan)
    compilers = (_find_recorder("cc"), _find_recorder("cxx")) if tuner is None else tuner.compilers
    _print_bytes(driver_facts(build_plan, compilers))


def apply_to_link(plan: str, words: Sequence[str]) -> None:
    """Apply the plan in a file to the output of the link command `words`."""
    from compiler_gym.tools.tune import apply_plan, read_plan

    build_plan = read_plan(Path(plan))
    tuner = _find_tuner(build_plan)
    if tuner is not None:
        try:
            apply_plan(build_plan, tuner, words, Path.cwd(), say=_say)
        except Exception as error:  # no error may stop the build
            _say(f"plan not applied: {type(error).__name__}: {error}")
    _record_if_requested(words)


def _find_tuner(plan: "BuildPlan") -> "Tuner | None":
    """Return the tuner that applies `plan`; print a message and return None if there is none."""
    from compiler_gym.tools.tune import tuner_named

    try:
        return tuner_named(plan.compiler)
    except UnknownNameError as error:
        _say(f"plan not applied: {error}")
        return None


def record(compiler: str, arguments: Sequence[str]) -> None:
    """Record a compilation that the driver has run."""
    _record_if_requested([compiler, *arguments])


def _print_bytes(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _say(text: str) -> None:
    sys.stderr.write(f"compiler-gym cc: {text}\n")


def _exact_arguments(verb: str, context: typer.Context) -> list[str]:
    # Typer's parser removes a `--`, which the compiler must see.
    return sys.argv[2:] if sys.argv[1:2] == [verb] else list(context.args)


def _compiler(verb: str) -> list[str]:
    command = os.environ.get(_COMPILERS[verb])
    return shlex.split(command) if command else _find_recorder(verb)


def _find_recorder(verb: str) -> list[str]:
    """Return the first compiler on PATH whose compilations can be recorded."""
    from compiler_gym.tools.tune.llvm import driver

    names = driver.COMMANDS if verb == "cc" else driver.CXX_COMMANDS
    command = next((name for name in names if shutil.which(name)), None)
    if command is None:
        raise UnknownNameError(
            f"none of {', '.join(names)} found on PATH: install one with "
            f"`{driver.INSTALL}`, or set {_COMPILERS[verb]}"
        )
    return [command]


def _run(words: list[str]) -> int:
    try:
        status = subprocess.run(words, check=False).returncode
    except OSError as error:
        message = f"cannot run {words[0]}: {error.strerror}: see COMPILER_GYM_CC"
        raise UnknownNameError(message) from error
    return status if status >= 0 else 128 - status


def _record_if_requested(words: Sequence[str]) -> None:
    if not (setting := os.environ.get("COMPILER_GYM_CC_OUTPUT")):
        return
    folder = Path(setting).expanduser().absolute()
    try:
        from compiler_gym.tools.tune.llvm import driver

        folder.mkdir(parents=True, exist_ok=True)
        driver.record(list(words), Path.cwd(), folder)
    except Exception as error:  # no error may stop the build
        _note(folder, f"{shlex.join(words)}\n  {type(error).__name__}: {error}\n")


def _note(folder: Path, text: str) -> None:
    try:
        with (folder / "errors.log").open("a", errors="surrogateescape") as file:
            file.write(text)
    except OSError as error:
        sys.stderr.write(f"compiler-gym cc: cannot write to {folder}: {error.strerror}\n")
