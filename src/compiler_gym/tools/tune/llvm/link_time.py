# SPDX-License-Identifier: MIT
"""Build the binaries of plans that use clang's own link-time optimisation."""

import contextlib
import hashlib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from compiler_gym.errors import ProjectError
from compiler_gym.tools.tune import BinaryPlan
from compiler_gym.tools.tune.builds import Unit
from compiler_gym.tools.tune.llvm.linking import Linker, late_flags, link_time_flags


def build_plan(linker: Linker, plan: BinaryPlan) -> Path:
    """Return the stripped binary of `plan`.

    Objects are recompiled only if the flags differ. Raises `ProjectError` if the build fails.
    """
    if plan.profile and not Path(plan.profile).is_file():
        raise ProjectError(
            f"{plan.profile} is missing, but {plan.name} is built with it; keep the folder "
            "'profiles' next to the plan"
        )
    flags, extra = link_time_flags(plan), late_flags(plan)
    objects = linker.compile(f"fast-{_short(flags)}-o", flags)
    return linker.link(f"fast-{_short([*flags, *extra])}", objects, [*flags, *extra])


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


def _short(arguments: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(arguments).encode()).hexdigest()[:12]
