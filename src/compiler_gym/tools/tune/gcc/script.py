# SPDX-License-Identifier: MIT
"""Write a plan as a shell script of GCC commands, without this library."""

from pathlib import Path

from compiler_gym.tools.tune import BinaryPlan
from compiler_gym.tools.tune.builds import Binary, Step, name_objects, shell_comment, shell_text
from compiler_gym.tools.tune.gcc.making import Tools, build_steps, list_flags
from compiler_gym.tools.tune.gcc.profiling import profile_flags

__all__ = ["write_script"]

_OUT = "/@OUT@"
"""Placeholder for the output folder until all arguments are quoted."""
_HERE = "/@HERE@"
"""Placeholder for the script's folder."""


def write_script(tools: Tools, binary: Binary, plan: BinaryPlan) -> str:
    """Return shell commands that build one binary, using the variables ROOT, OUT and HERE."""
    out = Path(_OUT)
    folder, target = out / "made" / binary.name, out / binary.name
    counts = folder / "profile"
    objects = name_objects(binary, folder)
    flags = [*list_flags(plan), *(profile_flags(counts) if plan.profile else ())]
    steps = build_steps(tools, binary, flags, plan.linker, objects, folder=folder, output=target)
    new_folders = [str(path.parent) for path in (*objects.values(), target)]
    profile = list[list[str]]()
    if plan.profile:
        new_folders.append(str(counts))
        profile = [["tar", "-xf", f"{_HERE}/{plan.profile}", "-C", str(counts)]]
    lines = [
        shell_comment(binary.name),
        shell_text(["rm", "-rf", str(folder)], _folders(binary)),
        shell_text(["mkdir", "-p", *new_folders], _folders(binary)),
        *(shell_text(words, _folders(binary)) for words in profile),
        *(_line(step, binary) for step in (*steps.compile.values(), *steps.archive, steps.link)),
        shell_text(["printf", "%s\\n", str(target)], _folders(binary)),
    ]
    return "\n".join([*lines, ""])


def _line(step: Step, binary: Binary) -> str:
    folders = _folders(binary)
    return f"(cd {shell_text([str(step.cwd)], folders)} && {shell_text(step.words, folders)})"


def _folders(binary: Binary) -> dict[str, str]:
    return {str(binary.root): "ROOT", _OUT: "OUT", _HERE: "HERE"}
