# SPDX-License-Identifier: MIT
"""Store a search in a run folder, and resume it after an interruption.

Every improvement is on disk before the search continues. A resumed search starts from the best
sequences so far, with the remaining time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from compiler_gym.options import SearchOptions, list_options, to_plain
from compiler_gym.runs import RunFolder
from compiler_gym.search.budget import Budget
from compiler_gym.search.search_result import SearchResult
from compiler_gym.search.watching import Improvement, SearchProgress, SearchWatcher

__all__ = ["KeepingWatcher", "compute_remaining", "keep_results", "read_kept_starts", "take_up"]

_LEAST_SECONDS = 0.1
_KEPT_AT_FIRST = {"algorithm", "seconds", "steps"}
"""The options in a run folder of version 1, which lacks the others."""


def take_up(
    path: Path, task: Mapping[str, Any], options: SearchOptions, may_change: Sequence[str] = ()
) -> tuple[RunFolder, SearchOptions]:
    """Return the folder of a new or resumed search, and `options` with the remaining time.

    `task` describes the search and must stay the same, apart from the keys in `may_change`.
    Raises `InvalidParameterError` if an option has changed, unless it cannot affect the result;
    then the folder's ``changes`` mention it.
    """
    task_options = {**to_plain(options), "seconds": options.seconds_allowed}
    del task_options["seed"]
    folder = RunFolder.open(
        path,
        "search",
        {**task, **task_options},
        seeds={"search": options.seed},
        may_change=[
            *may_change,
            *(n for n, option in list_options(options).items() if option.may_change),
        ],
        may_lack=[*may_change, *(task_options.keys() - _KEPT_AT_FIRST)],
    )
    budget = compute_remaining(Budget(options.seconds_allowed, options.steps), folder)
    return folder, replace(options, seconds=budget.seconds)


class KeepingWatcher:
    """A watcher that writes reports to a run folder and forwards them to another watcher."""

    def __init__(self, folder: RunFolder, watcher: SearchWatcher) -> None:
        self._folder = folder
        self._watcher = watcher
        self._before = _seconds_spent(folder)
        self._recorded_second = 0

    def improved(self, improvement: Improvement) -> None:
        """Write a better sequence and forward it; skip one that the folder already has."""
        key = f"{improvement.benchmark} {improvement.reward!r}"
        if self._folder.find_result(key) is None:
            self._folder.record(
                key,
                {
                    "benchmark": improvement.benchmark,
                    "reward": improvement.reward,
                    "actions": list(improvement.actions),
                    "steps": improvement.steps,
                    "seconds": self._before + improvement.seconds,
                },
            )
        self._watcher.improved(improvement)

    def tick(self, seconds: float, programs: Sequence[SearchProgress]) -> None:
        """Write the time and the best rewards once a second, and forward them."""
        if int(seconds) > self._recorded_second:
            self._recorded_second = int(seconds)
            best = sum(program.reward for program in programs) / max(len(programs), 1)
            total = self._before + seconds
            self._folder.progress(int(total), seconds=total, reward=best)
        self._watcher.tick(seconds, programs)


def read_kept_starts(folder: RunFolder) -> list[list[int]]:
    """Return the best sequence of each program in the folder, the best first."""
    best: dict[str, tuple[float, list[int]]] = {}
    for line in folder.episodes():
        result = line["result"]
        if "actions" in result and result["reward"] >= best.get(result["benchmark"], (0.0,))[0]:
            best[result["benchmark"]] = (result["reward"], result["actions"])
    return [actions for _, actions in sorted(best.values(), key=lambda item: -item[0])]


def compute_remaining(budget: Budget, folder: RunFolder) -> Budget:
    """Return `budget` minus the time recorded in the folder."""
    if budget.seconds is None:
        return budget
    seconds = max(budget.seconds - _seconds_spent(folder), _LEAST_SECONDS)
    return Budget(seconds=seconds, steps=budget.steps)


def keep_results(folder: RunFolder, results: Sequence[SearchResult]) -> None:
    """Write the results of the search to the folder."""
    for result in results:
        plain = result.to_json()
        del plain["improvements"]
        folder.record(f"result {result.benchmark}", {**plain, "walltime": result.seconds})


def _seconds_spent(folder: RunFolder) -> float:
    times = [float(line.get("seconds", 0.0)) for line in folder.numbers()]
    return max(times, default=0.0)
