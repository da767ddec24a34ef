# SPDX-License-Identifier: MIT
"""From a plan that clang's own link-time optimisation carries out to its binary."""

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
"""What a plan says where llvm-bolt lays out the linked file."""
RELOCATIONS = "-Wl,--emit-relocs"
"""What lets it move functions; it leaves them out of what it writes."""
_BOLT = (
    "-reorder-blocks=ext-tsp", "-reorder-functions=cdsort", "-split-functions", "-split-all-cold",
    "-split-eh", "-no-huge-pages", "-use-old-text", "-remove-symtab", "-bolt-info=0",
)  # fmt: skip
"""Fixed, so that a plan need not carry options. Pages are small, because huge ones make a file of
some kB one of 6 MB; BOLT removes the symbols itself, because GNU strip breaks what it wrote."""


def build_plan(linker: Linker, plan: BinaryPlan) -> Path:
    """Return the stripped binary of `plan`.

    Objects are compiled again only for other flags. Raises `ProjectError` where it fails.
    """
    for kept in plan.list_files().values():
        if not Path(kept).is_file():
            raise ProjectError(
                f"{kept} is missing, which {plan.name} is built with: keep the folder "
                "profiles beside the plan"
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
    """Return those of `plans` that build, with their stripped binaries.

    Sources are compiled once for all plans that compile them alike.
    """
    made: dict[str, Mapping[Unit, Path]] = {}
    for flags in map(link_time_flags, plans):
        if _short(flags) not in made:
            with contextlib.suppress(ProjectError):
                made[_short(flags)] = linker.compile(f"known-{_short(flags)}-o", flags)

    def link(plan: BinaryPlan) -> Path | None:
        flags = link_time_flags(plan)
        words = [*flags, *late_flags(plan)]
        with contextlib.suppress(ProjectError, KeyError):
            return linker.link(f"known-{_short(words)}", made[_short(flags)], words)
        return None

    with ThreadPoolExecutor(linker.jobs) as pool:
        linked = list(pool.map(link, plans))
    return [(plan, path) for plan, path in zip(plans, linked, strict=True) if path is not None]


def link_for_bolt(linker: Linker, plan: BinaryPlan) -> Path:
    """Return the binary of `plan` before BOLT, with symbols and relocations."""
    return _link(linker, plan, (*late_flags(plan), RELOCATIONS), strip=False)


def bolt_words(tool: str, linked: Path, profile: str, output: Path) -> list[str]:
    """Return the command that lays out the file `linked` as `profile` says."""
    return [tool, str(linked), f"-data={profile}", *_BOLT, "-o", str(output)]


def _link(linker: Linker, plan: BinaryPlan, words: Sequence[str], *, strip: bool = True) -> Path:
    flags = link_time_flags(plan)
    made = linker.compile(f"fast-{_short(flags)}-o", flags)
    return linker.link(f"fast-{_short([*flags, *words])}", made, [*flags, *words], strip=strip)


def _short(words: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(words).encode()).hexdigest()[:12]
