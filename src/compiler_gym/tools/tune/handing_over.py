# SPDX-License-Identifier: MIT
"""Write what a tuning found to the folder that the user takes: binaries, plans, scripts."""

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
"""The folder of the builds of fronts, with a plan and a script each."""
_LONGEST_NAME = 80
_SCRIPT = """#!/bin/sh
# Makes the tuned binaries again, with the compiler's own tools alone.
#
#   sh reproduce.sh [TREE [FOLDER]]
#
# TREE holds the sources, and what the build generates of them:
#
{build}
#
# FOLDER takes what is made [reproduced].
set -eu
unset CDPATH
ROOT=$(cd -- "${{1:-.}}" && pwd -P)
mkdir -p -- "${{2:-reproduced}}"
OUT=$(cd -- "${{2:-reproduced}}" && pwd -P)
HERE=$(cd -- "$(dirname -- "$0")" && pwd -P)
# The date that __DATE__ and __TIME__ give.
SOURCE_DATE_EPOCH={date}
export SOURCE_DATE_EPOCH
"""


@dataclass(frozen=True, slots=True)
class Result:
    """What was handed over for one binary."""

    found: Found
    binary: Binary
    sizes: Mapping[str, Mapping[str, int]]
    """Of every rival and of the tuned build, in bytes."""
    taken_back: tuple[str, ...]
    """Decisions that went back to the compiler's default because a test failed with them."""
    speed: Mapping[str, float] = field(default_factory=dict[str, float])
    """``speedup``, ``low`` and ``high`` against the fair rival, where a run was given."""

    def with_note(self, note: str) -> "Result":
        """Return it with one more sentence that the user should be told."""
        return replace(self, found=replace(self.found, notes=(*self.found.notes, note)))


@dataclass(frozen=True, slots=True)
class HandOver:
    """Writes the results of one tuning."""

    request: Request
    tuner: Tuner
    says: Callable[[str], None]
    """Is told when a step begins."""

    def write(self, results: Sequence[Result]) -> list[Result]:
        """Write everything; return `results` with notes on what there is not."""
        output = self.request.output
        debugged: set[str] = set()
        told: list[Result] = []
        for result in results:
            target = output / "bin" / result.binary.name
            _put_made(result.found.path, target)
            why_not = self._debug(result, target) if self.request.debug else None
            if why_not == "":
                debugged.add(result.binary.name)
            told.append(result.with_note(why_not) if why_not else result)
            for build in result.found.front:
                _put_made(build.path, output / FRONT / build.name / result.binary.name)
                self._write(output / FRONT, build.name, [(result.binary, build.plan)])
        made = [(result.binary, result.found.plan) for result in results]
        self._write(output, Path(PLAN_FILE).stem, made, script="reproduce", debugged=debugged)
        return told

    def _write(
        self,
        folder: Path,
        name: str,
        made: Sequence[tuple[Binary, BinaryPlan]],
        *,
        script: str = "",
        debugged: Collection[str] = (),
    ) -> None:
        """Write one plan to `folder`, with its profiles and the script that does the same.

        The script makes debug information, too, for the binaries that are `debugged`.
        """
        build = shell_comment(shlex.join(self.request.build))
        date = shlex.quote(build_variables()["SOURCE_DATE_EPOCH"])
        lines, plans = [_SCRIPT.format(build=build, date=date)], list[BinaryPlan]()
        for binary, decided in made:
            plan = _with_profiles(decided, folder)
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
        """Put debug information beside `target`; return why not, or nothing."""
        self.says(f"building {result.binary.name} with debug information")
        jobs = self.request.jobs or 1
        return write_debug(self.tuner, result.binary, result.found.plan, target, jobs)


def folder_name(name: str) -> str:
    """Return the folder of a linked file: no two have one, whatever they are called.

    >>> folder_name("a/b_c") == folder_name("a_b/c")
    False
    """
    plain = re.sub(r"[^\w.+-]", "_", name, flags=re.ASCII).lstrip("-.")[-_LONGEST_NAME:]
    return f"{plain}-{hashlib.sha256(os.fsencode(name)).hexdigest()[:12]}"


def name_builds(binary: Binary, front: Sequence[FrontBuild]) -> tuple[FrontBuild, ...]:
    """Return `front` with names that say of which binary it is: fronts lie in one folder."""
    prefix = folder_name(binary.name)
    return tuple(replace(build, name=f"{prefix}-{build.name}") for build in front)


def _put_made(path: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    put(path, target)


def _with_profiles(plan: BinaryPlan, folder: Path) -> BinaryPlan:
    """Return `plan` with its profiles, if it has some, kept in `folder`.

    Each is named by its contents, as the plans of a front share some.
    """
    names: dict[str, str] = {}
    for field_name, kept in plan.list_files().items():
        data = Path(kept).read_bytes()
        digest = hashlib.sha256(data).hexdigest()[:8]
        name = f"{folder_name(plan.name)}-{digest}{Path(kept).suffix}"
        names[field_name] = f"{PROFILES}/{name}"
        write_whole(folder / PROFILES / name, data)
    return replace(plan, **names)
