# SPDX-License-Identifier: MIT
"""What a fork costs, on a small program and on one of a quarter of a million instructions."""

import subprocess
import tempfile
from pathlib import Path

from benchmarks.measure import Figure, median_seconds, programs_of_size
from compiler_gym import make
from compiler_gym.envs.llvm import make_benchmark, merge_benchmarks

LARGE = 250_000


def measure() -> list[Figure]:
    small = programs_of_size(500, 2000)[0]
    with make("llvm-v0", benchmark=small) as env:
        env.reset()
        figures = [Figure("fork() at about 1,000 instructions", _fork_ms(env), "ms", 5)]
    with make("llvm-v0", observation_space="IrInstructionCount") as env:
        count, _ = env.reset(benchmark=large_benchmark())
        figures.append(Figure(f"fork() at {count:,} instructions", _fork_ms(env), "ms", 10))
    return figures


def large_benchmark():
    """Return csmith programs, linked until they hold a quarter of a million instructions."""
    parts, total, seed = [], 0, 1
    with tempfile.TemporaryDirectory() as directory:
        while total < LARGE:
            source = Path(directory) / f"{seed}.c"
            source.write_bytes(_output(["csmith", "--seed", str(seed)], directory))
            part = make_benchmark(source, copt=["-I/usr/include/csmith", f"-Dmain=main_{seed}"])
            parts.append(part)
            total += _instructions(part)
            seed += 1
        return merge_benchmarks(parts)


def _output(command: list[str], directory: str) -> bytes:
    # csmith leaves a file in the directory it runs in.
    return subprocess.run(command, cwd=directory, capture_output=True, check=True).stdout


def _instructions(benchmark) -> int:
    from compiler_gym import _llvm

    return _llvm.Module(benchmark.contents).instruction_count()


def _fork_ms(env) -> float:
    def fork() -> None:
        twin = env.fork()
        twins.append(twin)

    twins: list = []
    seconds = median_seconds(fork, repeats=15)
    for twin in twins:
        twin.close()
    return seconds * 1e3
