# SPDX-License-Identifier: MIT
"""Build the binaries of plans that use clang's own link-time optimisation."""

import contextlib
import hashlib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from compiler_gym.envs.llvm.toolchain import require_tool
from compiler_gym.errors import ProjectError
from compiler_gym.tools.tune import BinaryPlan
from compiler_gym.tools.tune.builds import Unit
from compiler_gym.tools.tune.llvm.linking import Linker, late_flags, link_time_flags, run

__all__ = ["BOLT", "RELOCATIONS", "bolt_words", "build_plan", "build_plans", "link_for_bolt"]

BOLT = "bolt"
"""Step of a plan that runs llvm-bolt to lay out the linked file."""
RELOCATIONS = "-Wl,--emit-relocs"
"""Keeps relocations so that BOLT can move functions; BOLT removes them from its output."""
_BOLT = (
    "-reorder-blocks=ext-tsp", "-reorder-functions=cdsort", "-split-functions", "-split-all-cold",
    "-split-eh", "-no-huge-pages", "-use-old-text", "-remove-symtab", "-bolt-info=0",
)  # fmt: skip
"""Fixed options, so that plans need none. Huge pages would turn a file of a few kB into one of
6 MB. BOLT removes the symbols itself, because GNU strip breaks its output."""


def build_plan(linker: Linker, plan: BinaryPlan) -> Path:
    """Return the stripped binary of `plan`.

    Objects are recompiled only if the flags differ. Raises `ProjectError` if the build fails.
    """
    for path in plan.list_files().values():
        if not Path(path).is_file():
            raise ProjectError(
                f"{path} is missing, but {plan.name} is built with it; keep the folder 'profiles' "
                "next to the plan"
            )
    if BOLT not in plan.after:
        return _link(linker, plan, late_flags(plan))
    tool = require_tool("llvm-bolt", f"to lay out {plan.name}", error=ProjectError)
    linked = link_for_bolt(linker, plan)
    output = linked.parent / "laid" / linked.name
    output.parent.mkdir(exist_ok=True)
    run(bolt_words(tool, linked, plan.after_profile, output), output.parent)
    return output


def build_plans(linker: Linker, plans: Sequence[BinaryPlan]) -> list[tuple[BinaryPlan, Path]]:
    """Return the plans that build, each with its stripped binary.

    Plans with the same compiler flags share their objects.
    """
    objects: dict[str, Mapping[Unit, Path]] = {}
    for flags in map(link_time_flags, plans):
        if _short(flags) not in objects:
            with contextlib.suppress(ProjectError):
                objects[_short(flags)] = linker.compile(f"known-{_short(flags)}-o", flags)

    def link(plan: BinaryPlan) -> Path | None:
        flags = link_time_flags(plan)
        words = [*flags, *late_flags(plan)]
        with contextlib.suppress(ProjectError, KeyError):
            return linker.link(f"known-{_short(words)}", objects[_short(flags)], words)
        return None

    with ThreadPoolExecutor(linker.jobs) as pool:
        linked = list(pool.map(link, plans))
    return [(plan, path) for plan, path in zip(plans, linked, strict=True) if path is not None]


def link_for_bolt(linker: Linker, plan: BinaryPlan) -> Path:
    """Return the binary of `plan` before BOLT, with symbols and relocations."""
    return _link(linker, plan, (*late_flags(plan), RELOCATIONS), strip=False)


def bolt_words(tool: str, linked: Path, profile: str, output: Path) -> list[str]:
    """Return the llvm-bolt command that lays out the file `linked` using `profile`."""
    return [tool, str(linked), f"-data={profile}", *_BOLT, "-o", str(output)]


def _link(linker: Linker, plan: BinaryPlan, extra: Sequence[str], *, strip: bool = True) -> Path:
    flags = link_time_flags(plan)
    objects = linker.compile(f"fast-{_short(flags)}-o", flags)
    return linker.link(f"fast-{_short([*flags, *extra])}", objects, [*flags, *extra], strip=strip)


def _short(arguments: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(arguments).encode()).hexdigest()[:12]
