# SPDX-License-Identifier: MIT
"""Build plans of one binary and time them in turns, within the time that was given.

The time is a promise: what a search needs at its end is put aside first, and what would not be
done in time is not begun.
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
"""How often builds run in turns at the end, and at least."""
_MOST_ROUNDS = 60
_LAST = 0.3
"""The share of the time that the last comparison may take."""
_PROOF = 2
"""Runs by which each is proven to answer as the project's own build does."""


@dataclass
class TimingBench:
    """Builds and times what a search wants to know of one binary."""

    decisions: SpeedDecisions
    subject: TuningSubject
    fair: Path
    """What speed is told against."""
    journal: Journal
    own: Path | None = None
    """The program as the project builds it itself, where that is to be compared."""
    compared: int = 3
    """Number of builds that are compared at the end."""
    notes: list[str] = field(default_factory=list[str])
    """What the user should be told."""
    count: int = 0
    """Number of builds that were made."""
    build_seconds: float = 0.0
    """The longest that a build took."""

    def begin(self) -> None:
        """Run the fair rival, a short run twice, to know how long a run is."""
        self.seconds = self.wall = math.inf
        for _ in range(2):
            began = time.monotonic()
            first = self.run.run(self.fair)
            if self.run.has_failed(first):
                raise ProjectError(
                    f"the run ended with status {first.status} when the program was built with "
                    f"{self.decisions.fair}, and with {self.run.expected} when the project built "
                    f"it: {self.run.text}\n{first.tail}"
                )
            self.wall = min(self.wall, time.monotonic() - began)
            self.seconds = min(self.seconds, max(first.seconds, 1e-3))
            if self.wall > 1:
                break
        self._seen: dict[str, tuple[str, ...]] = {hash_file(self.fair): ("fair",)}
        if self.rounds < _ROUNDS:
            self.notes.append(
                f"a run takes {self.wall:.3g} s, so that builds are compared in {self.rounds} "
                f"rounds and not in {_ROUNDS}: give a shorter run, or more --time"
            )

    def know(self, plan: BinaryPlan, path: Path) -> None:
        """Remember what `plan` makes, so that another plan that makes the same is not timed."""
        self._seen.setdefault(hash_file(path), list_actions(plan))

    @property
    def run(self) -> RunCommand:
        """The user's measurement."""
        assert self.subject.run is not None
        return self.subject.run

    @property
    def rounds(self) -> int:
        """How often the result and its rivals run in turns, within their share of the time."""
        wanted = min(max(_ROUNDS, int(4 / self.seconds)), _MOST_ROUNDS)
        given = self.subject.allowance.seconds
        if given is None:
            return wanted
        return max(min(wanted, int(given * _LAST / (self.compared * self.wall))), _FEWEST)

    @property
    def seconds_left(self) -> float:
        """What is left for a search: the last comparison and the proof are part of the time."""
        runs = self.compared * (self.rounds + _PROOF)
        runs += 2 * FEWEST_CONFIRMING if self.subject.confirm is not None else 0
        return self.subject.allowance.seconds_left - runs * self.wall

    @property
    def is_over(self) -> bool:
        """True if a search has to end."""
        return self.subject.allowance.is_over or self.seconds_left <= 0

    def has_time(self, *, builds: int = 0, runs: float = 0) -> bool:
        """Return whether so much can be done before the search has to end."""
        batches = math.ceil(builds / self.subject.jobs)
        needed = batches * self.build_seconds + runs * self.wall
        return not self.subject.allowance.is_over and self.seconds_left > needed

    def build_plans(self, plans: Mapping[str, BinaryPlan]) -> dict[str, Path]:
        """Return the binaries of `plans` that link, and that no other before was equal to."""
        found = dict[str, Path]()
        jobs = self.subject.jobs if len(plans) == 1 else 1

        def build(plan: BinaryPlan) -> Path | None:
            return self._build(plan, jobs)

        with ThreadPoolExecutor(self.subject.jobs) as pool:
            made = list(pool.map(build, plans.values()))
        for (name, plan), path in zip(plans.items(), made, strict=True):
            self.count += 1
            actions = list_actions(plan)
            if path is not None and self._seen.setdefault(hash_file(path), actions) == actions:
                found[name] = path
            else:
                self.journal.add("equal", Tried(actions, math.inf))
        return found

    def compare_with(
        self, baseline: Path, paths: Mapping[str, Path], rounds: tuple[int, int]
    ) -> dict[str, Comparison]:
        """Return how `paths` compare with `baseline`, in turns, as long as there is time."""
        return race(self.run, baseline, paths, rounds=rounds, is_over=lambda: self.is_over)

    def _build(self, plan: BinaryPlan, jobs: int) -> Path | None:
        began = time.monotonic()
        try:
            return self.decisions.build(plan, jobs=jobs)
        except ProjectError:
            return None
        finally:
            self.build_seconds = max(self.build_seconds, time.monotonic() - began)
