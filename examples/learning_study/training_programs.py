# SPDX-License-Identifier: MIT
"""What is learnt on, and what is held out: no program is ever both.

Generated programs are csmith's, by seed, whole and cut into functions. Recorded ones are
files that `record_corpus.py` made from builds of Debian's sources. Held out is all of
cbench-v1.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import compiler_gym
from compiler_gym.envs.llvm import split_benchmark_by_function
from compiler_gym.errors import BenchmarkInitError

HELD_OUT = "benchmark://cbench-v1"
GENERATED = "generator://csmith-v0"
COST = "IrInstructionCount"
FROM_EACH = 3
"""How many functions of a program are taken."""
LEAST = 20
"""How many instructions -Oz leaves of a function at least: there has to be something to do."""


def held_out(names: list[str]) -> list[str]:
    """Return the programs to be judged on: those of `names`, or all without any."""
    if names:
        return [f"{HELD_OUT}/{name}" for name in names]
    with compiler_gym.make("llvm-v0") as env:
        return list(env.datasets[HELD_OUT].benchmark_uris())


def generated(count: int, smallest: int = 250, largest: int = 4000) -> list[str]:
    """Return the first `count` csmith programs of a size that makes many steps cheap."""
    return _first(count, (f"{GENERATED}/{seed}" for seed in range(100 * count)), smallest, largest)


def cut(count: int, folder: Path, smallest: int = 100, largest: int = 3000) -> list[str]:
    """Return `count` functions of csmith programs, each a program in a file below `folder`.

    In a whole program all functions but main are its own, and inlining them saves; in
    code that people write most can be called from elsewhere, and inlining costs.
    """
    folder.mkdir(parents=True, exist_ok=True)
    found: list[str] = []
    with compiler_gym.make("llvm-v0", observation_space=COST) as env:
        for program in generated(count, 1000, 12_000):
            variables, *functions = split_benchmark_by_function(env.datasets.benchmark(program))
            parts = [*functions, variables]
            random.Random(program).shuffle(parts)
            chosen = 0
            for number, part in enumerate(parts):
                env.reset(benchmark=part)
                left = int(env.observation[f"{COST}Oz"])
                if smallest <= int(env.observation[COST]) <= largest and left >= LEAST:
                    file = folder.absolute() / f"csmith-{program.rpartition('/')[2]}-{number}.bc"
                    file.write_bytes(part.contents)
                    found.append(f"file://{file}")
                    chosen += 1
                if len(found) == count:
                    return found
                if chosen == FROM_EACH:
                    break
    return found


def recorded(
    folder: Path, packages: Sequence[str], smallest: int = 60, largest: int = 6000
) -> list[str]:
    """Return the programs of `packages` that were recorded below `folder`, of all without any."""
    files = sorted(
        file
        for file in folder.absolute().glob("*/recorded/**/*.bc")
        if not packages or file.relative_to(folder.absolute()).parts[0] in packages
    )
    return _first(len(files), (f"file://{file}" for file in files), smallest, largest)


def _first(count: int, uris: Iterator[str], smallest: int, largest: int) -> list[str]:
    found: list[str] = []
    with compiler_gym.make("llvm-v0", observation_space=COST) as env:
        size = _size_by(env)
        while len(found) < count and (uri := next(uris, None)) is not None:
            if smallest <= size(uri) <= largest:
                found.append(uri)
    return found


def _size_by(env: compiler_gym.CompilerEnv) -> Callable[[str], int]:
    """Return what counts the instructions of a program; 0 where it does not start."""

    def size(uri: str) -> int:
        try:
            return int(env.reset(benchmark=uri)[0])
        except BenchmarkInitError:
            return 0

    return size
