# SPDX-License-Identifier: MIT
"""Build plans of one binary and time them alternately, within a time limit.

To keep the limit, the time for the final comparison is reserved first, and work that would not
finish in time is not started.
"""

import math
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from compiler_gym.errors import ProjectError
from compiler_gym.files import hash_file
from compiler_gym.tools.tune.comparing import FEWEST_CONFIRMING, race
from compiler_gym.tools.tune.journal import Journal, Tried
from compiler_gym.tools.tune.measuring import RunCommand
from compiler_gym.tools.tune.plan import BinaryPlan
from compiler_gym.tools.tune.speed_decisions import SpeedDecisions, list_actions
from compiler_gym.tools.tune.tuner import TuningSubject
from compiler_gym.validation import Comparison

__all__ = ["TimingBench"]

_ROUNDS, _FEWEST = 10, 2
"""The usual and the minimum number of rounds of the final comparison."""
_MOST_ROUNDS = 60
_LAST = 0.3
"""The largest share of the time for the final comparison."""
_PROOF = 2
"""Runs per build that check that it behaves as the project's own build."""


@dataclass
class TimingBench:
    """A bench that builds and times plans of one binary for a search."""

    decisions: SpeedDecisions
    subject: TuningSubject
    fair: Path
    """The baseline, which speedups refer to."""
    journal: Journal
    own: Path | None = None
    """The program as the project builds it, if the comparison includes it."""
    compared: int = 3
    """The number of builds in the final comparison."""
    notes: list[str] = field(default_factory=list[str])
    """Remarks for the user."""
    count: int = 0
    """The number of plans that were built."""
    build_seconds: float = 0.0
    """The duration of the slowest build."""

    def begin(self) -> None:
        """Measure the duration of a run with the baseline; short runs are repeated."""
        self.seconds = self.wall = math.inf
        for _ in range(2):
            began = time.monotonic()
            first = self.run.run(self.fair)
            if self.run.has_failed(first):
                raise ProjectError(
                    f"the run exited with status {first.status} for the build with "
                    f"{self.decisions.fair}, but with {self.run.expected} for the project's own "
                    f"build: {self.run.text}\n{first.tail}"
                )
            self.wall = min(self.wall, time.monotonic() - began)
            self.seconds = min(self.seconds, max(first.seconds, 1e-3))
            if self.wall > 1:
                break
        self._seen: dict[str, tuple[str, ...]] = {hash_file(self.fair): ("fair",)}
        if self.rounds < _ROUNDS:
            self.notes.append(
                f"a run takes {self.wall:.3g} s, so builds are compared in {self.rounds} rounds "
                f"instead of {_ROUNDS}: use a shorter run, or increase --time"
            )

    def know(self, plan: BinaryPlan, path: Path) -> None:
        """Remember the binary of `plan`, so that plans with the same binary are not timed."""
        self._seen.setdefault(hash_file(path), list_actions(plan))

    @property
    def run(self) -> RunCommand:
        """The command to measure."""
        assert self.subject.run is not None
        return self.subject.run

    @property
    def rounds(self) -> int:
        """The number of rounds of the final comparison, within its share of the time."""
        rounds = min(max(_ROUNDS, int(4 / self.seconds)), _MOST_ROUNDS)
        seconds = self.subject.allowance.seconds
        if seconds is None:
            return rounds
        return max(min(rounds, int(seconds * _LAST / (self.compared * self.wall))), _FEWEST)

    @property
    def seconds_left(self) -> float:
        """The time left for a search, without the final comparison and the proof."""
        runs = self.compared * (self.rounds + _PROOF)
        runs += 2 * FEWEST_CONFIRMING if self.subject.confirm is not None else 0
        return self.subject.allowance.seconds_left - runs * self.wall

    @property
    def is_over(self) -> bool:
        """True if the search must end."""
        return self.subject.allowance.is_over or self.seconds_left <= 0

    def has_time(self, *, builds: int = 0, runs: float = 0) -> bool:
        """Return whether this many builds and runs fit before the search must end."""
        batches = math.ceil(builds / self.subject.jobs)
        needed = batches * self.build_seconds + runs * self.wall
        return not self.subject.allowance.is_over and self.seconds_left > needed

    def build_plans(self, plans: Mapping[str, BinaryPlan]) -> dict[str, Path]:
        """Return the binaries of `plans` that link and differ from all earlier ones."""
        binaries = dict[str, Path]()
        jobs = self.subject.jobs if len(plans) == 1 else 1

        def build(plan: BinaryPlan) -> Path | None:
            return self._build(plan, jobs)

        with ThreadPoolExecutor(self.subject.jobs) as pool:
            paths = list(pool.map(build, plans.values()))
        for (name, plan), path in zip(plans.items(), paths, strict=True):
            self.count += 1
            actions = list_actions(plan)
            if path is not None and self._seen.setdefault(hash_file(path), actions) == actions:
                binaries[name] = path
            else:
                self.journal.add("equal", Tried(actions, math.inf))
        return binaries

    def compare_with(
        self, baseline: Path, paths: Mapping[str, Path], rounds: tuple[int, int]
    ) -> dict[str, Comparison]:
        """Return the comparison of each path with `baseline`, as far as time allows."""
        return race(self.run, baseline, paths, rounds=rounds, is_over=lambda: self.is_over)

    def _build(self, plan: BinaryPlan, jobs: int) -> Path | None:
        began = time.monotonic()
        try:
            return self.decisions.build(plan, jobs=jobs)
        except ProjectError:
            return None
        finally:
            self.build_seconds = max(self.build_seconds, time.monotonic() - began)
