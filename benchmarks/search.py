# SPDX-License-Identifier: MIT
"""How many sequences of actions a search tries per second, on small programs and a large one.

A sequence counts when the reward of every program on its way is known, whether it was
compiled or recognised. Processor time is that of this process and of all workers, because
a machine that others use too says little by its clock.
"""

import os
import resource
import subprocess
import sys
import time
from typing import Any

from benchmarks.measure import Figure
from compiler_gym import make
from compiler_gym.search import Budget, SearchResult, available_jobs, run_search
from compiler_gym.service.limits import adopt_orphans

DEMO = ("adpcm", "bitcount", "blowfish", "crc32", "dijkstra", "qsort", "sha", "stringsearch")
LARGE = ("ghostscript",)
SECONDS = 60.0
_OPTIONS: dict[str, Any] = {
    "reward_space": "IrInstructionCount",
    "action_space": "PassesAndPipelines",
}


def measure() -> list[Figure]:
    """Search eight small programs on all cores, and the large one on one."""
    return [
        *_figures(f"{len(DEMO)} small programs", DEMO, available_jobs()),
        *_figures("30,000 instructions", LARGE, 1),
    ]


def _figures(what: str, programs: tuple[str, ...], jobs: int) -> list[Figure]:
    ran = _output("with-times", str(jobs), *programs)
    sequences, recognised, seconds, saved, cpu = map(float, ran.split())
    return [
        Figure(f"{what}, {jobs} at once: sequences per second", sequences / seconds, "1/s"),
        Figure(f"{what}: sequences per second of processor time", sequences / cpu, "1/s"),
        Figure(f"{what}: of these, led to a program known already", recognised / sequences, ""),
        Figure(f"{what}: -Oz over the best found, geometric mean", saved, "x"),
    ]


def _output(*arguments: str) -> str:
    command = [sys.executable, "-m", "benchmarks.search", *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def _with_times(*arguments: str) -> None:
    """Print what a search in a process of its own prints, and the seconds it computed.

    Nobody waits for its workers' parent but whoever adopts it.
    """
    adopt_orphans()
    found = _output("search", *arguments)
    try:
        while True:
            os.wait()
    except ChildProcessError:
        pass
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(found.strip(), used.ru_utime + used.ru_stime)


def _search(jobs: str, *programs: str) -> None:
    """Search and print what `_figures` reads."""
    benchmarks = [f"cbench-v1/{name}" for name in programs]
    started = time.monotonic()
    results = run_search(
        lambda: make("llvm-v0", **_OPTIONS),
        benchmarks,
        budget=Budget(seconds=SECONDS),
        jobs=int(jobs),
    )
    seconds = time.monotonic() - started
    sequences = sum(result.sequences for result in results)
    recognised = sum(result.recognised for result in results)
    print(sequences, recognised, seconds, _mean_ratio(results))


def _mean_ratio(results: list[SearchResult]) -> float:
    product = 1.0
    with make("llvm-v0") as env:
        for result in results:
            env.reset(benchmark=result.benchmark)
            left = env.observation["IrInstructionCount"] - result.reward
            product *= env.observation["IrInstructionCountOz"] / left
    return product ** (1 / len(results))


if __name__ == "__main__":
    {"search": _search, "with-times": _with_times}[sys.argv[1]](*sys.argv[2:])
