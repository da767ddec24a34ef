# SPDX-License-Identifier: MIT
"""The flags with which an installed rustc makes small programs, alone or with our linker."""

import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from compiler_gym import _llvm
from compiler_gym.errors import ProjectError
from compiler_gym.files import scratch_directory
from compiler_gym.tools.tune.plan import BinaryPlan

PROFILE = {
    "opt-level": '"z"', "lto": '"fat"', "codegen-units": "1", "panic": '"abort"', "strip": "true",
}  # fmt: skip
"""The settings of [profile.release] that make small programs."""
LINKER_FLAGS = ("-Clinker-plugin-lto", "-Clinker=compiler-gym-cc", "-Wlinker-messages")
"""The flags with which rustc links by the size policy, and shows what its linker prints."""
_LINE = re.compile(r"^(release|LLVM version): (\S+)$", re.MULTILINE)
_SECONDS = 60.0


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
