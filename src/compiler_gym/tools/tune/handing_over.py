# SPDX-License-Identifier: MIT
"""Write the results of a tuning to the output folder: binaries, plans, scripts and debug files.

For debug information, a plan is built once more with ``-g``. The code must be the same as that of
the tested binary; if debug information changes it, no debug file is written.
"""

import hashlib
import os
import re
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from compiler_gym.builds import read_code
from compiler_gym.errors import ProjectError
from compiler_gym.files import scratch_directory, write_whole
from compiler_gym.sandbox import build_variables
from compiler_gym.tools.tune.builds import (
    Binary,
    debug_name,
    run_command,
    shell_comment,
    shell_text,
    split_commands,
    with_debug,
)
from compiler_gym.tools.tune.plan import PLAN_FILE, BinaryPlan, BuildPlan, write_plan
from compiler_gym.tools.tune.reading import PROFILES
from compiler_gym.tools.tune.request import Request
from compiler_gym.tools.tune.runs import put
from compiler_gym.tools.tune.tuner import Found, Tuner
from compiler_gym.version import __version__

_OUT = "/@OUT@"
"""A placeholder for the output folder of the script until all arguments are quoted."""
_LONGEST_NAME = 80
_SCRIPT = """#!/bin/sh
# Rebuilds the tuned binaries with the compiler's own tools.
#
#   sh reproduce.sh [--plain] [TREE [FOLDER]]
#
# --plain leaves out the compiler's plug-ins, so the programs work the same but may be larger.
# TREE contains the sources and the files that the build generates:
#
{build}
#
# FOLDER is the output folder [reproduced].
set -eu
unset CDPATH
PLAIN=
if [ "${{1:-}}" = --plain ]; then
  PLAIN=yes
  shift
fi
ROOT=$(cd -- "${{1:-.}}" && pwd -P)
mkdir -p -- "${{2:-reproduced}}"
OUT=$(cd -- "${{2:-reproduced}}" && pwd -P)
HERE=$(cd -- "$(dirname -- "$0")" && pwd -P)
# The value of __DATE__ and __TIME__.
SOURCE_DATE_EPOCH={date}
export SOURCE_DATE_EPOCH
"""


def write_debug(tuner: Tuner, binary: Binary, plan: BinaryPlan, target: Path, jobs: int) -> str:
    """Write the debug file of `target`, built with `plan`; return the reason if that fails."""
    with scratch_directory("tuning") as folder:
        scratch = Path(folder)
        stripped = scratch / target.name
        try:
            built = tuner.build(with_debug(binary), plan, scratch / "built", jobs=jobs)
            if read_code(built) != read_code(target):
                return (
                    f"{binary.name} has no debug file: -g would change its code, which was tested "
                    "without -g"
                )
            for words in split_commands(built, stripped):
                run_command(words, scratch)
        except ProjectError as error:
            return f"{binary.name} has no debug file: {error}"
        put(Path(debug_name(str(stripped))), Path(debug_name(str(target))))
        put(stripped, target)
    return ""


def debug_script(tuner: Tuner, binary: Binary, plan: BinaryPlan) -> str:
    """Return the script lines that produce both files; see `Tuner.script`."""
    path = Path(_OUT) / binary.name
    lines = [shell_text(words, {_OUT: "OUT"}) for words in split_commands(path, path)]
    return "\n".join([tuner.script(with_debug(binary), plan), *lines, ""])


@dataclass(frozen=True, slots=True)
class Result:
    """The result for one binary."""

    found: Found
    binary: Binary
    sizes: Mapping[str, Mapping[str, int]]
    """The sizes of every rival and of the tuned build, in bytes."""

    @property
    def taken_back(self) -> tuple[str, ...]:
        """Decisions that were reverted because a test failed with them."""
        return self.found.taken_back

    @property
    def speed(self) -> Mapping[str, float]:
        """``speedup``, ``low`` and ``high`` against the baseline, if there was a run."""
        return self.found.speed

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
            target.parent.mkdir(parents=True, exist_ok=True)
            put(result.found.path, target)
            reason = self._debug(result, target) if self.request.debug else None
            if reason == "":
                debugged.add(result.binary.name)
            written.append(result.with_note(reason) if reason else result)
        self._write_plan(output, results, debugged)
        return written

    def _write_plan(
        self, folder: Path, results: Sequence[Result], debugged: Collection[str]
    ) -> None:
        """Write the plan with its profiles, and a script that applies it.

        The script also produces debug information for the binaries in `debugged`.
        """
        build = shell_comment(shlex.join(self.request.build))
        date = shlex.quote(build_variables()["SOURCE_DATE_EPOCH"])
        lines, plans = [_SCRIPT.format(build=build, date=date)], list[BinaryPlan]()
        for result in results:
            plan = _with_profile(result.found.plan, folder)
            plans.append(plan)
            self.tuner.write_companions(plan, folder)
            if result.binary.name in debugged:
                lines.append(debug_script(self.tuner, result.binary, plan))
            else:
                lines.append(self.tuner.script(result.binary, plan))
        write_plan(
            folder / PLAN_FILE,
            BuildPlan(
                self.tuner.version,
                self.request.goal,
                __version__,
                tuple(plans),
                measure=self.request.measure,
            ),
        )
        path = folder / "reproduce.sh"
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


def _with_profile(plan: BinaryPlan, folder: Path) -> BinaryPlan:
    """Copy the profile of `plan` to `folder`, and return the plan with the new path."""
    if not plan.profile:
        return plan
    name = f"{PROFILES}/{folder_name(plan.name)}{Path(plan.profile).suffix}"
    write_whole(folder / name, Path(plan.profile).read_bytes())
    return replace(plan, profile=name)
