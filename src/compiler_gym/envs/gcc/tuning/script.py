# SPDX-License-Identifier: MIT
"""A plan as a shell script of GCC's commands: no part of this library."""

from pathlib import Path

from compiler_gym.builds import Binary, shell_comment, shell_text
from compiler_gym.envs.gcc.tuning.making import Step, Tools, steps_of
from compiler_gym.tuning import BinaryPlan

__all__ = ["script_of"]

_OUT = "/@OUT@"
"""Stands for the folder of what is made until all words are quoted."""


def script_of(tools: Tools, binary: Binary, plan: BinaryPlan) -> str:
    """Return the script for one binary: commands of a shell that know ROOT and OUT."""
    out = Path(_OUT)
    folder, target = out / "made" / binary.name, out / binary.name
    objects = {unit: folder / f"{n}-{unit.path.stem}.o" for n, unit in enumerate(binary.units)}
    steps = steps_of(tools, binary, plan.flags, plan.linker, objects, folder=folder, output=target)
    lines = [
        shell_comment(binary.name),
        shell_text(["rm", "-rf", str(folder)], _folders(binary)),
        shell_text(["mkdir", "-p", str(folder), str(target.parent)], _folders(binary)),
        *(_line(step, binary) for step in (*steps.compile.values(), *steps.archive, steps.link)),
        shell_text(["printf", "%s\\n", str(target)], _folders(binary)),
    ]
    return "\n".join([*lines, ""])


def _line(step: Step, binary: Binary) -> str:
    folders = _folders(binary)
    return f"(cd {shell_text([str(step.cwd)], folders)} && {shell_text(step.words, folders)})"


def _folders(binary: Binary) -> dict[str, str]:
    return {str(binary.root): "ROOT", _OUT: "OUT"}
