# SPDX-License-Identifier: MIT
"""The fixed settings of a leaderboard, everything but the policy, and the metrics.

C0, Cb and C are the costs at -O0, at the baseline and after the policy. The metrics are the share
of the baseline's saving ``(C0-C)/(C0-Cb)``, the ratio ``Cb/C`` and the saving over the baseline
``(Cb-C)/Cb``. If publications use another baseline, Cp, there is also its share
``(C0-C)/(C0-Cp)``. Means are geometric over programs. Their intervals come from bootstrapping
programs, because results should generalise to other programs.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from compiler_gym.core import CompilerEnv
from compiler_gym.datasets import BenchmarkUri
from compiler_gym.errors import InvalidParameterError, UnknownNameError
from compiler_gym.lazy import parts
from compiler_gym.registration import Compiler, default_environment, find_compiler
from compiler_gym.statistics import Interval, geometric_interval


@dataclass(frozen=True, slots=True)
class Limit:
    """The resources that a policy may use on one program; at least one bound is set."""

    seconds: float | None = None
    """The wall time in seconds."""
    compilations: int | None = None
    """The number of actions applied, in the environment and its forks."""
    per_sequence: bool = False
    """True if a compilation is instead a sequence of actions after a reset or in a fork."""

    def __post_init__(self) -> None:
        if self.seconds is None and self.compilations is None:
            raise InvalidParameterError("a limit needs a bound; pass seconds or compilations")
        for name, bound in (("seconds", self.seconds), ("compilations", self.compilations)):
            if bound is not None and not bound >= 0:
                raise InvalidParameterError(f"{name} must be at least 0 (got {bound})")

    def __str__(self) -> str:
        seconds = [] if self.seconds is None else [f"{self.seconds:g} s"]
        unit = "sequences" if self.per_sequence else "compilations"
        steps = [] if self.compilations is None else [f"{self.compilations} {unit}"]
        return " and ".join(seconds + steps)


@dataclass(frozen=True, slots=True)
class LeaderboardTask:
    """One leaderboard, judged by the compiler's usual cost unless the fields name another."""

    name: str
    description: str
    limit: Limit
    environment: str = field(default_factory=default_environment)
    action_space: str | None = None
    """The name of the action space; None leaves the choice to the policy."""
    programs: tuple[str, ...] = ("benchmark://cbench-v1",)
    """Datasets or addresses of the programs on which a policy is judged."""
    goal: str | None = None
    """The goal of the optimisation; None is the environment's default."""
    train: tuple[str, ...] = ()
    """Datasets or addresses of the training programs; empty allows no training."""
    train_seconds: float = 0.0
    reward_space: str = ""
    cost: str = ""
    """The observation to minimise."""
    initial: str = ""
    baseline: str = ""
    """Observations of the cost at -O0 (`initial`) and at the level to beat (`baseline`)."""
    published_baseline: str = ""
    """The observation of the cost at the baseline used in publications, shown as well; empty if
    there is no other."""
    tolerance: float = 0.0
    """The fraction by which the cost may differ when it is measured again."""
    repetitions: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        compiler = find_compiler(self.environment)
        for name, usual in task_defaults(compiler).items():
            if not getattr(self, name):
                object.__setattr__(self, name, usual)

    def uris(self, env: CompilerEnv) -> Iterator[str]:
        """Yield the address of every program on which a policy is judged."""
        query = f"?goal={self.goal}" if self.goal is not None else ""
        for uri in addresses(env, self.programs):
            yield uri if "?" in uri else uri + query

    def only(self, programs: tuple[str, ...]) -> "LeaderboardTask":
        """Return the task restricted to `programs`, for a trial."""
        return replace(self, programs=programs)

    def to_json(self) -> dict[str, Any]:
        """Return the settings of the task that a run records."""
        names = (
            "environment reward_space cost baseline goal repetitions seed programs train".split()
        )
        settings = {name: getattr(self, name) for name in names}
        return {"task": self.name, "limit": str(self.limit), **settings}


def addresses(env: CompilerEnv, names: Iterable[str]) -> Iterator[str]:
    """Yield the addresses in `names`, and those of every program in the datasets among them."""
    datasets = [dataset.name for dataset in env.datasets.datasets()]
    for name in map(BenchmarkUri.canonicalize, names):
        yield from env.datasets[name].benchmark_uris() if name in datasets else [name]


class _Tasks(Mapping[str, LeaderboardTask]):
    """The tasks of every installed compiler, loaded on demand."""

    def __getitem__(self, name: str) -> LeaderboardTask:
        return _load_tasks()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_load_tasks())

    def __len__(self) -> int:
        return len(_load_tasks())


TASKS: Mapping[str, LeaderboardTask] = _Tasks()
"""Every leaderboard by name."""


@cache
def _load_tasks() -> dict[str, LeaderboardTask]:
    groups = [entry.load().TASKS for entry in parts("leaderboard_tasks").values()]
    return {task.name: task for group in groups for task in group}


def task_defaults(compiler: Compiler | None) -> Mapping[str, str]:
    """Return the default values of a task's fields for `compiler`, by field name."""
    entry = None if compiler is None else parts("leaderboard_tasks").get(compiler.name)
    return {} if entry is None else entry.load().DEFAULTS


def find_task(name: str) -> LeaderboardTask:
    """Return the task `name`; raise `UnknownNameError` if there is none."""
    if name not in TASKS:
        raise UnknownNameError(f"no task {name!r}; choose from {', '.join(TASKS)}")
    return TASKS[name]


@dataclass(frozen=True, slots=True)
class ScoredCost:
    """The measured costs of one program: the median of its repetitions."""

    program: str
    initial: float
    baseline: float
    found: float
    published: float | None = None
    """The cost at the baseline used in publications, if it differs."""

    def share(self, baseline: float | None) -> float | None:
        """Return ``(C0-C)/(C0-Cb)``; None if the baseline is unknown or saves nothing."""
        saved = 0.0 if baseline is None else self.initial - baseline
        return (self.initial - self.found) / saved if saved > 0 else None

    @property
    def ratio(self) -> float | None:
        """``Cb/C``; None if either is zero."""
        return self.baseline / self.found if self.found > 0 and self.baseline > 0 else None


@dataclass(frozen=True, slots=True)
class ScoreSummary:
    """The metrics over all programs; None for a metric without a geometric mean."""

    programs: int
    share: Interval | None
    published_share: Interval | None
    """``(C0-C)/(C0-Cp)``; None also if there is no other baseline."""
    ratio: Interval | None
    saving: Interval | None
    """``(Cb-C)/Cb``: 1 - geomean(C/Cb), because a saving of 0 has no geometric mean."""
    improved: float
    """The fraction of programs that cost less than the baseline."""


def summarise(costs: Sequence[ScoredCost], *, seed: int = 0) -> ScoreSummary:
    """Return the metrics over `costs`; the same seed gives the same intervals.

    >>> summary = summarise([ScoredCost("a", 200, 100, 100), ScoredCost("b", 300, 100, 50)])
    >>> round(summary.ratio.mean, 4), summary.improved
    (1.4142, 0.5)
    """

    def mean(values: list[float | None]) -> Interval | None:
        return geometric_interval([value for value in values if value is not None], seed)

    ratio = mean([cost.ratio for cost in costs])
    bounds = None if ratio is None else (ratio.mean, ratio.low, ratio.high)
    return ScoreSummary(
        programs=len(costs),
        share=mean([cost.share(cost.baseline) for cost in costs]),
        published_share=mean([cost.share(cost.published) for cost in costs]),
        ratio=ratio,
        saving=None if bounds is None else Interval(*(1 - 1 / value for value in bounds)),
        improved=sum(cost.found < cost.baseline for cost in costs) / len(costs) if costs else 0.0,
    )
