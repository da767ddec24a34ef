# SPDX-License-Identifier: MIT
"""Lay out the linked file with BOLT, using a profile of a run.

The profile comes from an instrumented file, because most containers do not allow sampling.
"""

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from compiler_gym.envs.llvm.toolchain import require_tool
from compiler_gym.errors import ProjectError
from compiler_gym.tools.tune import BinaryPlan, RunCommand
from compiler_gym.tools.tune.llvm.link_time import BOLT, build_plan, link_for_bolt
from compiler_gym.tools.tune.llvm.linking import Linker, run

__all__ = ["layouts_in", "with_layout"]

_FOLDER = "layout"
_SHOWN = 300


def with_layout(
    linker: Linker, plan: BinaryPlan, by: RunCommand, notes: list[str]
) -> BinaryPlan | None:
    """Return `plan` with a BOLT layout from a run of `by`, or None with a note if that fails."""
    folder = linker.folder / _FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    profile, instrumented = folder / "program.fdata", folder / Path(linker.binary.name).name
    raw = folder / "raw"
    try:
        tool = require_tool("llvm-bolt", "to lay out the linked file", error=ProjectError)
        linked = link_for_bolt(linker, plan)
        run(
            [tool, str(linked), "-instrument", "-instrumentation-file-append-pid",
             f"-instrumentation-file={raw}", "-o", str(instrumented)],
            folder,
        )  # fmt: skip
        outcome = by.run(instrumented)
        profiles = sorted(folder.glob("raw*"))
        if by.has_failed(outcome) or not profiles:
            raise ProjectError(
                f"{by.text} exited with status {outcome.status} under BOLT's instrumentation and "
                f"wrote {len(profiles)} profiles"
            )
        _merge(profiles, profile)
        laid_out = replace(plan, after=(BOLT,), after_profile=str(profile))
        build_plan(linker, laid_out)
    except ProjectError as error:
        notes.append(f"no layout by BOLT: {_reason(str(error))}")
        return None
    return laid_out


def layouts_in(folder: Path) -> list[str]:
    """Return the paths of the BOLT profiles that a tuning run writes to `folder`."""
    return [str(folder / _FOLDER / "program.fdata")]


def _merge(files: Sequence[Path], output: Path) -> None:
    if len(files) == 1:
        files[0].replace(output)
        return
    tool = require_tool("merge-fdata", "to join runs for BOLT", error=ProjectError)
    run([tool, *map(str, files), "-o", str(output)], output.parent)


def _reason(output: str) -> str:
    """Return the first error line of BOLT's output, or the end of the output."""
    lines = [line for line in output.splitlines() if "BOLT-ERROR" in line]
    return lines[0] if lines else output[-_SHOWN:]
