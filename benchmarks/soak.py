# SPDX-License-Identifier: MIT
"""A hundred thousand random steps over all bundled programs: nothing grows, nothing stays."""

import random
import time
from pathlib import Path

from benchmarks.measure import Figure
from compiler_gym import make
from compiler_gym.testing import worker_pid

STEPS = 100_000
EPISODE = 50


def measure() -> list[Figure]:
    return soak(STEPS)


def soak(steps: int) -> list[Figure]:
    """Return the figures of `steps` random steps in one process."""
    generator = random.Random(0)
    failures, sizes = 0, []
    with make("llvm-v0", reward_space="IrInstructionCountOz", observation_space="Autophase") as env:
        programs = list(env.datasets["benchmark://cbench-v1"].benchmark_uris())
        for uri in programs:
            env.reset(benchmark=uri)
        started = time.perf_counter()
        for step in range(steps):
            if step % EPISODE == 0:
                env.reset(benchmark=generator.choice(programs))
            _, _, _, truncated, _ = env.step(generator.randrange(env.action_space.n))
            if truncated:
                failures += 1
                env.reset()
            if step % (steps // 20) == 0:
                sizes.append(_resident("self") + _resident(str(worker_pid(env))))
        seconds = time.perf_counter() - started
    early, late = max(sizes[2:10]), max(sizes[10:])
    return [
        Figure(f"{steps:,} random steps", steps / seconds, "steps/s"),
        Figure("memory of the second half against the first", late / early, "x", 1.05),
        Figure("episodes that a pass ended", failures, ""),
    ]


def _resident(process: str) -> int:
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise RuntimeError(f"no VmRSS of {process}")
