# SPDX-License-Identifier: MIT
"""Write the results of a tuning to the output folder: binaries, plans and scripts."""

import hashlib
import os
import re
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from compiler_gym.files import write_whole
from compiler_gym.sandbox import build_variables
from compiler_gym.tools.tune.builds import Binary, shell_comment
from compiler_gym.tools.tune.debugging import debug_script, write_debug
from compiler_gym.tools.tune.front import FrontBuild
from compiler_gym.tools.tune.measuring import put
from compiler_gym.tools.tune.plan import PLAN_FILE, BinaryPlan, BuildPlan, write_plan
from compiler_gym.tools.tune.reading import PROFILES
from compiler_gym.tools.tune.request import Request
from compiler_gym.tools.tune.tuner import Found, Tuner
from compiler_gym.version import __version__

__all__ = ["FRONT", "HandOver", "Result", "folder_name", "name_builds"]

FRONT = "front"
"""The folder for the builds of fronts, each with a plan and a script."""
_LONGEST_NAME = 80
_SCRIPT = """#!/bin/sh
# Rebuilds the tuned binaries with the compiler's own tools.
#
#   sh reproduce.sh [TREE [FOLDER]]
#
# TREE contains the sources and the files that the build generates:
#
{build}
#
# FOLDER is the output folder [reproduced].
set -eu
unset CDPATH
ROOT=$(cd -- "${{1:-.}}" && pwd -P)
mkdir -p -- "${{2:-reproduced}}"
OUT=$(cd -- "${{2:-reproduced}}" && pwd -P)
HERE=$(cd -- "$(dirname -- "$0")" && pwd -P)
# The value of __DATE__ and __TIME__.
SOURCE_DATE_EPOCH={date}
export SOURCE_DATE_EPOCH
"""


@dataclass(frozen=True, slots=True)
class Result:
    """The result for one binary."""

    found: Found
    binary: Binary
    sizes: Mapping[str, Mapping[str, int]]
    """The sizes of every rival and of the tuned build, in bytes."""
    taken_back: tuple[str, ...]
    """Decisions that were reverted because a test failed with them."""
    speed: Mapping[str, float] = field(default_factory=dict[str, float])
    """``speedup``, ``low`` and ``high`` against the baseline, if there was a run."""

    def with_note(self, note: str) -> "Result":
        """Return the result with one more remark for the user."""
        return replace(self, found=replace(self.found, notes=(*self.found.notes, note)))


@dataclass(frozen=True, slots=True)
class HandOver:
    """A writer for the results of one tuning."""

    request: Request
    tuner: Tuner
    says: Callable[[str], None]
    """Called with a description when a step begins."""

    def write(self, results: Sequence[Result]) -> list[Result]:
        """Write everything; return `results` with notes about missing files."""
        output = self.request.output
        debugged: set[str] = set()
        written: list[Result] = []
        for result in results:
            target = output / "bin" / result.binary.name
            _put_made(result.found.path, target)
            reason = self._debug(result, target) if self.request.debug else None
            if reason == "":
                debugged.add(result.binary.name)
            written.append(result.with_note(reason) if reason else result)
            for build in result.found.front:
                _put_made(build.path, output / FRONT / build.name / result.binary.name)
                self._write(output / FRONT, build.name, [(result.binary, build.plan)])
        decided = [(result.binary, result.found.plan) for result in results]
        self._write(output, Path(PLAN_FILE).stem, decided, script="reproduce", debugged=debugged)
        return written

    def _write(
        self,
        folder: Path,
        name: str,
        made: Sequence[tuple[Binary, BinaryPlan]],
        *,
        script: str = "",
        debugged: Collection[str] = (),
    ) -> None:
        """Write one plan to `folder`, with its profiles and a script that applies it.

        The script also produces debug information for the binaries in `debugged`.
        """
        build = shell_comment(shlex.join(self.request.build))
        date = shlex.quote(build_variables()["SOURCE_DATE_EPOCH"])
        lines, plans = [_SCRIPT.format(build=build, date=date)], list[BinaryPlan]()
        for binary, unbound in made:
            plan = _with_profiles(unbound, folder)
            plans.append(plan)
            if binary.name in debugged:
                lines.append(debug_script(self.tuner, binary, plan))
            else:
                lines.append(self.tuner.script(binary, plan))
        write_plan(
            folder / f"{name}.toml",
            BuildPlan(
                self.tuner.version,
                self.request.goal,
                __version__,
                tuple(plans),
                measure=self.request.measure,
            ),
        )
        path = folder / f"{script or name}.sh"
        write_whole(path, "\n".join(lines).encode(errors="surrogateescape"))
        path.chmod(0o755)

    def _debug(self, result: Result, target: Path) -> str:
        """Write debug information next to `target`; return the reason if that fails, or nothing."""
        self.says(f"building {result.binary.name} with debug information")
        jobs = self.request.jobs or 1
        return write_debug(self.tuner, result.binary, result.found.plan, target, jobs)


def folder_name(name: str) -> str:
    """Return a folder name for a linked file that is unique to its path.

    >>> folder_name("a/b_c") == folder_name("a_b/c")
    False
    """
    plain = re.sub(r"[^\w.+-]", "_", name, flags=re.ASCII).lstrip("-.")[-_LONGEST_NAME:]
    return f"{plain}-{hashlib.sha256(os.fsencode(name)).hexdigest()[:12]}"


def name_builds(binary: Binary, front: Sequence[FrontBuild]) -> tuple[FrontBuild, ...]:
    """Return `front` with the binary in each name, as all fronts share one folder."""
    prefix = folder_name(binary.name)
    return tuple(replace(build, name=f"{prefix}-{build.name}") for build in front)


def _put_made(path: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    put(path, target)


def _with_profiles(plan: BinaryPlan, folder: Path) -> BinaryPlan:
    """Copy the profiles of `plan` to `folder`, and return the plan with the new paths.

    Files are named by their contents, because the plans of a front share some.
    """
    names: dict[str, str] = {}
    for field_name, path in plan.list_files().items():
        data = Path(path).read_bytes()
        digest = hashlib.sha256(data).hexdigest()[:8]
        name = f"{folder_name(plan.name)}-{digest}{Path(path).suffix}"
        names[field_name] = f"{PROFILES}/{name}"
        write_whole(folder / PROFILES / name, data)
    return replace(plan, **names)
