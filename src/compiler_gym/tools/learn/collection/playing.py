# SPDX-License-Identifier: MIT
"""Play the runs of a collection: each runs the policy on a program, with its own seed.

The result of a run depends only on the options and its number, not on the process or on earlier
runs.
"""

import hashlib
import random
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, Self

import numpy as np

from compiler_gym.core import CompilerEnv
from compiler_gym.datasets import BenchmarkUri
from compiler_gym.errors import (
    BenchmarkInitError,
    CompilerError,
    CompilerGymError,
    InvalidParameterError,
    PolicyError,
    RecordingError,
    ServiceError,
    SessionNotFound,
)
from compiler_gym.options import CollectOptions
from compiler_gym.registration import find_compiler, make
from compiler_gym.spaces import space_name
from compiler_gym.tools.learn.collection.recorded import Recorded, Tape
from compiler_gym.tools.learn.collection.shards import Layout, NamedStep, write_shard
from compiler_gym.tools.learn.leaderboard import (
    Limit,
    LimitReached,
    Meter,
    Policy,
    addresses,
    call_policy,
    task_defaults,
)
from compiler_gym.tools.learn.policies import RecordedSearch, find_policy
from compiler_gym.wrappers import EpisodeRecord

_MOST_PROGRAMS = 1_000_000
"""The most programs to take from an endless dataset."""


def settle_options(options: CollectOptions) -> tuple[CollectOptions, str]:
    """Return `options` with every default filled in, and the version of the compiler.

    If no cost or reward is named, the compiler's usual one is recorded.

    Raises:
        InvalidParameterError: The environment has no hash of its program, or no program is named.
        UnknownNameError: A space, a program or the policy does not exist.
        PolicyError: The policy cannot be loaded.
        BenchmarkInitError: A program cannot be read.
    """
    find_policy(options.policy)
    compiler = find_compiler(options.env)
    usual = {} if compiler is None else {**compiler.search_defaults, **task_defaults(compiler)}
    cost, reward = usual.get("cost", ""), usual.get("reward_space", "")
    with make_environment(options) as env:
        settled = replace(
            options,
            costs=tuple(options.costs or ([cost] if cost in env.observation else [])),
            rewards=tuple(options.rewards or ([reward] if reward in env.reward else [])),
            shard_steps=options.steps_of_a_shard,
            action_space=options.action_space or space_name(env.action_space),
        )
        _check_names(env, settled)
        return settled, env.compiler_version


def _check_names(env: CompilerEnv, options: CollectOptions) -> None:
    """Raise the errors of `settle_options` that depend on what `env` offers."""
    if not options.benchmarks:
        raise InvalidParameterError(
            "no programs to collect from; name a program or a dataset with --benchmarks"
        )
    if not options.no_hashes and env.state_observation is None:
        raise InvalidParameterError(
            f"{options.env} cannot hash the state of a program; collect without hashes "
            "(--no-hashes)"
        )
    for name in options.costs:
        space = env.observation.spec(name).space
        if space.shape != () or space.dtype is None or space.dtype.kind in "US":
            raise InvalidParameterError(
                f"the cost {name} is not a single number; record it with --observe"
            )
    for name in options.observe:
        env.observation.spec(name)
    for name in options.rewards:
        env.reward.spec(name)
    datasets = {dataset.name for dataset in env.datasets.datasets()}
    for name in map(BenchmarkUri.canonicalize, options.benchmarks):
        if name not in datasets:
            env.datasets.benchmark(name)


def make_seed(options: CollectOptions, run: int) -> int:
    """Return the seed of a run."""
    return int(np.random.SeedSequence([options.seed, run]).generate_state(1)[0])


class Player:
    """A player of runs in one environment; use it in a ``with`` block.

    Args:
        options: The options of the collection, from `settle_options`.
    """

    def __init__(self, options: CollectOptions) -> None:
        self._options = options
        self._tape = Tape()
        self._meter = Meter(Limit(compilations=0))
        self._policy: Policy = find_policy(options.policy, RecordedSearch)
        self._env = make_environment(options)
        key = None if options.no_hashes else self._env.state_observation
        recorded = list(dict.fromkeys([*filter(None, [key]), *options.costs, *options.observe]))
        self.layout = Layout.of(self._env, recorded, options.rewards)
        """The columns."""
        self._recorded = Recorded(self._env, recorded, self._tape, self._meter)
        self._programs = _shuffle_programs(self._env, options)
        self.compiler_version = self._env.compiler_version

    def write(self, shard: int, path: Path, tick: Callable[[int], None] = lambda n: None) -> None:
        """Play the runs of a shard and write them to the file `path`.

        `tick` is called after each run with the number of steps in the shard so far.

        Raises:
            RecordingError: An observation does not fit its column, or the file cannot be written.
            PolicyError: The policy raised an error.
        """
        spaces = self._env.observation.spaces
        columns = {field.name: spaces[field.name].space for field in self.layout.fields}
        steps = 0
        with write_shard(path, self.layout, columns) as sink, _seed_randomness():
            self._tape.sink = sink
            try:
                for run in self._options.runs_in(shard):
                    steps += self.play(run)
                    tick(steps)
            finally:
                self._tape.sink, self._tape.episode = None, None

    def play(self, run: int) -> int:
        """Play one run and return its number of steps."""
        options, tape, env = self._options, self._tape, self._recorded
        program, seed = self._programs[run % len(self._programs)], make_seed(options, run)
        tape.run = run
        meter = env.meter = Meter(Limit(compilations=options.count_steps(run)))
        random.seed(seed)
        np.random.seed(seed)
        env.observation_space = None
        try:
            env.reset(benchmark=program, seed=seed, action_space=options.action_space)
        except (BenchmarkInitError, CompilerError, ServiceError) as error:
            self._keep_refusal(program, seed, error)
            return 0
        try:
            with suppress(LimitReached, SessionNotFound):
                call_policy(self._policy, env, meter)
            env.episode_ended()
        except RecordingError:
            raise
        except Exception as error:
            kind = "" if isinstance(error, PolicyError) else f"{type(error).__name__}: "
            raise PolicyError(
                f"the policy {options.policy} failed in run {run} on {program}: {kind}{error}; "
                "complete shards are kept: fix the policy and resume"
            ) from error
        return meter.compilations

    def close(self) -> None:
        """Close the environment."""
        self._env.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def _keep_refusal(self, program: str, seed: int, error: CompilerGymError) -> None:
        """Record a row for a program on which no episode can start."""
        step = NamedStep([], None, False, True, False, str(error), None, type(error).__name__)
        self._tape.episode = EpisodeRecord(
            program, self._options.action_space, self.compiler_version, seed, None
        )
        self._tape.episode.steps = [step]
        self._tape.end()


def policy_digest(name: str) -> str:
    """Return the SHA-256 of the policy's file; empty for a built-in policy."""
    path = Path(name.partition(":")[0])
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.suffix == ".py" else ""


def make_environment(options: CollectOptions) -> CompilerEnv:
    """Return a new environment with the action space and the rewards of a collection."""
    rewards = options.rewards
    return make(
        options.env,
        limits=options.limits,
        action_space=options.action_space,
        reward_space=rewards[0] if len(rewards) == 1 else list(rewards) or None,
    )


def _shuffle_programs(env: CompilerEnv, options: CollectOptions) -> Sequence[str]:
    """Return the addresses of the programs, shuffled with the seed."""
    programs = list(islice(addresses(env, options.benchmarks), max(options.runs, _MOST_PROGRAMS)))
    random.Random(options.seed).shuffle(programs)
    return programs


@contextmanager
def _seed_randomness() -> Generator[None]:
    """Restore the states of the global random generators at the end of the block."""
    before: Any = random.getstate(), np.random.get_state()
    try:
        yield
    finally:
        random.setstate(before[0])
        np.random.set_state(before[1])
