# SPDX-License-Identifier: MIT
"""What GCC's environment costs beyond GCC itself.

A step whose command line was seen before is compared with a step of the same worker
that asks for nothing. Observing an object is compared with a bare ``gcc -c`` of the
program as it was given, run in turns; the fastest of several is kept for each.
"""

import os
import random
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.measure import Figure, median_seconds
from compiler_gym import make
from compiler_gym.core import CompilerEnv
from compiler_gym_gcc import GccEnv

GCC = "gcc-12"
PROGRAMS = ("qsort", "adpcm", "patricia")
LEVELS = ("-O1", "-O2", "-O3", "-Os")
STEPS = 300
REPEATS = 5


def measure() -> list[Figure]:
    if shutil.which(GCC) is None:
        raise SystemExit(f"this needs {GCC}: apt install {GCC}")
    before = os.environ.pop("COMPILER_GYM_CACHE", None)
    try:
        with tempfile.TemporaryDirectory() as cache:
            os.environ["COMPILER_GYM_CACHE"] = cache  # nothing was seen before
            return [*_starts(), *_seen_before(), *_observing(Path(cache))]
    finally:
        del os.environ["COMPILER_GYM_CACHE"]
        if before is not None:
            os.environ["COMPILER_GYM_CACHE"] = before


def _starts() -> list[Figure]:
    started = time.perf_counter()
    first = make("gcc-v0", gcc_bin=GCC)
    seconds = time.perf_counter() - started
    again = median_seconds(lambda: make("gcc-v0", gcc_bin=GCC).close(), repeats=20)
    first.close()
    return [
        Figure("the first make(), the options read from the compiler", seconds * 1e3, "ms"),
        Figure("the next make()", again * 1e3, "ms"),
    ]


def _seen_before() -> list[Figure]:
    arguments: dict[str, Any] = {"gcc_bin": GCC, "benchmark": "cbench-v1/crc32"}
    with (
        make("gcc-v0", **arguments) as bare,
        make("gcc-v0", **arguments, observation_space="obj_size") as seen,
    ):
        assert isinstance(seen, GccEnv)
        actions = [seen.action_space[level] for level in LEVELS]
        for env in (bare, seen):
            env.reset()
            for action in actions:
                assert not env.step(action)[3]
        generator = random.Random(0)
        order = [generator.choice(actions) for _ in range(STEPS)]
        nothing = [_seconds(bare, action) for action in order]
        known = [_seconds(seen, action) for action in order]
    above = median(known) - median(nothing)
    return [
        Figure("step() that asks for nothing", median(nothing) * 1e6, "us"),
        Figure("step() above it, obj_size of a command line seen before", above * 1e6, "us", 100),
    ]


def _seconds(env: CompilerEnv, action: int) -> float:
    started = time.perf_counter()
    env.step(action)
    return time.perf_counter() - started


def _observing(folder: Path) -> list[Figure]:
    figures = []
    with make("gcc-v0", gcc_bin=GCC) as env:
        assert isinstance(env, GccEnv)
        ratios = []
        for program in PROGRAMS:
            benchmark = env.datasets.benchmark(f"cbench-v1/{program}")
            env.reset(benchmark=benchmark)
            source = folder / f"{program}.c"
            source.write_bytes(next(s.contents for s in benchmark.sources))
            ratios += [_ratio(env, source, number) for number in range(len(LEVELS))]
        figures.append(
            Figure("observing obj_size, against gcc -c", median(ratios), "x", 1.1),
        )
    return figures


def _ratio(env: GccEnv, source: Path, number: int) -> float:
    bare, ours = [], []
    for turn in range(REPEATS):
        # Another number each time, so that nothing was seen before and all costs the same.
        marker = f"--param=max-gcse-memory={131072 + 1 + turn + REPEATS * number}"
        words = [LEVELS[number], marker]
        started = time.perf_counter()
        subprocess.run(
            [GCC, *words, "-std=c11", "-w", "-c", source.name, "-o", f"{source.stem}.o"],
            cwd=source.parent,
            check=True,
        )
        bare.append(time.perf_counter() - started)
        env.reset()
        env.multistep(env.commandline_to_actions(" ".join(words)))
        started = time.perf_counter()
        size = env.obj_size
        ours.append(time.perf_counter() - started)
        found = source.with_suffix(".o").stat().st_size
        assert size == found, f"{source.name}: {words}: {size} is not {found}"
    return min(ours) / min(bare)
