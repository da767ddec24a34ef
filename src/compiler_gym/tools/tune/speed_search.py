# SPDX-License-Identifier: MIT
"""Search for the fastest build of a program, timed with the user's own command.

The search starts from the profile of a run. It adds choices from the compiler's table, a profile
with callers and a layout of the linked file, but keeps only those that are significantly faster
in additional runs.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from compiler_gym.tools.tune.comparing import as_speed, instructions
from compiler_gym.tools.tune.journal import Tried
from compiler_gym.tools.tune.measuring import RunCommand
from compiler_gym.tools.tune.plan import BinaryPlan
from compiler_gym.tools.tune.speed_decisions import Choice, add_choice, list_actions, make_plan
from compiler_gym.tools.tune.timed import TimingBench
from compiler_gym.validation import Comparison, compare_fastest

__all__ = ["SpeedSearch"]

_BATCH = 4
_FIRST, _AGAIN = (2, 4), (4, 8)
"""Rounds for all choices of a batch and additional ones for promising choices: first, and when
time is left."""
_CONFIRMING = 10
_EMULATED = 120
"""The time to count the instructions of two builds, as a multiple of one run."""
_FOR_LAYOUT = 30
"""Runs that the table of choices must leave time for, so that a layout is tried, too."""


@dataclass
class SpeedSearch:
    """A search for the fastest build of one binary."""

    bench: TimingBench
    none: BinaryPlan
    """The plan of the baseline."""
    profiled: BinaryPlan | None
    """The plan with a profile and nothing else, which people build by hand."""
    rival: Path
    """The binary of `profiled`, or the baseline if there is no profile."""
    train: RunCommand
    """The training run."""

    def run(self) -> tuple[BinaryPlan, Path, dict[str, float]]:
        """Return the best plan, its binary and its speed against the baseline.

        If no plan is significantly faster, this is the baseline.
        """
        self._plan, self._path = self.improve(self.profiled or self.none, self.rival)
        return self._judge()

    def improve(self, plan: BinaryPlan, path: Path) -> tuple[BinaryPlan, Path]:
        """Return a plan that is significantly faster than `plan`, or `plan`, and its binary."""
        self._plan, self._path, self._gain = plan, path, 1.0
        self._resume()
        self._show("profile")
        self._learn_calls()
        self._choose()
        self._lay_out()
        return self._plan, self._path

    def _resume(self) -> None:
        """Start from the fastest plan of an earlier search, if it can still be built.

        It was significantly faster then; the comparison at the end checks this again.
        """
        bench = self.bench
        tried = sorted(bench.journal.iterate_tried(), key=lambda tried: tried.cost)
        if not tried or tried[0].cost >= self._cost:
            return
        plan = make_plan(tried[0].actions, self._plan)
        if all(Path(path).is_file() for path in plan.list_files().values()):
            for path in bench.build_plans({"": plan}).values():
                self._plan, self._path = plan, path
                self._gain = self._cost / tried[0].cost
            self._show("resumed")

    def _learn_calls(self) -> None:
        """Try a profile with callers, if the plan has a profile already."""
        bench = self.bench
        if not self._plan.profile or not bench.has_time(builds=3, runs=16):
            return
        plan = bench.decisions.with_callers(self._plan, self.train, bench.notes)
        if plan is not None:
            self._try_plans({"": plan}, _FIRST, "profile of calls")

    def _choose(self) -> None:
        """Try the table of choices, then retry promising ones with more runs while time is left."""
        promising = self._try(self.bench.decisions.choices, _FIRST)
        while promising and self._is_time_for(1, _AGAIN):
            promising = self._try(promising, _AGAIN)

    def _try(self, choices: Sequence[Choice], rounds: tuple[int, int]) -> list[Choice]:
        """Try `choices` in batches on top of the best; return the promising ones not taken."""
        waiting, promising = list(choices), list[Choice]()
        while waiting:
            count = next((n for n in range(_BATCH, 0, -1) if self._is_time_for(n, rounds)), 0)
            if not count:
                break
            batch, waiting = waiting[:count], waiting[count:]
            plans = {str(number): self._with(choice) for number, choice in enumerate(batch)}
            if rounds == _FIRST:
                cost = self.bench.journal.cost
                plans = {n: p for n, p in plans.items() if cost(list_actions(p)) is None}
            plans = {name: plans[name] for name in self.bench.subject.allowance.take(list(plans))}
            faster, best = self._try_plans(plans, rounds, "choices")
            promising += [batch[int(name)] for name in faster if name != best]
        return promising

    def _with(self, choice: Choice) -> BinaryPlan:
        return add_choice(self._plan, choice, self.bench.decisions.find_option)

    def _is_time_for(self, count: int, rounds: tuple[int, int]) -> bool:
        runs = (count + 1) * rounds[0] + 3 * rounds[1]
        later = _FOR_LAYOUT if self.bench.decisions.lays_out else 0
        return self.bench.has_time(builds=count, runs=runs + later)

    def _try_plans(
        self, plans: dict[str, BinaryPlan], rounds: tuple[int, int], stage: str
    ) -> tuple[list[str], str]:
        """Adopt a significantly faster plan; return the promising names and the adopted one.

        The best of several looks better than it is, so it must win again in separate runs.
        """
        bench = self.bench
        paths = bench.build_plans(plans)
        if not paths:
            return [], ""
        results = bench.compare_with(self._path, paths, rounds)
        best = ""
        for name in [name for name, result in results.items() if result.low > 1][:2]:
            confirmation = self._measure(paths[name])
            if confirmation.low > 1:
                self._plan, self._path = plans[name], paths[name]
                self._gain *= confirmation.speedup
                best = name
                break
        for name, result in results.items():
            cost = self._cost if name == best else self._cost / min(result.speedup, 1.0)
            bench.journal.add(stage, Tried(list_actions(plans[name]), cost))
        self._show(stage)
        return [name for name, result in results.items() if result.speedup > 1], best

    def _lay_out(self) -> None:
        """Try a layout of the linked file, and keep it if it is significantly faster."""
        bench = self.bench
        if self._plan.after or not bench.decisions.lays_out:
            return
        if not bench.has_time(builds=3, runs=_FOR_LAYOUT):
            bench.notes.append("no time was left to lay out the linked file: increase --time")
            return
        plan = bench.decisions.lay_out(self._plan, self.train, bench.notes)
        if plan is None:
            return
        _, best = self._try_plans({"layout": plan}, _AGAIN, "layout")
        if not best:
            bench.notes.append(
                f"the layout by {' and '.join(plan.after)} is not significantly faster: not used"
            )

    def _measure(self, path: Path) -> Comparison:
        """Return the comparison of `path` with the best so far, in separate runs."""
        return self.bench.compare_with(self._path, {"": path}, (_CONFIRMING, 0))[""]

    @property
    def _cost(self) -> float:
        return self.bench.seconds / self._gain

    def _show(self, stage: str) -> None:
        self.bench.subject.watch(stage, Tried(list_actions(self._plan), self._cost))

    def _judge(self) -> tuple[BinaryPlan, Path, dict[str, float]]:
        """Return the best of the search result, the build with only a profile, and the baseline."""
        bench, paths = self.bench, dict.fromkeys((self.bench.fair, self.rival, self._path))
        if len(paths) == 1:
            bench.notes.append("found nothing faster than the baseline, which is the result")
            return self.none, bench.fair, as_speed(Comparison(1.0, 1.0, 1.0))
        if bench.own is not None:
            paths[bench.own] = None
        runs = bench.run.alternate(list(paths), bench.rounds)
        times = dict(zip(paths, runs, strict=True))

        def against(rival: Path) -> Comparison:
            return compare_fastest(times[rival], times[self._path])

        # Both the choices and the profile must prove that they are faster.
        if self._path != self.rival and against(self.rival).speedup < 1:
            bench.notes.append("the choices are not faster than the profile alone: dropped")
            self._plan, self._path = self.profiled or self.none, self.rival
        result = against(bench.fair)
        # Too few runs have no interval.
        low = result.low if math.isfinite(result.high) else result.speedup
        if low <= 1 and self._path != bench.fair:
            bench.notes.append(
                f"the best build is {result.speedup:.3f} times as fast as the baseline, not "
                "significantly faster: the result is the baseline"
            )
            self._plan, self._path, result = self.none, bench.fair, Comparison(1.0, 1.0, 1.0)
        if bench.own is not None and (own := against(bench.own)).high < 1:
            bench.notes.append(
                f"your own flags are faster: {1 / own.speedup:.3f} times as fast as this build; "
                "keep your own build"
            )
        speed = as_speed(result)
        if self._path not in (bench.fair, self.rival):
            speed |= as_speed(against(self.rival), "profile_")
        return self._plan, self._path, speed | self._instructions()

    def _instructions(self) -> dict[str, float]:
        """Return the baseline's instructions divided by this build's, if time is left."""
        bench = self.bench
        if self._path == bench.fair or bench.subject.allowance.seconds_left < (
            _EMULATED * bench.wall
        ):
            return {}
        counted = [
            instructions(bench.run, path, bench.seconds) for path in (bench.fair, self._path)
        ]
        before, after = counted
        return {"instructions": before / after} if before and after else {}
