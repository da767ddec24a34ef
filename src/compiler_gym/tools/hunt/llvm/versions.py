# SPDX-License-Identifier: MIT
"""What other versions of LLVM make of the same function: since when something is missed.

Uses the ``opt`` and ``llc`` of every version that is installed under Debian's names. A version that
crashes, hangs or cannot read the program is a row, too.
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
from compiler_gym.tools.hunt.llvm.decisions import HuntedDecision, HuntGoal
from compiler_gym.tools.hunt.llvm.engine import Engine

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
"""What text of today may say and older versions cannot read: none of it is an instruction."""
_POINTERS = {13: "--force-opaque-pointers", 14: "--opaque-pointers"}
_INSTRUCTION = re.compile(r"^  (?!\s)\S", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class VersionSize:
    """What one version leaves of a function."""

    version: int
    level: float = 0
    decided: float = 0
    failure: str = ""

    @property
    def is_missed(self) -> bool:
        """True if the decision leaves less here."""
        return not self.failure and self.decided < self.level


@cache
def list_versions() -> tuple[int, ...]:
    """Return the versions whose ``opt`` and ``llc`` are installed, the oldest first."""
    numbers = range(_OLDEST, MAJOR + 1)
    return tuple(
        one for one in numbers if shutil.which(f"opt-{one}") and shutil.which(f"llc-{one}")
    )


def sizes_by_version(
    engine: Engine, text: str, decision: str, goal: str, versions: Sequence[int] | None = None
) -> list[VersionSize]:
    """Return what each installed version leaves of a function by the level and by the decision.

    Cycles are those of its passes: code generator and model are the engine's own.
    """
    chosen = HuntedDecision.read(decision)
    level = HuntedDecision((HuntGoal(goal).level,))
    found: list[VersionSize] = []
    for version in list_versions() if versions is None else versions:
        try:
            before, after = (
                _cost_with(engine, version, text, one, HuntGoal(goal)) for one in (level, chosen)
            )
            found.append(VersionSize(version, before, after))
        except (subprocess.SubprocessError, OSError, ProjectError) as error:
            found.append(VersionSize(version, failure=explain_error(error)))
    return found


def _cost_with(
    engine: Engine, version: int, text: str, decision: HuntedDecision, goal: HuntGoal
) -> float:
    if goal is HuntGoal.SIZE:
        return sum(function_sizes_with(version, text, decision).values())
    made = _make_with(version, text, decision, code=False)
    if goal is HuntGoal.INSTRUCTIONS:
        return _instructions_in(made.decode())
    answer = engine.ask("estimate_cycles", made, [*decision.codegen])
    if answer.failure:
        raise ProjectError(answer.failure)
    return answer.value


def function_sizes_with(version: int, text: str, decision: HuntedDecision) -> dict[str, int]:
    """Return the bytes of code that a version makes of each function of a module.

    Raises `subprocess.SubprocessError` or `OSError` where it crashes, hangs or cannot read it.
    """
    with scratch_directory("versions") as name:
        path = Path(name) / "made.o"
        path.write_bytes(_make_with(version, text, decision, code=True))
        return function_sizes(path)


def _make_with(version: int, text: str, decision: HuntedDecision, *, code: bool) -> bytes:
    with scratch_directory("versions") as name:
        folder = Path(name)
        pipeline = decision.pipeline
        if version < MAJOR:
            text = _NEWER.sub(lambda match: " inbounds" if "inbounds" in match[0] else "", text)
            pipeline = pipeline.replace("<no-verify-fixpoint>", "")  # LLVM 18 brought it
        (folder / "f.ll").write_text(text, encoding="utf-8")
        pointers = [_POINTERS[version]] if version in _POINTERS else []
        made = "made.bc" if code else "made.ll"
        words = [f"opt-{version}", *pointers, f"-passes={pipeline}", "f.ll", "-o", made]
        _run_checked(words if code else [*words, "-S"], folder)
        if code:
            options = [f"--{one}" for one in decision.codegen]
            words = [f"llc-{version}", *pointers, "-filetype=obj", *options, made, "-o", "made.o"]
            _run_checked(words, folder)
        return (folder / ("made.o" if code else made)).read_bytes()


def _run_checked(words: list[str], folder: Path) -> None:
    subprocess.run(
        words, cwd=folder, check=True, capture_output=True, timeout=_SECONDS,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip


def _instructions_in(text: str) -> int:
    bodies = re.findall(r"^define .*?^}", text, re.MULTILINE | re.DOTALL)
    plain = re.sub(r"\[\n.*?\n  \]", "[]", "\n".join(bodies), flags=re.DOTALL)
    return len(_INSTRUCTION.findall(plain))


def explain_error(error: Exception) -> str:
    """Return why a version did not do it, in a few words."""
    if isinstance(error, subprocess.TimeoutExpired):
        return f"no answer within {_SECONDS:g} s"
    if isinstance(error, subprocess.CalledProcessError):
        said = [line for line in error.stderr.decode(errors="replace").splitlines() if line.strip()]
        tool = str(error.cmd[0])
        if error.returncode < 0 or any("Stack dump" in line for line in said):
            return f"{tool} crashed"
        if any(
            "may not occur within a group" in line or "Unknown command" in line for line in said
        ):
            return f"{tool} has no such option"
        return f"{tool}: {said[0].rpartition('error: ')[2][:100] if said else error.returncode}"
    return str(error)[:100]


def describe_versions(sizes: Sequence[VersionSize] | Sequence[Mapping[str, object]]) -> str:
    """Return since when the decision leaves less, or from which version the level leaves more.

    >>> describe_versions([VersionSize(16, 10, 8), VersionSize(19, 12, 8)])
    'missed in every version that was tried (16, 19); regression from 16 (10) to 19 (12)'
    """
    rows = [one if isinstance(one, VersionSize) else VersionSize(**one) for one in sizes]  # pyright: ignore[reportArgumentType]  # from JSON
    read = [one for one in rows if not one.failure]
    missed = [one for one in read if one.is_missed]
    if not missed:
        return "no installed version shows it with its own tools"
    if len(missed) == len(read):
        names = ", ".join(str(one.version) for one in read)
        said = f"missed in every version that was tried ({names})"
    else:
        first = next(i for i, one in enumerate(read) if one.is_missed)
        before = f", not in {read[first - 1].version}" if first else ""
        said = f"missed since {read[first].version}{before}"
        gone = [one.version for one in read[first:] if not one.is_missed]
        said += f"; not missed in {', '.join(map(str, gone))}" if gone else ""
    grew = [(old, new) for old, new in pairwise(read) if new.level > old.level]
    if grew and read[-1].level > min(one.level for one in read):
        old, new = max(grew, key=lambda pair: pair[1].level - pair[0].level)
        said += f"; regression from {old.version} ({old.level:g}) to {new.version} ({new.level:g})"
    return said
