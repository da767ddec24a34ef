# SPDX-License-Identifier: MIT
"""Keep a search in a run folder, and resume it after it was killed.

Every improvement is on disk before the search continues. A resumed search starts from
the best sequences so far, with the rest of its time.
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
    """Return the folder of a new or resumed search, and `options` with the rest of its time.

    `task` describes the search and must stay the same, apart from the keys in `may_change`.
    Every option is kept. Raises `InvalidParameterError` for one that has changed, unless it
    cannot affect the result; then the folder's ``changes`` mention it.
    """
    kept = {**to_plain(options), "seconds": options.seconds_allowed}
    del kept["seed"]
    folder = RunFolder.open(
        path,
        "search",
        {**task, **kept},
        seeds={"search": options.seed},
        may_change=[
            *may_change,
            *(n for n, one in list_options(options).items() if one.may_change),
        ],
        may_lack=[*may_change, *(kept.keys() - _KEPT_AT_FIRST)],
    )
    budget = compute_remaining(Budget(options.seconds_allowed, options.steps), folder)
    return folder, replace(options, seconds=budget.seconds)


class KeepingWatcher:
    """Writes the reports of a search to a run folder and passes them to another watcher."""

    def __init__(self, folder: RunFolder, watcher: SearchWatcher) -> None:
        self._folder = folder
        self._watcher = watcher
        self._before = _seconds_spent(folder)
        self._noted = 0

    def improved(self, improvement: Improvement) -> None:
        """Write a better sequence and pass it on; skip one that the folder already has."""
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
        """Write the time and the best rewards once a second, and pass them on."""
        if int(seconds) > self._noted:
            self._noted = int(seconds)
            best = sum(program.reward for program in programs) / max(len(programs), 1)
            total = self._before + seconds
            self._folder.progress(int(total), seconds=total, reward=best)
        self._watcher.tick(seconds, programs)


def read_kept_starts(folder: RunFolder) -> list[list[int]]:
    """Return the best sequence of every program in the folder, the best first."""
    best: dict[str, tuple[float, list[int]]] = {}
    for line in folder.episodes():
        found = line["result"]
        if "actions" in found and found["reward"] >= best.get(found["benchmark"], (0.0,))[0]:
            best[found["benchmark"]] = (found["reward"], found["actions"])
    return [actions for _, actions in sorted(best.values(), key=lambda item: -item[0])]


def compute_remaining(budget: Budget, folder: RunFolder) -> Budget:
    """Return `budget` less the time that the folder has recorded."""
    if budget.seconds is None:
        return budget
    left = max(budget.seconds - _seconds_spent(folder), _LEAST_SECONDS)
    return Budget(seconds=left, steps=budget.steps)


def keep_results(folder: RunFolder, results: Sequence[SearchResult]) -> None:
    """Write the results of the search."""
    for result in results:
        plain = result.to_json()
        del plain["improvements"]
        folder.record(f"result {result.benchmark}", {**plain, "walltime": result.seconds})


def _seconds_spent(folder: RunFolder) -> float:
    times = [float(line.get("seconds", 0.0)) for line in folder.numbers()]
    return max(times, default=0.0)
