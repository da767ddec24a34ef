# SPDX-License-Identifier: MIT
"""Measure the parts that make vectors fast, each against the same vector without it.

python -m benchmarks.vector_parts --rounds 8

Two vectors take the same random actions alternately, for a second each; the ratio of their steps
per second is printed, with the lowest and the highest of the rounds. Figures are stored in decision
10.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any
from unittest import mock

import numpy as np

from compiler_gym.registration import make_vec
from compiler_gym.service import dispatch
from compiler_gym.service.dispatch import BusyWorkers, busy_workers
from compiler_gym.vector.vector_env import CompilerVectorEnv

PROGRAMS = ("cbench-v1/crc32", "cbench-v1/qsort", "cbench-v1/jpeg-d")


@contextmanager
def always_awake(_: CompilerVectorEnv) -> Iterator[None]:
    """Look for messages before sleeping, however many workers are busy."""
    with (
        mock.patch.object(BusyWorkers, "client_may_look", True),
        mock.patch.object(BusyWorkers, "worker_may_look", True, create=True),
        mock.patch.object(BusyWorkers, "_judge", return_value=None),
        mock.patch.object(busy_workers, "worker_may_look", True),
    ):
        yield


@contextmanager
def all_at_once(_: CompilerVectorEnv) -> Iterator[None]:
    """Send all requests at once, and let the kernel place the workers."""
    with mock.patch.object(dispatch, "_SHORT_SECONDS", 1e9):
        yield


PARTS: dict[str, Callable[[CompilerVectorEnv], Any]] = {
    "busy_workers": always_awake,
    "dispatch": all_at_once,
}


def steps_per_second(env: CompilerVectorEnv, seed: int, seconds: float = 1.0) -> float:
    """Step `env` with random actions for some seconds, in episodes of 15 steps."""
    generator = np.random.default_rng(seed)
    env.reset(seed=seed)
    begin, steps = time.perf_counter(), 0
    while time.perf_counter() - begin < seconds:
        if steps and steps % 15 == 0:
            env.reset()
        env.step(generator.integers(0, 120, env.num_envs))
        steps += 1
    return steps * env.num_envs / (time.perf_counter() - begin)


def ratios(part: str, rows: int, program: str, rounds: int) -> list[float]:
    """Return, for each round, the speed with a part divided by the speed without it."""
    env = make_vec(
        "llvm-v0",
        rows,
        benchmark=program,
        observation_space="Autophase",
        reward_space="IrInstructionCount",
    )
    steps_per_second(env, 0)
    found: list[float] = []
    for seed in range(rounds):
        speeds: list[tuple[bool, float]] = []
        for with_part in (True, False) if seed % 2 else (False, True):
            with nullcontext() if with_part else PARTS[part](env):
                speeds.append((with_part, steps_per_second(env, seed)))
        found.append(dict(speeds)[True] / dict(speeds)[False])
    env.close()
    return found


def main() -> None:
    """Print a line for each part, number of rows and program."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.vector_parts", description=__doc__)
    parser.add_argument("--rounds", type=int, default=8)
    options = parser.parse_args()
    for part in PARTS:
        for rows in (2, 4, 8):
            for program in PROGRAMS:
                values = ratios(part, rows, program, options.rounds)
                middle = statistics.median(values)
                print(f"{part:13} {rows} rows {program:17} {middle:.2f} "
                      f"({min(values):.2f} to {max(values):.2f})", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
