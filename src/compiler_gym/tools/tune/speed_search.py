# SPDX-License-Identifier: MIT
"""Look for what makes a program fastest by the user's own command.

The profile of a run is the start. What a table of the compiler's choices, a profile of callers
and a layout of the linked file add to it needs evidence: what is faster for certain in runs that
did not choose it stays.
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
"""How often the choices of a batch run, and those more that look promising: at first, and where
time is left."""
_CONFIRMING = 10
_EMULATED = 120
"""How many times as long as a run it takes to count the instructions of two builds."""
_FOR_LAYOUT = 30
"""Runs for which the table leaves time, so that a layout is tried, too."""


@dataclass
class SpeedSearch:
    """One search for one binary."""

    bench: TimingBench
    none: BinaryPlan
    """What makes the fair rival."""
    profiled: BinaryPlan | None
    """What makes the rival that people build by hand: a profile and nothing else."""
    rival: Path
    """Its binary, or the fair rival's where there is no profile."""
    train: RunCommand
    """What is learnt from."""

    def run(self) -> tuple[BinaryPlan, Path, dict[str, float]]:
        """Return the plan, its binary and its speed against the fair rival.

        It is the fair rival, unless it is faster for certain.
        """
        self._plan, self._path = self.improve(self.profiled or self.none, self.rival)
        return self._judge()

    def improve(self, plan: BinaryPlan, path: Path) -> tuple[BinaryPlan, Path]:
        """Return a plan that is faster for certain than `plan`, with its binary, or `plan`."""
        self._plan, self._path, self._gain = plan, path, 1.0
        self._resume()
        self._show("profile")
        self._learn_calls()
        self._choose()
        self._lay_out()
        return self._plan, self._path

    def _resume(self) -> None:
        """Begin with the fastest that an earlier search found, if it can still be built.

        It was faster for certain then; the comparison at the end tells whether it is.
        """
        bench = self.bench
        known = sorted(bench.journal.iterate_tried(), key=lambda tried: tried.cost)
        if not known or known[0].cost >= self._cost:
            return
        plan = make_plan(known[0].actions, self._plan)
        if all(Path(kept).is_file() for kept in plan.list_files().values()):
            for path in bench.build_plans({"": plan}).values():
                self._plan, self._path = plan, path
                self._gain = self._cost / known[0].cost
            self._show("resumed")

    def _learn_calls(self) -> None:
        """Try a profile that knows who called, on top of a profile of our own."""
        bench = self.bench
        if not self._plan.profile or not bench.has_time(builds=3, runs=16):
            return
        plan = bench.decisions.with_callers(self._plan, self.train, bench.notes)
        if plan is not None:
            self._try_plans({"": plan}, _FIRST, "profile of calls")

    def _choose(self) -> None:
        """Try the table, and as long as there is time what looked faster, with more runs."""
        promising = self._try(self.bench.decisions.choices, _FIRST)
        while promising and self._is_time_for(1, _AGAIN):
            promising = self._try(promising, _AGAIN)

    def _try(self, choices: Sequence[Choice], rounds: tuple[int, int]) -> list[Choice]:
        """Try `choices`, a few at a time on top of the best; return what looked faster in vain."""
        waiting, promising = list(choices), list[Choice]()
        while waiting:
            fitting = next((n for n in range(_BATCH, 0, -1) if self._is_time_for(n, rounds)), 0)
            if not fitting:
                break
            batch, waiting = waiting[:fitting], waiting[fitting:]
            plans = {str(number): self._with(each) for number, each in enumerate(batch)}
            if rounds == _FIRST:
                known = self.bench.journal.cost
                plans = {n: p for n, p in plans.items() if known(list_actions(p)) is None}
            plans = {name: plans[name] for name in self.bench.subject.allowance.take(list(plans))}
            faster, taken = self._try_plans(plans, rounds, "choices")
            promising += [batch[int(name)] for name in faster if name != taken]
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
        """Take the best of `plans` that is faster for certain; return those that look faster, too.

        The best of a few looks better than it is, so it must win once more in runs of its own.
        """
        bench = self.bench
        paths = bench.build_plans(plans)
        if not paths:
            return [], ""
        found = bench.compare_with(self._path, paths, rounds)
        taken = ""
        for name in [name for name, result in found.items() if result.low > 1][:2]:
            sure = self._measure(paths[name])
            if sure.low > 1:
                self._plan, self._path = plans[name], paths[name]
                self._gain *= sure.speedup
                taken = name
                break
        for name, result in found.items():
            cost = self._cost if name == taken else self._cost / min(result.speedup, 1.0)
            bench.journal.add(stage, Tried(list_actions(plans[name]), cost))
        self._show(stage)
        return [name for name, result in found.items() if result.speedup > 1], taken

    def _lay_out(self) -> None:
        """Lay out the linked file, and take that back where it is not surely faster."""
        bench = self.bench
        if self._plan.after or not bench.decisions.lays_out:
            return
        if not bench.has_time(builds=3, runs=_FOR_LAYOUT):
            bench.notes.append("there was no time to lay out the linked file: give more --time")
            return
        plan = bench.decisions.lay_out(self._plan, self.train, bench.notes)
        if plan is None:
            return
        _, taken = self._try_plans({"layout": plan}, _AGAIN, "layout")
        if not taken:
            bench.notes.append(
                f"the layout by {' and '.join(plan.after)} is not faster for certain, and not used"
            )

    def _measure(self, path: Path) -> Comparison:
        """Return how `path` compares with the best so far, in runs that chose nothing."""
        return self.bench.compare_with(self._path, {"": path}, (_CONFIRMING, 0))[""]

    @property
    def _cost(self) -> float:
        return self.bench.seconds / self._gain

    def _show(self, stage: str) -> None:
        self.bench.subject.watch(stage, Tried(list_actions(self._plan), self._cost))

    def _judge(self) -> tuple[BinaryPlan, Path, dict[str, float]]:
        """Return the best of the search, of the profile alone and of no profile."""
        bench, paths = self.bench, dict.fromkeys((self.bench.fair, self.rival, self._path))
        if len(paths) == 1:
            bench.notes.append("nothing was tried that is faster: the fair rival stays")
            return self.none, bench.fair, as_speed(Comparison(1.0, 1.0, 1.0))
        if bench.own is not None:
            paths[bench.own] = None
        runs = bench.run.alternate(list(paths), bench.rounds)
        times = dict(zip(paths, runs, strict=True))

        def against(rival: Path) -> Comparison:
            return compare_fastest(times[rival], times[self._path])

        # Choices need evidence, and so does the profile.
        if self._path != self.rival and against(self.rival).speedup < 1:
            bench.notes.append("what was chosen does not win beside the profile alone: left out")
            self._plan, self._path = self.profiled or self.none, self.rival
        result = against(bench.fair)
        # Few runs have no interval.
        least = result.low if math.isfinite(result.high) else result.speedup
        if least <= 1 and self._path != bench.fair:
            bench.notes.append(
                f"the best build is not faster for certain, {result.speedup:.3f} times as fast: "
                "the fair rival stays"
            )
            self._plan, self._path, result = self.none, bench.fair, Comparison(1.0, 1.0, 1.0)
        if bench.own is not None and (own := against(bench.own)).high < 1:
            bench.notes.append(
                f"your own flags are faster, {1 / own.speedup:.3f} times as fast as this build: "
                "keep your own build"
            )
        speed = as_speed(result)
        if self._path not in (bench.fair, self.rival):
            speed |= as_speed(against(self.rival), "profile_")
        return self._plan, self._path, speed | self._instructions()

    def _instructions(self) -> dict[str, float]:
        """Return how many times as many instructions the fair rival executes, if time is left."""
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
