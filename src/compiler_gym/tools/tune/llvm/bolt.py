# SPDX-License-Identifier: MIT
"""Lay out the linked file again by BOLT, as a run of it says.

The run is of an instrumented file: sampling is closed in most containers.
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
    """Return `plan` laid out by BOLT as a run of `by` says; None, with a note, where it fails."""
    folder = linker.folder / _FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    profile, counted = folder / "program.fdata", folder / Path(linker.binary.name).name
    raw = folder / "raw"
    try:
        tool = require_tool("llvm-bolt", "to lay out the linked file", error=ProjectError)
        linked = link_for_bolt(linker, plan)
        run(
            [tool, str(linked), "-instrument", "-instrumentation-file-append-pid",
             f"-instrumentation-file={raw}", "-o", str(counted)],
            folder,
        )  # fmt: skip
        ended = by.run(counted)
        made = sorted(folder.glob("raw*"))
        if by.has_failed(ended) or not made:
            raise ProjectError(
                f"{by.text} ended with status {ended.status} when BOLT counted, and left "
                f"{len(made)} profiles"
            )
        _merge(made, profile)
        laid = replace(plan, after=(BOLT,), after_profile=str(profile))
        build_plan(linker, laid)
    except ProjectError as error:
        notes.append(f"no layout by BOLT: {_reason(str(error))}")
        return None
    return laid


def layouts_in(folder: Path) -> list[str]:
    """Return where a tuning that writes to `folder` puts what BOLT counted."""
    return [str(folder / _FOLDER / "program.fdata")]


def _merge(files: Sequence[Path], output: Path) -> None:
    if len(files) == 1:
        files[0].replace(output)
        return
    tool = require_tool("merge-fdata", "to join runs for BOLT", error=ProjectError)
    run([tool, *map(str, files), "-o", str(output)], output.parent)


def _reason(said: str) -> str:
    """Return the line in which BOLT says what it refuses, or the end of what was said."""
    lines = [line for line in said.splitlines() if "BOLT-ERROR" in line]
    return lines[0] if lines else said[-_SHOWN:]
