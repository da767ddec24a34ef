# SPDX-License-Identifier: MIT
"""The budget of a search, its progress, its results, and both in a run folder.

Every improvement is on disk before the search continues. A resumed search starts from the best
sequences so far, with the remaining time.
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, Any, Protocol, cast

from compiler_gym.errors import CacheError, InvalidParameterError
from compiler_gym.files import write_whole, writing
from compiler_gym.options import ABOVE_0, WHOLE_ABOVE_0, SearchOptions, check, list_options, option
from compiler_gym.options import to_plain as options_to_plain
from compiler_gym.runs import RunFolder
from compiler_gym.spaces import to_plain

_REFINING_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits of one search; at least one is required.

    >>> Budget(seconds=60).searching_seconds
    54.0
    """

    seconds: float | None = option(None, range=ABOVE_0)
    """Wall time for all programs together, including minimisation."""
    steps: int | None = option(None, range=WHOLE_ABOVE_0)
    """New actions tried on each program, not counting minimisation. A search limited only by
    steps or sequences gives the same result every time."""
    sequences: int | None = option(None, range=WHOLE_ABOVE_0)
    """Sequences tried on each program: compilations, each of which counts at its best point."""

    def __post_init__(self) -> None:
        if self.seconds is None and self.steps is None and self.sequences is None:
            raise InvalidParameterError("a search needs a limit: set seconds, steps or sequences")
        check(self)

    @classmethod
    def of(cls, options: SearchOptions) -> "Budget":
        """Return the limits in the options of a search."""
        return cls(options.seconds_allowed, options.steps, options.sequences)

    @property
    def searching_seconds(self) -> float:
        """Seconds until the search stops and starts to minimise the result."""
        if self.seconds is None:
            return math.inf
        return self.seconds * (1 - _REFINING_SHARE)

    @property
    def total_seconds(self) -> float:
        """Seconds until the search ends, including minimisation."""
        return math.inf if self.seconds is None else self.seconds


@dataclass(frozen=True, slots=True)
class Improvement:
    """A sequence that is better than all before it on its program."""

    program: int
    """The index of the program in the list of programs."""
    benchmark: str
    seconds: float
    """Wall time since the start of the search."""
    steps: int
    """New actions tried on this program so far."""
    sequences: int
    """Sequences walked on this program so far."""
    reward: float
    actions: tuple[int, ...]
    """The sequence, as action numbers from zero."""


@dataclass(frozen=True, slots=True)
class SearchProgress:
    """The progress of one program's search."""

    benchmark: str
    reward: float
    """The best reward so far."""
    length: int
    """The length of the best sequence."""
    steps: int
    sequences: int
    failures: int
    phase: str
    """``waiting``, ``searching``, ``minimising`` or ``done``."""


class SearchWatcher(Protocol):
    """Receiver of the reports of a search, in the thread that called it.

    If a watcher raises an exception, the search stops and passes it on.
    """

    def improved(self, improvement: Improvement) -> None:
        """Receive a better sequence."""
        ...

    def tick(self, seconds: float, programs: Sequence[SearchProgress]) -> None:
        """Receive the progress of all programs; called a few times a second."""
        ...


class Silent:
    """A watcher that does nothing."""

    def improved(self, improvement: Improvement) -> None:
        """Do nothing."""

    def tick(self, seconds: float, programs: Sequence[SearchProgress]) -> None:
        """Do nothing."""


@dataclass(frozen=True, slots=True)
class FailureReason:
    """A reason why the compiler could not finish sequences, with their number."""

    action: str
    """The name of the action that failed; empty if it was one of several applied together."""
    type: str
    """The name of the error class."""
    details: str
    """The first line of the error message."""
    count: int
    """Number of sequences that failed for this reason."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The best sequence found for one program."""

    benchmark: str
    """The URI of the program."""
    actions: tuple[Any, ...]
    """The actions, as accepted by ``multistep``."""
    action_names: tuple[str, ...]
    commandline: str
    """The actions as the compiler's command line, if the action space can write one."""
    reward: float
    """The total reward of the episode, measured by a replay after a reset."""
    reward_space: str
    action_space: str
    algorithm: str
    seed: int
    seconds: float
    """Time spent on this program, over all threads."""
    steps: int
    """New actions tried."""
    sequences: int
    """Sequences tried, with the reward after each of their actions."""
    failures: int
    """Sequences that the compiler could not finish."""
    is_interrupted: bool
    """True if the search was stopped before its budget was used up."""
    improvements: tuple[Improvement, ...]
    """Every improvement, in order of time."""
    failure_reasons: tuple[FailureReason, ...] = ()
    """Reasons why sequences failed, the most frequent first."""
    recognised: int = 0
    """Number of sequences that reached an already-seen program."""

    def to_json(self) -> dict[str, Any]:
        """Return plain values for a JSON file."""
        plain = asdict(self)
        plain["actions"] = [_json_action(action) for action in self.actions]
        plain["improvements"] = [
            {
                "seconds": round(i.seconds, 3),
                "steps": i.steps,
                "reward": i.reward,
                "length": len(i.actions),
            }
            for i in self.improvements
        ]
        return plain


def write_results(path: Path, results: Iterable[SearchResult], **facts: Any) -> Path:
    """Write `results` and `facts` to the file `path` atomically."""
    return write_json(path, {**facts, "results": [result.to_json() for result in results]})


def write_json(path: Path, document: Mapping[str, Any]) -> Path:
    """Write `document` to the file `path` atomically; raise `CacheError` if that fails."""
    with writing(path, CacheError):
        write_whole(path, (json.dumps(document, indent=2) + "\n").encode())
    return path


class ProgressLog:
    """A file of JSON lines, one per improvement, that can be read while the search runs."""

    def __init__(self, path: Path) -> None:
        with writing(path, CacheError):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file: IO[str] = path.open("w", encoding="utf-8")

    def add(self, improvement: Improvement) -> None:
        """Append one line."""
        line = asdict(improvement) | {"seconds": round(improvement.seconds, 3)}
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> "ProgressLog":
        return self

    def __exit__(self, *args: object) -> None:
        self.close()


def _json_action(action: Any) -> Any:
    plain: Any = to_plain(action)
    is_json = isinstance(plain, (str, bool, int, float, list, dict))
    return cast("Any", plain) if is_json else str(plain)


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
    task_options = {**options_to_plain(options), "seconds": options.seconds_allowed}
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
    budget = compute_remaining(Budget.of(options), folder)
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
    return replace(budget, seconds=seconds)


def keep_results(folder: RunFolder, results: Sequence[SearchResult]) -> None:
    """Write the results of the search to the folder."""
    for result in results:
        plain = result.to_json()
        del plain["improvements"]
        folder.record(f"result {result.benchmark}", {**plain, "walltime": result.seconds})


def _seconds_spent(folder: RunFolder) -> float:
    times = [float(line.get("seconds", 0.0)) for line in folder.numbers()]
    return max(times, default=0.0)
