# SPDX-License-Identifier: MIT
"""Tune one binary by runs of the user's: for speed, or for both speed and size."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from compiler_gym.builds import sizes_of
from compiler_gym.envs.llvm.tuning.bolt import layouts_in
from compiler_gym.envs.llvm.tuning.both import search_front
from compiler_gym.envs.llvm.tuning.choices import plan_of
from compiler_gym.envs.llvm.tuning.link_time import build_plan
from compiler_gym.envs.llvm.tuning.linking import FAST, FOLDING, Linker
from compiler_gym.envs.llvm.tuning.possible import require_possible
from compiler_gym.envs.llvm.tuning.profiling import Profiler, profiles_in
from compiler_gym.envs.llvm.tuning.speed import SpeedSearch
from compiler_gym.envs.llvm.tuning.timed import Bench
from compiler_gym.errors import ProjectError
from compiler_gym.files import sha256_of
from compiler_gym.tuning import (
    JOURNAL,
    BinaryPlan,
    Found,
    Goal,
    Journal,
    Subject,
    recommended,
    require_among,
    sources_of,
)

__all__ = ["BY_HAND", "tuned_by_runs"]

BY_HAND = "clang -O3 -flto -fprofile-use, --gc-sections --icf=all"
"""What people build who use a profile by hand, of the same training run."""


def tuned_by_runs(linker: Linker, subject: Subject, rivals: Mapping[str, Path]) -> Found:
    """Return the fastest build, or the recommended one of a front; the fair rival is the last."""
    assert subject.run is not None
    binary, fair = subject.binary, list(rivals.values())[-1]
    sources = sources_of(binary, binary.units)
    none = BinaryPlan(binary.name, FAST, linker=FOLDING, sources=sources)
    is_front = subject.goal is Goal.BOTH
    bench = Bench(linker, subject, fair, _journal(linker, subject, fair))
    bench.begin()
    train = subject.train or subject.run
    profiled = _profiled(bench, subject, none)
    if is_front and profiled is None:
        raise ProjectError(
            f"--goal both begins with a profile, and there is none: {bench.notes[-1]}"
        )
    rival = fair if profiled is None else build_plan(linker, profiled)
    if profiled is not None:
        bench.know(profiled, rival)
        *others, last = rivals.items()
        rivals = dict([*others, (BY_HAND, rival), last])
        subject.watch_rivals(rivals)
    search = SpeedSearch(bench, none, profiled, rival, train)
    if not is_front:
        plan, path, speed = search.run()
        front = ()
    else:
        front = search_front(search)
        chosen = recommended(
            front, sizes_of(fair).text,
            max_slowdown=subject.max_slowdown, max_growth=subject.max_growth,
        )  # fmt: skip
        if chosen is None:
            bounds = " and ".join(
                f"--max-{name} {bound:.1%}"
                for name, bound in (
                    ("slowdown", subject.max_slowdown), ("growth", subject.max_growth),
                )
                if bound is not None
            )  # fmt: skip
            raise ProjectError(
                f"no build is within {bounds} of {list(rivals)[-1]}: the smallest is "
                f"{front[0].speedup:.3f} times as fast, the fastest {front[-1].speedup:.3f} times "
                f"with {front[-1].code / sizes_of(fair).text - 1:+.1%} of code: allow more"
            )
        plan, path, speed = chosen.plan, chosen.path, chosen.speed
    return Found(
        plan, path, rivals, sizes_of(fair).text, bench.count, speed=speed,
        notes=tuple(bench.notes), rival_plan=none, front=front,
    )  # fmt: skip


def _journal(linker: Linker, subject: Subject, fair: Path) -> Journal:
    commands = [one.text for one in (subject.run, subject.train) if one is not None]
    given = [_require_digest(subject.profile)] if subject.profile is not None else []
    key = f"{subject.goal} {subject.binary.name} {sha256_of(fair)} {[*commands, *given]}"
    none = BinaryPlan(subject.binary.name, FAST)

    def require(actions: tuple[str, ...]) -> None:
        plan = plan_of(actions, none)
        require_possible(plan)
        require_among(plan, "profile", filter(None, [plan.profile]), profiles_in(linker.folder))
        require_among(plan, "layout", filter(None, [plan.after_profile]), layouts_in(linker.folder))

    return Journal(
        subject.folder / JOURNAL, hashlib.sha256(key.encode()).hexdigest(), require_possible=require
    )


def _profiled(bench: Bench, subject: Subject, none: BinaryPlan) -> BinaryPlan | None:
    """Return the plan with a profile and nothing else; None where no run gives one."""
    profiler = Profiler(bench.linker, bench.notes)
    if subject.profile is not None:
        return replace(none, profile=str(profiler.given(subject.profile, subject.binary.path)))
    by = subject.train or bench.run
    if bench.is_over and subject.goal is not Goal.BOTH:
        bench.notes.append(f"no time was left to learn from {by.text}: give more --time")
        return None
    path = profiler.trained(by)
    if path is None:
        return None
    bench.notes.append(f"the profile is of: {by.text}")
    return replace(none, profile=str(path))


def _require_digest(path: Path) -> str:
    try:
        return sha256_of(path)
    except OSError as error:
        raise ProjectError(f"cannot read {path}: {error.strerror}") from error
