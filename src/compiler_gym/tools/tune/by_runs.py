# SPDX-License-Identifier: MIT
"""Tune one binary with the user's runs, for speed or for both speed and size."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from compiler_gym.builds import measure_sizes
from compiler_gym.errors import ProjectError
from compiler_gym.files import hash_file
from compiler_gym.tools.tune.front import FrontBuild, recommend_build
from compiler_gym.tools.tune.front_search import search_front
from compiler_gym.tools.tune.goal import Goal
from compiler_gym.tools.tune.journal import JOURNAL, Journal
from compiler_gym.tools.tune.plan import BinaryPlan
from compiler_gym.tools.tune.reading import require_among
from compiler_gym.tools.tune.speed_decisions import SpeedDecisions, make_plan
from compiler_gym.tools.tune.speed_search import SpeedSearch
from compiler_gym.tools.tune.timed import TimingBench
from compiler_gym.tools.tune.tuner import Found, TuningSubject

__all__ = ["tune_by_runs"]


_OWN = "your flags"


def tune_by_runs(
    decisions: SpeedDecisions, subject: TuningSubject, rivals: Mapping[str, Path]
) -> Found:
    """Return the fastest build, or the recommended one of a front; the last rival is the baseline.

    `rivals` are the builds to compare with, the baseline last; one with only a profile is added.
    """
    assert subject.run is not None
    fair = list(rivals.values())[-1]
    none = decisions.plain()
    is_front = subject.goal is Goal.BOTH
    bench = TimingBench(
        decisions, subject, fair, _journal(decisions, subject, fair), rivals.get(_OWN),
        compared=3 + (_OWN in rivals and not is_front),
    )  # fmt: skip
    bench.begin()
    profiled = _add_profile(bench, subject, none)
    if is_front and profiled is None:
        raise ProjectError(f"--goal both needs a profile, but there is none: {bench.notes[-1]}")
    rival = fair if profiled is None else decisions.build(profiled, jobs=subject.jobs)
    if profiled is not None:
        bench.know(profiled, rival)
        *pairs, last = rivals.items()
        rivals = dict([*pairs, (decisions.by_hand, rival), last])
        subject.watch_rivals(rivals)
    search = SpeedSearch(bench, none, profiled, rival, subject.train or subject.run)
    if is_front:
        front = search_front(search)
        build = _within_bounds(front, subject, list(rivals)[-1], measure_sizes(fair).text)
        plan, path, speed = build.plan, build.path, build.speed
    else:
        front = ()
        plan, path, speed = search.run()
    return Found(
        plan, path, rivals, measure_sizes(fair).text, bench.count, speed=speed,
        notes=tuple(bench.notes), rival_plan=none, front=front,
    )  # fmt: skip


def _within_bounds(
    front: tuple[FrontBuild, ...], subject: TuningSubject, fair: str, fair_text: int
) -> FrontBuild:
    """Return the build to recommend; raise `ProjectError` if none is within the bounds."""
    build = recommend_build(
        front, fair_text, max_slowdown=subject.max_slowdown, max_growth=subject.max_growth
    )
    if build is None:
        bounds = " and ".join(
            f"--max-{name} {bound:.1%}"
            for name, bound in (
                ("slowdown", subject.max_slowdown), ("growth", subject.max_growth),
            )
            if bound is not None
        )  # fmt: skip
        raise ProjectError(
            f"no build is within {bounds} of {fair}: the smallest is "
            f"{front[0].speedup:.3f} times as fast, and the fastest {front[-1].speedup:.3f} times "
            f"with {front[-1].code / fair_text - 1:+.1%} code; raise the bounds"
        )
    return build


def _journal(decisions: SpeedDecisions, subject: TuningSubject, fair: Path) -> Journal:
    commands = [run.text for run in (subject.run, subject.train) if run is not None]
    profiles = [_require_digest(subject.profile)] if subject.profile is not None else []
    key = f"{subject.goal} {subject.binary.name} {hash_file(fair)} {[*commands, *profiles]}"
    none = decisions.plain()

    def require(actions: tuple[str, ...]) -> None:
        plan = make_plan(actions, none)
        decisions.require_possible(plan)
        require_among(plan, "profile", filter(None, [plan.profile]), decisions.profiles)
        require_among(plan, "layout", filter(None, [plan.after_profile]), decisions.layouts)

    return Journal(
        subject.folder / JOURNAL, hashlib.sha256(key.encode()).hexdigest(), require_possible=require
    )


def _add_profile(bench: TimingBench, subject: TuningSubject, none: BinaryPlan) -> BinaryPlan | None:
    """Return the plan with a profile and nothing else; None if no run produces one."""
    if subject.profile is not None:
        return replace(
            none, profile=str(bench.decisions.read_profile(subject.profile, bench.notes))
        )
    run = subject.train or bench.run
    if bench.is_over and subject.goal is not Goal.BOTH:
        bench.notes.append(f"no time was left for the training run {run.text}: increase --time")
        return None
    path = bench.decisions.train_profile(run, bench.notes)
    if path is None:
        return None
    bench.notes.append(f"profiled run: {run.text}")
    return replace(none, profile=str(path))


def _require_digest(path: Path) -> str:
    try:
        return hash_file(path)
    except OSError as error:
        raise ProjectError(f"cannot read {path}: {error.strerror}") from error
