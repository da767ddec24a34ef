# SPDX-License-Identifier: MIT
"""What a leaderboard fixes so that results can be compared: everything but the policy."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from compiler_gym.core import CompilerEnv
from compiler_gym.datasets import BenchmarkUri
from compiler_gym.errors import InvalidParameterError, UnknownNameError

__all__ = ["TASKS", "Limit", "Task", "find_task"]


@dataclass(frozen=True, slots=True)
class Limit:
    """What a policy may use on one program; at least one bound is set."""

    seconds: float | None = None
    """Wall time."""
    compilations: int | None = None
    """Actions that are applied, by the environment it was given or a fork of it."""

    def __post_init__(self) -> None:
        if self.seconds is None and self.compilations is None:
            raise InvalidParameterError("a limit needs a bound: expected seconds or compilations")

    def __str__(self) -> str:
        seconds = [] if self.seconds is None else [f"{self.seconds:g} s"]
        steps = [] if self.compilations is None else [f"{self.compilations} compilations"]
        return " and ".join(seconds + steps)


@dataclass(frozen=True, slots=True)
class Task:
    """One leaderboard."""

    name: str
    description: str
    limit: Limit
    environment: str = "llvm-v0"
    compiler_version: str = "22"
    """The version of the compiler begins with this."""
    action_space: str | None = None
    """None leaves the choice to the policy."""
    programs: tuple[str, ...] = ("benchmark://cbench-v1",)
    """Datasets or addresses of programs that a policy is judged on."""
    goal: str | None = None
    """What programs are optimised for; None is the environment's own."""
    train: tuple[str, ...] = ()
    """Datasets or addresses that it may learn from; none means that it may not learn before."""
    train_seconds: float = 0.0
    reward_space: str = "IrInstructionCountOz"
    cost: str = "IrInstructionCount"
    """The observation that is to be small."""
    initial: str = "IrInstructionCountO0"
    baseline: str = "IrInstructionCountOz"
    """Observations of the cost at -O0 and at the level to be beaten."""
    repetitions: int = 1
    seed: int = 0

    def uris(self, env: CompilerEnv) -> Iterator[str]:
        """Yield the address of every program that a policy is judged on."""
        known = [dataset.name for dataset in env.datasets.datasets()]
        query = f"?goal={self.goal}" if self.goal is not None else ""
        for name in map(BenchmarkUri.canonicalize, self.programs):
            for uri in env.datasets[name].benchmark_uris() if name in known else [name]:
                yield uri if "?" in uri else uri + query

    def only(self, programs: tuple[str, ...]) -> "Task":
        """Return the task on some programs, for a trial."""
        return replace(self, programs=programs)

    def to_json(self) -> dict[str, Any]:
        """Return what a submission records of the task."""
        return {
            "task": self.name, "limit": str(self.limit), "environment": self.environment,
            "reward_space": self.reward_space, "cost": self.cost, "baseline": self.baseline,
            "goal": self.goal, "repetitions": self.repetitions, "seed": self.seed,
            "programs": list(self.programs), "train": list(self.train),
        }  # fmt: skip


def _instruction_count(seconds: float) -> Task:
    return Task(
        f"llvm-ic-{seconds:g}s",
        f"IR instructions of cbench-v1, {seconds:g} s for each program",
        Limit(seconds=seconds),
    )


TASKS: Mapping[str, Task] = MappingProxyType(
    {
        task.name: task
        for task in (
            _instruction_count(1),
            _instruction_count(10),
            _instruction_count(60),
            Task(
                "llvm-textsize-10s",
                "Bytes of machine code of cbench-v1, 10 s for each program",
                Limit(seconds=10),
                reward_space="ObjectTextSizeOz",
                cost="ObjectTextSizeBytes",
                initial="ObjectTextSizeO0",
                baseline="ObjectTextSizeOz",
            ),
            Task(
                "llvm-ic-unseen",
                "IR instructions of cbench-v1 by a policy that has seen generated programs alone",
                Limit(seconds=10, compilations=100),
                train=("generator://csmith-v0", "generator://llvm-stress-v0"),
                train_seconds=600,
            ),
            Task(
                "llvm-instructions-60s",
                "Instructions that cbench-v1 retires when it runs, against -O3",
                Limit(seconds=60),
                goal="speed",
                reward_space="RuntimeInstructionsO3",
                cost="RuntimeInstructions",
                initial="RuntimeInstructionsO0",
                baseline="RuntimeInstructionsO3",
            ),
        )
    }
)
"""Every leaderboard by name."""


def find_task(name: str) -> Task:
    """Return the task `name`; raise `UnknownNameError` with those there are."""
    if name not in TASKS:
        raise UnknownNameError(f"no task {name!r}; there are {', '.join(TASKS)}")
    return TASKS[name]
