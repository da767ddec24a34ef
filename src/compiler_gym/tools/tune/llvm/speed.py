# SPDX-License-Identifier: MIT
"""Tune for speed with LLVM: build with a profile, and keep it if it is significantly faster.

The profile is nearly all that a search for speed gains, so there is no search. The build with the
profile and the baseline run alternately, and at the end one of the two is the result.
"""

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from compiler_gym.errors import ProjectError
from compiler_gym.tools.tune import BinaryPlan, Found, RunCommand, Tried, TuningSubject
from compiler_gym.tools.tune.llvm.link_time import build_plan
from compiler_gym.tools.tune.llvm.linking import Linker
from compiler_gym.tools.tune.llvm.profiling import Profiler
from compiler_gym.tools.tune.runs import as_speed
from compiler_gym.validation import Comparison, compare_fastest

FAIR_FAST = "clang -O3 -flto, --icf=safe"
_OWN = "your flags"
_ROUNDS, _FEWEST, _MOST_ROUNDS = 10, 2, 60
_COMPARED_SECONDS = 4.0
"""The time to spend on short runs of one build."""
_SHARE = 0.5
"""The share of the remaining time for the comparison; the rest is for tests of the result."""


@dataclass
class ProfileTrial:
    """A comparison of one binary, built with a profile, with the baseline."""

    linker: Linker
    subject: TuningSubject
    none: BinaryPlan
    """The plan of the baseline."""
    rivals: Mapping[str, Path]
    """The builds to compare with, the baseline last."""
    notes: list[str] = field(default_factory=list[str])

    def judge(self) -> Found:
        """Return the build with a profile if it is significantly faster, otherwise the baseline."""
        fair, tried = list(self.rivals.values())[-1], 0
        wall = self._time_baseline(fair)
        profile = self._profile()
        plan, path, speed = self.none, fair, Comparison(1.0, 1.0, 1.0)
        if profile is not None:
            profiled, tried = replace(self.none, profile=str(profile)), 1
            built = build_plan(self.linker, profiled)
            speed = self._compare(fair, built, self._count_rounds(wall))
            if _is_faster(speed):
                plan, path = profiled, built
            else:
                self.notes.append(
                    f"the build with a profile is {speed.speedup:.3f} times as fast as the "
                    "baseline, not significantly faster: the result is the baseline"
                )
                speed = Comparison(1.0, 1.0, 1.0)
        return Found(
            plan, path, self.rivals, self.subject.measure.of(fair), tried, speed=as_speed(speed),
            notes=tuple(self.notes), rival_plan=self.none,
        )  # fmt: skip

    @property
    def _run(self) -> RunCommand:
        assert self.subject.run is not None
        return self.subject.run

    def _time_baseline(self, fair: Path) -> float:
        """Return the seconds of a run of the baseline; raise `ProjectError` if it fails."""
        began = time.monotonic()
        outcome = self._run.run(fair)
        if self._run.has_failed(outcome):
            raise ProjectError(
                f"the run exited with status {outcome.status} for the build with {FAIR_FAST}, but "
                f"with {self._run.expected} for the project's own build: {self._run.text}\n"
                f"{outcome.tail}"
            )
        self.subject.watch("profile", Tried((), outcome.seconds))
        return max(time.monotonic() - began, 1e-3)

    def _profile(self) -> Path | None:
        """Return the profile of the training run or from production; None if there is none."""
        profiler = Profiler(self.linker, self.notes)
        if self.subject.profile is not None:
            return profiler.read_profile(self.subject.profile, self.linker.binary.path)
        run = self.subject.train or self._run
        if self.subject.allowance.is_over:
            self.notes.append(f"no time was left for the training run {run.text}: increase --time")
            return None
        path = profiler.train_profile(run)
        if path is not None:
            self.notes.append(f"profiled run: {run.text}")
        return path

    def _count_rounds(self, wall: float) -> int:
        """Return the number of rounds for a run of `wall` seconds; short runs are repeated."""
        seconds = self.subject.allowance.seconds_left * _SHARE
        fitting = seconds / (wall * (2 + (_OWN in self.rivals)))
        wanted = min(max(_ROUNDS, _COMPARED_SECONDS / wall), _MOST_ROUNDS)
        rounds = int(max(min(wanted, fitting), _FEWEST))
        if rounds < _ROUNDS:
            self.notes.append(
                f"a run takes {wall:.3g} s, so builds are compared in {rounds} rounds instead of "
                f"{_ROUNDS}: use a shorter run, or increase --time"
            )
        return rounds

    def _compare(self, fair: Path, built: Path, rounds: int) -> Comparison:
        """Return the comparison of `built` with `fair`; note that the user's flags are faster."""
        own = [self.rivals[_OWN]] if _OWN in self.rivals else []
        times = self._run.alternate([fair, built, *own], rounds)
        result = compare_fastest(times[0], times[1])
        best = times[1] if _is_faster(result) else times[0]
        if own and (against := compare_fastest(times[2], best)).high < 1:
            self.notes.append(
                f"your own flags are faster: {1 / against.speedup:.3f} times as fast as this "
                "build; keep your own build"
            )
        return result


def _is_faster(result: Comparison) -> bool:
    """Return whether a build is significantly faster; too few runs have no interval."""
    return (result.low if math.isfinite(result.high) else result.speedup) > 1
