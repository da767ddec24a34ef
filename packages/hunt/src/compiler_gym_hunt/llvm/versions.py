# SPDX-License-Identifier: MIT
"""Compile a function with other versions of LLVM, to find out since when an optimisation is missed.

Uses the ``opt`` and ``llc`` of every version installed with Debian's names. Versions that crash,
hang or cannot read the program are recorded as failures.
"""

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

from compiler_gym.builds import function_sizes
from compiler_gym.envs.llvm.toolchain import MAJOR
from compiler_gym.errors import ProjectError
from compiler_gym.files import scratch_directory
from compiler_gym_hunt.llvm.decisions import HuntedDecision, HuntGoal
from compiler_gym_hunt.llvm.engine import Engine

__all__ = [
    "VersionSize",
    "describe_versions",
    "explain_error",
    "function_sizes_with",
    "list_versions",
    "sizes_by_version",
]  # fmt: skip

_OLDEST = 13
_SECONDS = 20.0
_NEWER = re.compile(
    r" (?:nneg|disjoint|samesign|nocreateundeforpoison|dead_on_\w+)\b| captures\([^)]*\)|"
    r"(?<=getelementptr) inbounds nuw|(?<=getelementptr) (?:nusw|nuw)|"
    r"(?<=trunc) (?:nuw|nsw)(?: nsw)?"
)
"""Flags and attributes that older versions cannot read; removing them changes no instruction."""
_POINTERS = {13: "--force-opaque-pointers", 14: "--opaque-pointers"}
_INSTRUCTION = re.compile(r"^  (?!\s)\S", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class VersionSize:
    """The costs of a function with one version, for the level and for the decision."""

    version: int
    level: float = 0
    decided: float = 0
    failure: str = ""

    @property
    def is_missed(self) -> bool:
        """True if the decision costs less than the level with this version."""
        return not self.failure and self.decided < self.level


@cache
def list_versions() -> tuple[int, ...]:
    """Return the versions whose ``opt`` and ``llc`` are installed, the oldest first."""
    numbers = range(_OLDEST, MAJOR + 1)
    return tuple(n for n in numbers if shutil.which(f"opt-{n}") and shutil.which(f"llc-{n}"))


def sizes_by_version(
    engine: Engine, text: str, decision: str, goal: str, versions: Sequence[int] | None = None
) -> list[VersionSize]:
    """Return the costs of a function with each installed version, for the level and the decision.

    For cycles only the passes are from that version; code generator and model are the engine's.
    """
    other = HuntedDecision.read(decision)
    level = HuntedDecision((HuntGoal(goal).level,))
    sizes: list[VersionSize] = []
    for version in list_versions() if versions is None else versions:
        try:
            before, after = (
                _cost_with(engine, version, text, each, HuntGoal(goal)) for each in (level, other)
            )
            sizes.append(VersionSize(version, before, after))
        except (subprocess.SubprocessError, OSError, ProjectError) as error:
            sizes.append(VersionSize(version, failure=explain_error(error)))
    return sizes


def _cost_with(
    engine: Engine, version: int, text: str, decision: HuntedDecision, goal: HuntGoal
) -> float:
    if goal is HuntGoal.SIZE:
        return sum(function_sizes_with(version, text, decision).values())
    optimised = _compile_with(version, text, decision, code=False)
    if goal is HuntGoal.INSTRUCTIONS:
        return _instructions_in(optimised.decode())
    answer = engine.ask("estimate_cycles", optimised, [*decision.codegen])
    if answer.failure:
        raise ProjectError(answer.failure)
    return answer.value


def function_sizes_with(version: int, text: str, decision: HuntedDecision) -> dict[str, int]:
    """Return the code size in bytes of each function of a module compiled with a version.

    Raises `subprocess.SubprocessError` or `OSError` if it crashes, hangs or cannot read the module.
    """
    with scratch_directory("versions") as name:
        path = Path(name) / "made.o"
        path.write_bytes(_compile_with(version, text, decision, code=True))
        return function_sizes(path)


def _compile_with(version: int, text: str, decision: HuntedDecision, *, code: bool) -> bytes:
    with scratch_directory("versions") as name:
        folder = Path(name)
        pipeline = decision.pipeline
        if version < MAJOR:
            text = _NEWER.sub(lambda match: " inbounds" if "inbounds" in match[0] else "", text)
            pipeline = pipeline.replace("<no-verify-fixpoint>", "")  # new in LLVM 18
        (folder / "f.ll").write_text(text, encoding="utf-8")
        pointers = [_POINTERS[version]] if version in _POINTERS else []
        ir = "made.bc" if code else "made.ll"
        command = [f"opt-{version}", *pointers, f"-passes={pipeline}", "f.ll", "-o", ir]
        _run_checked(command if code else [*command, "-S"], folder)
        if code:
            options = [f"--{option}" for option in decision.codegen]
            command = [f"llc-{version}", *pointers, "-filetype=obj", *options, ir, "-o", "made.o"]
            _run_checked(command, folder)
        return (folder / ("made.o" if code else ir)).read_bytes()


def _run_checked(command: list[str], folder: Path) -> None:
    subprocess.run(
        command, cwd=folder, check=True, capture_output=True, timeout=_SECONDS,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip


def _instructions_in(text: str) -> int:
    bodies = re.findall(r"^define .*?^}", text, re.MULTILINE | re.DOTALL)
    plain = re.sub(r"\[\n.*?\n  \]", "[]", "\n".join(bodies), flags=re.DOTALL)
    return len(_INSTRUCTION.findall(plain))


def explain_error(error: Exception) -> str:
    """Return a short reason for the failure of a version."""
    if isinstance(error, subprocess.TimeoutExpired):
        return f"no answer within {_SECONDS:g} s"
    if isinstance(error, subprocess.CalledProcessError):
        log = [line for line in error.stderr.decode(errors="replace").splitlines() if line.strip()]
        tool = str(error.cmd[0])
        if error.returncode < 0 or any("Stack dump" in line for line in log):
            return f"{tool} crashed"
        if any("may not occur within a group" in line or "Unknown command" in line for line in log):
            return f"{tool} has no such option"
        return f"{tool}: {log[0].rpartition('error: ')[2][:100] if log else error.returncode}"
    return str(error)[:100]


def describe_versions(sizes: Sequence[VersionSize] | Sequence[Mapping[str, object]]) -> str:
    """Return since when the optimisation is missed, and the largest regression of the level.

    >>> describe_versions([VersionSize(16, 10, 8), VersionSize(19, 12, 8)])
    'missed in every version that was tried (16, 19); regression from 16 (10) to 19 (12)'
    """
    rows = [row if isinstance(row, VersionSize) else VersionSize(**row) for row in sizes]  # pyright: ignore[reportArgumentType]  # from JSON
    usable = [row for row in rows if not row.failure]
    missed = [row for row in usable if row.is_missed]
    if not missed:
        return "no installed version shows it with its own tools"
    if len(missed) == len(usable):
        names = ", ".join(str(row.version) for row in usable)
        text = f"missed in every version that was tried ({names})"
    else:
        first = next(i for i, row in enumerate(usable) if row.is_missed)
        earlier = f", not in {usable[first - 1].version}" if first else ""
        text = f"missed since {usable[first].version}{earlier}"
        fixed = [row.version for row in usable[first:] if not row.is_missed]
        text += f"; not missed in {', '.join(map(str, fixed))}" if fixed else ""
    grew = [(old, new) for old, new in pairwise(usable) if new.level > old.level]
    if grew and usable[-1].level > min(row.level for row in usable):
        old, new = max(grew, key=lambda pair: pair[1].level - pair[0].level)
        text += f"; regression from {old.version} ({old.level:g}) to {new.version} ({new.level:g})"
    return text
