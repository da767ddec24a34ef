# SPDX-License-Identifier: MIT
"""Find a command with which the project's own build produces the tuned binaries.

Builds may ignore CC, link with another program, or keep the compiler that they were configured
with, so each candidate is run before it is printed.
"""

import os
import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from compiler_gym.errors import ProjectError
from compiler_gym.sandbox import run_in_own_session
from compiler_gym.tools.tune.builds import compiler_variable, configuring, copy_tree
from compiler_gym.tools.tune.handing_over import Result
from compiler_gym.tools.tune.plan import PLAN_FILE
from compiler_gym.tools.tune.request import Request

_MAKES = ("make", "gmake")
_CARGO = "cargo"


def find_rebuild(
    request: Request,
    results: Sequence[Result],
    folder: Path,
    *,
    poll: Callable[[], None],
    wrap: Callable[[Sequence[str]], Sequence[str]],
) -> str:
    """Return a shell command that produced the same bytes in a copy, or nothing.

    The copy is in `folder`, which is deleted. See `record_build` for `poll` and `wrap`.
    """
    if configuring(request.project, request.project) or Path(request.build[0]).name == _CARGO:
        return ""  # a configured folder keeps its compiler and ignores CC, and so does cargo
    try:
        for command in _candidates(request, results):
            shutil.rmtree(folder, ignore_errors=True)
            tree = folder / "tree"
            folder.mkdir(parents=True)
            copy_tree(request.project, tree, leave_out=[request.output])
            environment = os.environ | {
                "PWD": str(tree),
                "COMPILER_GYM_CACHE": str(folder / "cache"),
            }
            process = run_in_own_session(
                wrap(["/bin/sh", "-c", command]),
                cwd=tree,
                environment=environment,
                takes=lambda part: None,
                poll=poll,
            )
            if not process.status and all(_is_same(result, tree, request) for result in results):
                return command
    except (OSError, ProjectError, KeyboardInterrupt):
        return ""
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return ""


def _is_same(result: Result, tree: Path, request: Request) -> bool:
    rebuilt, tuned = tree / result.binary.name, request.output / "bin" / result.binary.name
    return rebuilt.is_file() and rebuilt.read_bytes() == tuned.read_bytes()


def _candidates(request: Request, results: Sequence[Result]) -> Iterator[str]:
    plan = shlex.quote(str(request.output / PLAN_FILE))
    compilers = {"CC": f"compiler-gym-cc --plan {plan}", "CXX": f"compiler-gym-cxx --plan {plan}"}
    units = (unit for result in results for unit in result.binary.units)
    if not any(unit.command.is_cxx for unit in units):
        del compilers["CXX"]
    # A compiler in the build's own command takes precedence over CC, so replace it.
    build = [_with_ours(word, compilers) for word in request.build]
    if (variable := compiler_variable(build[0])) in compilers:
        yield f"{compilers[variable]} {shlex.join(build[1:])}"
        return
    compilers = {name: word for name, word in compilers.items() if f"{name}={word}" not in build}
    if Path(build[0]).name not in _MAKES:
        before = [f"{name}={shlex.quote(word)}" for name, word in compilers.items()]
        yield " ".join([*before, shlex.join(build)])
        return
    for names in (compilers, {**compilers, "LD": [*compilers.values(), ""][0]}):
        assigned = [f"{name}={word}" for name, word in names.items() if word]
        yield shlex.join([build[0], *assigned, *build[1:]])


def _with_ours(word: str, compilers: Mapping[str, str]) -> str:
    """Return an argument of a build, with our compiler if it sets one of `compilers`."""
    name, is_set, _ = word.partition("=")
    return f"{name}={compilers[name]}" if is_set and name in compilers else word
