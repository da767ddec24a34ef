# SPDX-License-Identifier: MIT
"""How many sequences of actions a search tries per second, on small programs and a large one.

A sequence counts when the reward of every program on its way is known, whether it was
compiled or recognised. Processor time is that of this process and of all workers, because
a machine that others use too says little by its clock.
"""

import resource
import subprocess
import sys
import time

from benchmarks.measure import Figure
from compiler_gym import make
from compiler_gym.search import Budget, SearchResult, available_jobs, run_search

DEMO = ("adpcm", "bitcount", "blowfish", "crc32", "dijkstra", "qsort", "sha", "stringsearch")
LARGE = ("ghostscript",)
SECONDS = 60.0
_OPTIONS = {"reward_space": "IrInstructionCount", "action_space": "PassesAndPipelines"}


def measure() -> list[Figure]:
    """Search the demonstration's programs on all cores, and the large one on one."""
    return [
        *_figures(f"the demonstration's {len(DEMO)} programs", DEMO, available_jobs()),
        *_figures("30,000 instructions", LARGE, 1),
    ]


def _figures(what: str, programs: tuple[str, ...], jobs: int) -> list[Figure]:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "benchmarks.search", str(jobs), *programs]
    ran = subprocess.run(command, check=True, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    sequences, recognised, seconds, saved = map(float, ran.stdout.split())
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return [
        Figure(f"{what}, {jobs} at once: sequences per second", sequences / seconds, "1/s"),
        Figure(f"{what}: per second of processor time", sequences / cpu, "1/s"),
        Figure(f"{what}: of these, led to a program known already", recognised / sequences, ""),
        Figure(f"{what}: -Oz over the best found, geometric mean", saved, "x"),
    ]


def _search(programs: list[str], jobs: int) -> None:
    """Search and print what `_figures` reads, in a process whose workers end with it."""
    benchmarks = [f"cbench-v1/{name}" for name in programs]
    started = time.monotonic()
    budget = Budget(seconds=SECONDS)
    results = run_search(lambda: make("llvm-v0", **_OPTIONS), benchmarks, budget=budget, jobs=jobs)
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
    _search(sys.argv[2:], int(sys.argv[1]))
