# SPDX-License-Identifier: MIT
"""All options of a search and of a collection of transitions, except programs and folders."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from compiler_gym.options.declaring import (
    ABOVE_0,
    FROM_0,
    WHOLE_ABOVE_0,
    WHOLE_FROM_0,
    Spelling,
    check,
    option,
    seconds_in,
)
from compiler_gym.options.limits import Limits

_SECONDS = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """The options of a search.

    A single declaration of a field makes it an option of ``compiler-gym search``, a keyword of
    `run_search`, and part of the record in a run folder. Raises `InvalidParameterError` for a
    number out of its range.

        >>> SearchOptions(steps=150, jobs=2).algorithm
        'portfolio'
    """

    algorithm: str = option("portfolio", "random, greedy, e-greedy, local or portfolio")
    seconds: float | None = option(
        None,
        f"Time for all programs together: 90 (seconds), 10m or 1h [default: {_SECONDS:g} "
        "without --steps or --sequences]",
        ABOVE_0,
        spelling=Spelling("time", type=str, read=seconds_in),
    )
    steps: int | None = option(
        None, "Number of actions to try on each program; reproducible, unlike --time", WHOLE_ABOVE_0
    )
    sequences: int | None = option(
        None, "Number of sequences to try on each program; reproducible", WHOLE_ABOVE_0
    )
    jobs: int | None = option(
        None, "Number of threads [default: one per processor]", WHOLE_ABOVE_0, may_change=True
    )
    seed: int = option(0, "Random seed; the result is reproducible together with --steps")
    starts: Sequence[str | Sequence[int]] | None = option(
        None,
        "Starting sequence: actions separated by spaces, or 'recipe small'; can be repeated",
        spelling=Spelling("start", type=list[str]),
    )
    """Initial sequences, as names separated by blanks or as numbers from zero. The default is the
    standard levels and known sequences; standard levels are added after given sequences, and an
    empty list means no initial sequences."""
    step_seconds: float = option(
        10.0, "Time limit in seconds for one action; a slower one counts as failed", ABOVE_0
    )
    level_seconds: float = option(
        300.0, "Time limit in seconds for a standard level (-Oz, ...)", ABOVE_0
    )
    kept_processes: int = option(
        128,
        "Forked processes to keep alive, so that sequences can be continued from them; 0 "
        "replays instead",
        FROM_0,
        may_change=True,
    )
    kept_bytes: float = option(
        1 << 30,
        "Memory limit in GiB for these processes",
        FROM_0,
        may_change=True,
        spelling=Spelling("kept_gib", 1 << 30),
    )

    def __post_init__(self) -> None:
        check(self)

    @property
    def seconds_allowed(self) -> float | None:
        """The time limit in seconds: a default if nothing else ends the search."""
        limits = (self.seconds, self.steps, self.sequences)
        return self.seconds if any(limit is not None for limit in limits) else _SECONDS


_SHARDS = 64
"""A kill costs at most one shard of each process, so small collections have this many shards."""
_LEAST_SHARD_STEPS, _MOST_SHARD_STEPS = 1_000, 100_000
"""Bounds of the number of steps in a shard."""


def _repeatable(flag: str = "") -> Spelling:
    return Spelling(flag, type=list[str])


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectOptions:
    """The options of a collection.

    A single declaration of a field makes it an option of ``compiler-gym collect``, a keyword of
    `collect`, and part of the record in the folder. Raises `InvalidParameterError` for a number
    out of its range.

        >>> CollectOptions(env="llvm-v0", steps=1000, length=50).runs
        20
    """

    env: str = option("")
    policy: str = option("random", "random, search, search:ALGORITHM, level:NAME or FILE.py")
    benchmarks: Sequence[str] = option(
        (), "Program or dataset to collect from; can be repeated", spelling=_repeatable()
    )
    steps: int = option(10_000, "Maximum number of steps", WHOLE_ABOVE_0)
    length: int = option(100, "Maximum number of steps in each run of the policy", WHOLE_ABOVE_0)
    action_space: str | None = option(None, "Action space; `compiler-gym describe` lists them")
    observe: Sequence[str] = option(
        (), "Observation to store for each state; can be repeated", spelling=_repeatable()
    )
    costs: Sequence[str] = option(
        (),
        "Cost to store for each state; can be repeated [default: the usual one]",
        spelling=_repeatable(),
    )
    rewards: Sequence[str] = option(
        (),
        "Reward to store for each step; can be repeated [default: the usual one]",
        spelling=_repeatable(),
    )
    no_hashes: bool = option(False, "Do not store the hash of each state")
    seed: int = option(0, "Random seed; the same seed produces the same collection", WHOLE_FROM_0)
    shard_steps: int | None = option(
        None, "Number of steps in a shard [default: a 64th, from 1,000 to 100,000]", WHOLE_ABOVE_0
    )
    jobs: int | None = option(
        None, "Number of processes [default: one per processor]", WHOLE_ABOVE_0, may_change=True
    )
    ray: bool = option(False, "Make the shards tasks of a Ray cluster", may_change=True)
    limits: Limits = field(default_factory=Limits)
    """The limits of the workers."""

    def __post_init__(self) -> None:
        check(self)

    @property
    def runs(self) -> int:
        """Number of times that the policy is run."""
        return -(-self.steps // self.length)

    @property
    def steps_of_a_shard(self) -> int:
        """Number of steps in a shard, unless they fail; independent of settings that may
        change."""
        return self.shard_steps or min(
            max(-(-self.steps // _SHARDS), _LEAST_SHARD_STEPS), _MOST_SHARD_STEPS
        )

    @property
    def runs_of_a_shard(self) -> int:
        """Number of runs in a shard."""
        return -(-self.steps_of_a_shard // self.length)

    @property
    def shards(self) -> int:
        """Number of shards in the collection."""
        return -(-self.runs // self.runs_of_a_shard)

    def runs_in(self, shard: int) -> range:
        """Return the numbers of the runs in a shard."""
        begin = shard * self.runs_of_a_shard
        return range(begin, min(begin + self.runs_of_a_shard, self.runs))

    def count_steps(self, run: int) -> int:
        """Return the most steps of a run: the last run takes the remaining ones."""
        return min(self.length, self.steps - run * self.length)
