# SPDX-License-Identifier: MIT
"""What keeping transitions costs beyond stepping, and how fast a store fills.

Runs of random actions are played twice in turns: bare, with the same observations and reward
asked for, and by a collection that keeps them. Both make the same steps. The processor time of
this process and of the compiler's worker is taken apart, the least of several turns, because
other programs on the machine only ever add. Two processes are compared with two collections
that run beside each other and share nothing, by wall-clock time, start-up included.
"""

import random
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.measure import Figure
from benchmarks.scaling import _computed
from compiler_gym import make
from compiler_gym.options import CollectOptions
from compiler_gym.testing import worker_pid
from compiler_gym.tools.learn.collection import collect
from compiler_gym.tools.learn.collection.playing import Player, make_seed, settle_options
from compiler_gym.tools.learn.collection.shards import describe

PROGRAMS = (
    ("small", "cbench-v1/crc32", 2_000),
    ("middle", "cbench-v1/sha", 1_000),
    ("large", "cbench-v1/jpeg-d", 300),
)
"""With the steps that are made; they have 600, 1,300 and 11,000 instructions."""
LENGTH = 50
TURNS = 5
TOGETHER_STEPS, TOGETHER_TURNS = 4_000, 3
DAY, BILLION = 86_400, 1e9


def measure() -> list[Figure]:
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as folder:
        for size, program, steps in PROGRAMS:
            figures += _of_one(size, program, steps, Path(folder))
        figures += _together(Path(folder))
    return figures


def _of_one(size: str, program: str, steps: int, folder: Path) -> list[Figure]:
    """Return what a transition of one program costs, and where its time goes."""
    options, _ = settle_options(
        CollectOptions(
            env="llvm-v0", benchmarks=(program,), observe=("Autophase",), steps=steps,
            length=LENGTH, shard_steps=steps, jobs=1,
        )
    )  # fmt: skip
    kept, bare = _Least(), _Least()
    path = folder / f"{size}.parquet"
    with Player(options) as player, _bare_environment(options) as env:
        player.write(0, path)  # both environments have the program loaded
        _step_bare(env, options, program)
        for _ in range(TURNS):
            with kept.of(player._env):
                player.write(0, path)
            with bare.of(env):
                _step_bare(env, options, program)
    shard = describe(path)
    count = shard.transitions
    own, worker = kept.client - bare.client, kept.worker
    each = (kept.client + kept.worker) / count
    return [
        Figure(f"{size}: transitions per second of a core", 1 / each, "/s"),
        Figure(f"{size}: processor time of a transition, compiler", worker / count * 1e6, "µs"),
        Figure(f"{size}: the same, environment's client", bare.client / count * 1e6, "µs"),
        Figure(f"{size}: the same, keeping it", own / count * 1e6, "µs"),
        Figure(
            f"{size}: keeping it, as a share of stepping",
            100 * own / (bare.client + bare.worker), "%", 10,
        ),
        Figure(f"{size}: bytes a transition, with Autophase", shard.bytes / count, "bytes"),
        Figure(f"{size}: 10^9 transitions, core-days", each * BILLION / DAY, "days"),
        Figure(f"{size}: 10^9 transitions, disk", shard.bytes / count, "GB"),
    ]  # fmt: skip


class _Least:
    """The least processor time of several turns, of this process and of a worker."""

    def __init__(self) -> None:
        self.client = self.worker = float("inf")
        self._env: Any = None

    def of(self, env: Any) -> "_Least":
        self._env = env
        return self

    def __enter__(self) -> None:
        self._pid = worker_pid(self._env)
        self._began = time.process_time(), _computed(self._pid)

    def __exit__(self, *raised: object) -> None:
        assert worker_pid(self._env) == self._pid, "a worker was lost: choose another seed"
        client, worker = self._began
        self.client = min(self.client, time.process_time() - client)
        self.worker = min(self.worker, _computed(self._pid) - worker)


def _bare_environment(options: CollectOptions) -> Any:
    return make(
        options.env,
        action_space=options.action_space,
        observation_space=["IrHash", *options.costs, *options.observe],
        reward_space=options.rewards[0],
    )


def _step_bare(env: Any, options: CollectOptions, program: str) -> None:
    """Make the steps that a collection makes, and keep nothing."""
    for run in options.runs_in(0):
        seed = make_seed(options, run)
        random.seed(seed)
        env.reset(benchmark=program, seed=seed)
        count = env.action_space.n
        for _ in range(options.count_steps(run)):
            if env.step(random.randrange(count))[3]:
                break


def _together(folder: Path) -> list[Figure]:
    """Return how two processes, and two tasks of Ray, compare with two lone collections."""
    given: dict[str, Any] = {
        "env": "llvm-v0", "benchmarks": ("cbench-v1/sha",), "length": LENGTH,
        "shard_steps": TOGETHER_STEPS // 16,
    }  # fmt: skip
    has_ray = find_spec("ray") is not None
    if has_ray:  # the cluster is there before
        collect(folder / "first", CollectOptions(**given, steps=LENGTH, ray=True))
    ratios, on_ray = [], []
    for turn in range(TOGETHER_TURNS):
        alone = _seconds_of_two(folder / f"alone-{turn}")
        pair = _seconds_of(
            folder / f"pair-{turn}", CollectOptions(**given, steps=TOGETHER_STEPS, jobs=2)
        )
        ratios.append(100 * alone / pair)
        if has_ray:
            ray = CollectOptions(**given, steps=TOGETHER_STEPS, ray=True)
            on_ray.append(100 * alone / _seconds_of(folder / f"ray-{turn}", ray))
    name = "against two collections that share nothing"
    figures = [
        Figure(f"two processes {name}", median(ratios), "%", 90, "at least"),
    ]
    return figures + (
        [Figure(f"Ray, two cores, started before, {name}", median(on_ray), "%")] if on_ray else []
    )


def _seconds_of(folder: Path, options: CollectOptions) -> float:
    started = time.perf_counter()
    collect(folder, options)
    return time.perf_counter() - started


def _seconds_of_two(folder: Path) -> float:
    """Return how long two commands with half of the steps each take beside each other."""
    started = time.perf_counter()
    both = [
        subprocess.Popen(
            [
                *(sys.executable, "-m", "compiler_gym", "collect", "llvm-v0", "--json"),
                *("--benchmarks", "cbench-v1/sha", "--steps", str(TOGETHER_STEPS // 2)),
                *("--length", str(LENGTH), "--shard-steps", str(TOGETHER_STEPS // 16)),
                *("--jobs", "1", "--seed", str(seed), "--output", f"{folder}-{seed}"),
            ],
            stdout=subprocess.DEVNULL,
        )
        for seed in range(2)
    ]
    assert [one.wait() for one in both] == [0, 0]
    return time.perf_counter() - started
