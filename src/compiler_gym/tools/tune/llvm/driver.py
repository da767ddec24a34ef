# SPDX-License-Identifier: MIT
"""LLVM's part of ``compiler-gym cc`` and ``rust``: compilers, plans for the driver, and rustc.

The compiled driver compiles and links for a recipe or a policy with these options. An installed
rustc makes small programs with its own linker, or with ours.
"""

import re
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from compiler_gym import _llvm
from compiler_gym.envs.llvm.programs import record as record
from compiler_gym.envs.llvm.toolchain import clang_command, name_package, tool_name
from compiler_gym.errors import PlanError, ProjectError
from compiler_gym.files import scratch_directory
from compiler_gym.tools.tune.llvm.flags import FRAMES, LEAVES, PACKED, POLICY_PASSES, SMALL
from compiler_gym.tools.tune.llvm.linker import link_time_flags
from compiler_gym.tools.tune.llvm.plugin import (
    describe_loading,
    explain_problem,
    find_linker,
)
from compiler_gym.tools.tune.plan import BinaryPlan

COMMANDS = (tool_name("clang"), "clang", "cc")
"""The commands that compile C, the preferred one first."""
CXX_COMMANDS = (tool_name("clang++"), "clang++", "c++")
"""The same for C++."""
INSTALL = f"apt install {name_package('clang')}"
"""The shell command that installs the preferred command."""
_FAT = ("-ffat-lto-objects", "-fno-addrsig")
"""Objects hold machine code and IR. They have no address-significance table, because lld warns
about one in objects made with ``ld -r``; link-time optimisation makes its own."""
_FRONT = ("-z", "nostart-stop-gc")
"""Makes lld keep sections referenced as ``__start_NAME``, as GNU ld does."""
_PASSES = (f"--lto-newpm-passes={POLICY_PASSES}", "--lto-newpm-passes=default<Oz>")
"""The linker's passes for objects of clang, and for those of rustc."""
PROFILE = {
    "opt-level": '"z"',
    "lto": '"fat"',
    "codegen-units": "1",
    "panic": '"abort"',
    "strip": "true",
}
"""The settings of [profile.release] that make small programs."""
LINKER_FLAGS = ("-Clinker-plugin-lto", "-Clinker=compiler-gym-cc", "-Wlinker-messages")
"""The flags with which rustc links by the size policy, and shows what its linker prints."""
_LINE = re.compile(r"^(release|LLVM version): (\S+)$", re.MULTILINE)
_SECONDS = 60.0


def describe_plan(plan: BinaryPlan, *, is_packed: bool) -> list[list[str]]:
    """Return the clang command, the linker, and lists of options, as the driver expects them.

    These are the options of the compiler, the linker's first options, LLVM's options in the linker,
    its passes, the loading of the size plug-in, the reason why it cannot be
    loaded, and flags of the driver. With `is_packed`, relocations are packed if the program's C
    library can read them. Raises `PlanError` for a plan that needs more than one link.
    """
    if plan.method != SMALL or plan.profile:
        raise PlanError(
            f"the plan of {plan.name} (method {plan.method!r}) cannot link in one step: use "
            "`--plan` with the file that `compiler-gym tune` wrote"
        )
    clang, problem = clang_command(), explain_problem() if plan.plugin else ""
    linker = find_linker(clang[0])
    flags = [flag for flag in plan.flags if not plan.plugin or flag not in (FRAMES, LEAVES)]
    compile_words = [*link_time_flags(BinaryPlan(plan.name, SMALL)), *_FAT, *flags]
    options = [f"{name}={value}" for name, value in plan.options.items()]
    loading = describe_loading(replace(plan, passes=POLICY_PASSES)) if not problem else []
    packing = ["pack"] if is_packed or PACKED in plan.linker else []
    front = [*_FRONT, *_linker_words(plan.linker)]
    return [
        clang,
        [linker] if Path(linker).is_file() else [],
        compile_words,
        front,
        options,
        [*_PASSES],
        loading,
        [problem] if problem else [],
        packing,
    ]


def _linker_words(flags: Iterable[str]) -> list[str]:
    """Return the arguments that the linker receives for ``-Wl,`` flags, except for packing."""
    words = (flag.removeprefix("-Wl,").split(",") for flag in flags if flag != PACKED)
    return [word for each in words for word in each]


@dataclass(frozen=True, slots=True)
class Rustc:
    """An installed rustc."""

    command: str
    release: str
    llvm: str
    """The version of the LLVM that it is built on."""

    @property
    def is_ours(self) -> bool:
        """True if our linker can optimise what it compiles."""
        return _minor(self.llvm) == _minor(our_llvm())

    def list_llvm_flags(self, plan: BinaryPlan) -> list[str]:
        """Return the flags for those options of `plan` that this rustc accepts."""
        flags = (f"-Cllvm-args=-{name}={value}" for name, value in plan.options.items())
        return list(self._list_accepted(list(flags)))

    def _list_accepted(self, flags: Sequence[str]) -> Iterator[str]:
        with scratch_directory("rustc") as folder:
            words = [self.command, "-", "--crate-type=lib", "--crate-name=a", f"--out-dir={folder}"]
            for flag in flags:
                if _run([*words, flag]).returncode == 0:
                    yield flag


def our_llvm() -> str:
    """Return the version of LLVM that this library is built on."""
    return str(_llvm.LLVM_VERSION)


def find_rustc(command: str = "rustc") -> Rustc:
    """Return the rustc with the name or path `command`; raise `ProjectError` if there is none."""
    result = _run([command, "-vV"])
    facts = dict(_LINE.findall(result.stdout))
    if result.returncode or len(facts) != 2:
        raise ProjectError(f"{command} -vV does not print a version of LLVM: {result.stderr}")
    return Rustc(command, facts["release"], facts["LLVM version"])


def _minor(version: str) -> list[str]:
    return version.split(".")[:2]


def _run(words: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    try:
        return subprocess.run(
            words, input="", capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ProjectError(
            f"cannot run {words[0]}: {error}: install Rust, for example with "
            "`apt install rustc-web cargo-web` on Debian 12"
        ) from error
