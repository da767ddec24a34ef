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
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import compiler_gym
from compiler_gym.envs.llvm.toolchain import MAJOR, clang_command, name_package, tool_name
from compiler_gym.errors import BenchmarkInitError, PlanError
from compiler_gym.files import hash_file
from compiler_gym.registration import ExternalTool
from compiler_gym.tools.tune.builds import run_command
from compiler_gym.tools.tune.llvm.flags import FRAMED, POLICY_PASSES
from compiler_gym.tools.tune.plan import BinaryPlan

PLUGIN = "compiler_gym_size 1"
"""The name and the version of the plug-in, as plans write them."""
PLUGIN_VARIABLE = "COMPILER_GYM_SIZE_PLUGIN"
"""The environment variable that selects another file."""
PLUGIN_FILE = "compiler_gym_size.so"
_LIBRARY = f"libLLVM.so.{MAJOR}.1"
_MACHINE = "x86_64"
SETTINGS = "COMPILER_GYM_SIZE"
"""The environment variable that the plug-in reads its settings from; it has no flags."""
_RULE = re.compile(r"-[a-z][a-z0-9_-]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class LinkCommand:
    """A command that may load the plug-in, with the variables of its environment.

    >>> LinkCommand(("clang", "x.c"), {"COMPILER_GYM_SIZE": "rules=-a"}).list_words()
    ['env', 'COMPILER_GYM_SIZE=rules=-a', 'clang', 'x.c']
    """

    words: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict[str, str])

    def list_words(self) -> list[str]:
        """Return one command that also sets the variables."""
        variables = [f"{name}={value}" for name, value in self.environment.items()]
        return ["env", *variables, *self.words] if variables else [*self.words]

    def run(self, cwd: Path) -> str:
        """Run the command and return its output; raise `ProjectError` if it fails."""
        return run_command(self.list_words(), cwd)


def find_plugin() -> Path | None:
    """Return the file of the plug-in, or None if this installation has none."""
    if setting := os.environ.get(PLUGIN_VARIABLE):
        return Path(setting).absolute()
    # Search next to the native modules: in a checkout, they are not in the source folder.
    paths = (Path(folder) / PLUGIN_FILE for folder in compiler_gym.__path__)
    return next((path for path in paths if path.is_file()), None)


def find_plugin_source() -> Path:
    """Return the folder of the plug-in's source and its licence, which an installation has.

    Raises `PlanError` if they are missing.
    """
    folders = (Path(folder) / "linker" for folder in compiler_gym.__path__)
    found = next((folder for folder in folders if (folder / "LICENSE").is_file()), None)
    if found is None:
        raise PlanError("the source of the size plug-in is missing: install this library again")
    return found


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
    return [ExternalTool(PLUGIN_FILE, enables, "", str(path), version, problem)]


@cache
def _explain(plugin: Path | None, clang: str) -> str:
    if plugin is None:
        return f"{PLUGIN_FILE} is not part of this installation"
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
    """Return the flag with which `plan` loads the plug-in; `option` takes its path.

    Raises `PlanError` if the plug-in cannot be loaded.
    """
    if PLUGIN not in plan.plugin:
        return []
    if problem := explain_problem():
        raise PlanError(
            f"the plan of {plan.name} needs the plug-in {PLUGIN}, which cannot be loaded: {problem}"
        )
    return [f"{option}{find_plugin()}"]


def adds_frames(plan: BinaryPlan) -> bool:
    """Return whether the plug-in adds the frame pointers of `plan`, as for `--policy size`."""
    is_policy = plan.passes == POLICY_PASSES and PLUGIN in plan.plugin
    return is_policy and set(FRAMED) <= {*plan.flags}


def plugin_environment(plan: BinaryPlan, *settings: str) -> dict[str, str]:
    """Return the variable with the plug-in's settings for `plan` and more, if there are any."""
    rules = [word.removeprefix("-") for word in plan.plugin if word != PLUGIN]
    parts = ["frames=non-leaf"] if adds_frames(plan) else []
    parts += [*([f"rules=-{'+'.join(rules)}"] if rules else []), *settings]
    return {SETTINGS: ",".join(parts)} if parts else {}


def describe_loading(plan: BinaryPlan) -> list[str]:
    """Return the plug-in's path and any settings for `plan`; empty if the plan does not use it."""
    return [*load_words(plan, ""), *plugin_environment(plan).values()]


def without_plugin(plan: BinaryPlan) -> BinaryPlan:
    """Return `plan` without the plug-in."""
    return plan.only([name for name in plan.decisions() if not name.startswith("plugin ")])


def disables_rule(word: str) -> bool:
    """Return whether `word` turns off a rule of the plug-in.

    >>> disables_rule("-pop-stack"), disables_rule("-a,stats=/etc/passwd")
    (True, False)
    """
    return _RULE.fullmatch(word) is not None
