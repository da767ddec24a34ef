# SPDX-License-Identifier: MIT
"""The size plug-in: a shared object with which clang and lld generate smaller x86-64 code.

Only programs that share LLVM's dynamic library can load it. Their files show whether they do, so
nothing is run to find out.
"""

import mmap
import os
import platform
import re
import shutil
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import compiler_gym
from compiler_gym.envs.llvm.toolchain import MAJOR, clang_command, name_package, tool_name
from compiler_gym.errors import BenchmarkInitError, MinimizationError, PlanError
from compiler_gym.files import hash_file, scratch_directory
from compiler_gym.registration import ExternalTool
from compiler_gym.tools.tune.builds import run_command
from compiler_gym.tools.tune.plan import BinaryPlan
from compiler_gym.tools.tune.runs import run_check

PLUGIN = "compiler_gym_size 1"
"""The name and the version of the plug-in, as plans write them."""
PLUGIN_VARIABLE = "COMPILER_GYM_SIZE_PLUGIN"
"""The environment variable that selects another file."""
_FILE = "compiler_gym_size.so"
_LIBRARY = f"libLLVM.so.{MAJOR}.1"
_MACHINE = "x86_64"
_SETTING = "COMPILER_GYM_SIZE="
"""The environment variable that the plug-in reads its switches from; it has no flags."""
_NO_LIMIT = 1 << 40
_MOST_REWRITES = 1 << 20
_RULE = re.compile(r"-[a-z][a-z0-9_-]*", re.ASCII)


def find_plugin() -> Path | None:
    """Return the file of the plug-in, or None if this installation has none."""
    if setting := os.environ.get(PLUGIN_VARIABLE):
        return Path(setting).absolute()
    # Search next to the native modules: in a checkout, they are not in the source folder.
    paths = (Path(folder) / _FILE for folder in compiler_gym.__path__)
    return next((path for path in paths if path.is_file()), None)


def explain_problem() -> str:
    """Return the reason why clang and lld cannot load the plug-in; empty if they can."""
    return _explain(find_plugin(), clang_command()[0])


def external_tools() -> list[ExternalTool]:
    """Return the plug-in for `compiler-gym doctor`, if this installation has it."""
    path = find_plugin()
    if path is None:
        return []
    try:
        problem = explain_problem()
    except BenchmarkInitError as error:
        problem = str(error)
    _, version = PLUGIN.split()
    enables = "tune and `cc --policy size`: smaller code"
    return [ExternalTool(_FILE, enables, "", str(path), version, problem)]


@cache
def _explain(plugin: Path | None, clang: str) -> str:
    if plugin is None:
        return f"{_FILE} is not part of this installation"
    if not plugin.is_file():
        return f"{plugin} does not exist; see {PLUGIN_VARIABLE}"
    if platform.machine() != _MACHINE:
        return f"it is for {_MACHINE}, but this machine is {platform.machine()}"
    tools = (clang, find_linker(clang))
    tool = next((tool for tool in tools if not _shares_llvm(tool)), None)
    if tool is None:
        return ""
    packages = " ".join(map(name_package, ("clang", "ld.lld")))
    return f"{tool} does not use {_LIBRARY}; the packages {packages} do"


def find_linker(clang: str) -> str:
    """Return the lld that `clang` links with: the one next to it, otherwise the one on PATH."""
    beside = Path(clang).resolve().with_name("ld.lld")
    if beside.is_file():
        return str(beside)
    return shutil.which("ld.lld") or shutil.which(tool_name("ld.lld")) or str(beside)


def _shares_llvm(program: str) -> bool:
    """Return whether the file `program` names LLVM's dynamic library."""
    try:
        with (
            open(program, "rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
        ):
            return data.find(f"\0{_LIBRARY}\0".encode()) >= 0
    except (OSError, ValueError):
        return False


def plugin_hash() -> str:
    """Return the SHA-256 of the plug-in; empty if it cannot be loaded."""
    path = find_plugin()
    return "" if path is None or explain_problem() else hash_file(path)


def load_words(plan: BinaryPlan, option: str) -> list[str]:
    """Return the flags with which `plan` loads the plug-in; `option` takes its path.

    They include a setting of the plug-in, for `with_settings`. Raises `PlanError` if the plug-in
    cannot be loaded.
    """
    if PLUGIN not in plan.plugin:
        return []
    if problem := explain_problem():
        raise PlanError(
            f"the plan of {plan.name} needs the plug-in {PLUGIN}, which cannot be loaded: {problem}"
        )
    rules = "+".join(word.removeprefix("-") for word in plan.plugin if word != PLUGIN)
    return [f"{option}{find_plugin()}", *([f"{_SETTING}rules=-{rules}"] if rules else [])]


def describe_loading(plan: BinaryPlan, *, has_frames: bool) -> list[str]:
    """Return the plug-in's path and any settings for `plan`; empty if the plan does not use it.

    With `has_frames`, the plug-in adds frame pointers to functions that call others.
    """
    if not plan.plugin:
        return []
    path, *settings = load_words(plan, "")
    parts = [*(["frames=non-leaf"] if has_frames else []), *settings]
    joined = ",".join(part.removeprefix(_SETTING) for part in parts)
    return [path, joined] if joined else [path]


def run_and_list_rules(words: Sequence[str], folder: Path) -> list[str]:
    """Run a command that loads the plug-in, and return the rules that changed code.

    Raises `ProjectError` if the command fails. `folder` is for a file.
    """
    counts = folder / "counts"
    run_command(["env", f"{_SETTING}stats={counts}", *words], folder)
    return list(read_counts(counts))


def read_counts(path: Path) -> dict[str, int]:
    """Return how often each rule changed code, from the file that `stats=` names."""
    rows = (line.split("\t") for line in path.read_text().splitlines())
    return {name: int(value) for name, value in rows if value.isdigit()}


def find_rewrite(is_broken: Callable[[int], bool], counts: Path) -> tuple[int, str]:
    """Return the number and the place of the first rewrite that breaks a program.

    `is_broken` links the program with ``limit=`` this number and ``stats=`` the file `counts`, and
    checks it; it is called once for each bit of the number of rewrites. The place is the rule and
    the function. It is empty if no rewrite breaks the program, or if the linker crashes before it
    writes `counts`.
    """
    counts.unlink(missing_ok=True)
    is_broken(_NO_LIMIT)
    # A linker that crashes leaves no counts.
    total = sum(read_counts(counts).values()) if counts.exists() else _MOST_REWRITES
    number = bisect_left(range(total), True, key=is_broken)
    counts.unlink(missing_ok=True)
    if not is_broken(number) or not counts.exists():
        return number, ""
    return number, counts.read_text(errors="replace").rpartition("last\t")[2].strip()


def reduce_build(text: str, *, seconds: float, report: Callable[[int], None]) -> dict[str, Any]:
    """Find the first rewrite after which `text`, a command that links and tests a program, fails.

    Each run may take `seconds`; `report` gets the number of each. Returns a document. Raises
    `MinimizationError` if the command fails without rewrites too, or never fails.
    """
    said: list[str] = []
    with scratch_directory("rewrite") as folder:
        counts = Path(folder) / "counts"

        def is_broken(limit: int) -> bool:
            report(len(said) + 1)
            setting = {_SETTING.rstrip("="): f"stats={counts},limit={limit}"}
            outcome = run_check(text, Path.cwd(), seconds=seconds, variables=setting)
            said.append(outcome.tail)
            return outcome.status != 0

        if is_broken(0):
            raise MinimizationError(f"{text} fails without any rewrite too:\n{said[-1]}")
        number, place = find_rewrite(is_broken, counts)
    if not place:
        raise MinimizationError(
            f"no rewrite of the size plug-in makes this fail: {text}\nThe command must link the "
            "program again each time, after any other, with the plug-in (`--no-never-larger` keeps "
            "that link), and fail if the program is wrong"
        )
    rule = place.partition(" in ")[0]
    off = f"{_SETTING}rules=-{rule}"
    return {"rewrite": number, "place": place, "tests": len(said), "without_rule": off}


def with_settings(words: Iterable[str]) -> list[str]:
    """Return the command `words` with the settings of the plug-in, if any, in front.

    >>> with_settings(["clang", "COMPILER_GYM_SIZE=rules=-a", "x.c"])
    ['env', 'COMPILER_GYM_SIZE=rules=-a', 'clang', 'x.c']
    """
    words = list(words)
    settings = list(dict.fromkeys(word for word in words if word.startswith(_SETTING)))
    others = [word for word in words if word not in settings]
    return ["env", *settings, *others] if settings else words


def without_plugin(plan: BinaryPlan) -> BinaryPlan:
    """Return `plan` without the plug-in."""
    return plan.only([name for name in plan.decisions() if not name.startswith("plugin ")])


def is_rule(word: str) -> bool:
    """Return whether `word` turns off a rule of the plug-in.

    >>> is_rule("-pop-stack"), is_rule("-a,stats=/etc/passwd")
    (True, False)
    """
    return _RULE.fullmatch(word) is not None
