# SPDX-License-Identifier: MIT
"""Write the questions that language models are asked about passes of LLVM.

    python -m scripts.agent_questions

A question is a program and passes that are drawn by a seed. Of one kind an error is planted after
one of the passes, as a pass with a bug would make it: only where the program then does something
else when it runs, and where it has another number of instructions from there on. Of the other
kind one pass raises the number of instructions more than any other. The file holds no answers:
the judge finds them by applying the passes.
"""

import random
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import compiler_gym
from compiler_gym.core import CompilerEnv
from compiler_gym.datasets import SampleDataset
from compiler_gym.envs.llvm import make_benchmark
from compiler_gym.envs.llvm.validation.runs import compare_module
from compiler_gym.errors import CompilerGymError
from compiler_gym.files import scratch_directory, write_whole
from compiler_gym.validation import Verdict
from scripts.plant import plant

FILE = Path(compiler_gym.__file__).parent / "envs/llvm/agent_tasks/questions.tsv"
LENGTHS = {"easy": 6, "medium": 12, "hard": 24}
COUNTS = {"train": 36, "validation": 9, "test": 18}
SEEDS = {"train": 1_000, "validation": 1_001_000, "test": 2_001_000}
"""The first seeds of csmith: those before are of other tasks."""
KINDS = ("dropped store", "removed branch", "dropped call", "duplicated store")
"""Errors that change the number of instructions."""
PASSES = (
    "sroa", "mem2reg", "early-cse", "instcombine", "simplifycfg", "gvn", "dce", "adce", "dse",
    "licm", "loop-rotate", "loop-simplify", "lcssa", "indvars", "loop-unroll", "jump-threading",
    "correlated-propagation", "reassociate", "sccp", "ipsccp", "inline", "always-inline",
    "globalopt", "tailcallelim", "loop-deletion", "loop-idiom", "memcpyopt", "bdce", "sink",
    "newgvn", "aggressive-instcombine", "reg2mem", "loop-unroll-and-jam", "slp-vectorizer",
    "loop-vectorize", "break-crit-edges", "scalarizer", "lower-switch", "mergereturn",
)  # fmt: skip


def main() -> None:
    """Write the file."""
    with compiler_gym.make("llvm-v0", action_space="PassesAndPipelines") as env:
        known = [name for name in PASSES if name in env.action_space.names]
        lines = [*_miscompiles(env, known), *_increases(env, known)]
    write_whole(FILE, "".join("\t".join(line) + "\n" for line in lines).encode())


def _miscompiles(env: CompilerEnv, passes: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for split, count in COUNTS.items():
        seed, found = SEEDS[split], 0
        while found < count:
            seed += 1
            difficulty = tuple(LENGTHS)[found % len(LENGTHS)]
            given = random.Random(seed).choices(passes, k=LENGTHS[difficulty])
            trace = _faulty_trace(env, seed, given)
            if trace:
                found += 1
                yield "miscompile", split, difficulty, f"csmith-v0/{seed}", *_joined(given, trace)
                print("miscompile", split, found, seed, flush=True)


def _faulty_trace(env: CompilerEnv, seed: int, given: Sequence[str]) -> list[int]:
    """Return the instructions after each pass where one has a bug; nothing if it has no effect."""
    program = f"generator://csmith-v0/{seed}"
    drawn = random.Random(f"bug {seed}")
    faulty = drawn.randrange(1, len(given))
    try:
        right = _counts(env, program, given)
        if max(right) > 4_000:
            return []
        env.reset(benchmark=program)
        original = env.benchmark
        assert original is not None
        counts: list[int] = []
        for number, name in enumerate(given):
            env.step(env.action_space[name])
            if number == faulty:
                edit = plant(env.observation["Ir"], drawn.choice(KINDS), seed)
                if edit is None:
                    return []
                with scratch_directory("question") as scratch:
                    wrong = Path(scratch) / "wrong.ll"
                    wrong.write_text(edit.text)
                    env.reset(benchmark=make_benchmark(wrong))
            counts.append(int(env.observation["IrInstructionCount"]))
        if counts[faulty] == right[faulty]:
            return []
        found = compare_module(original, env.observation["Bitcode"].tobytes())
    except CompilerGymError:
        return []
    return counts if found.verdict is Verdict.FAILED else []


def _increases(env: CompilerEnv, passes: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for split, count in COUNTS.items():
        found = 0
        for number, key in enumerate(SampleDataset().split(split, "module").benchmark_uris()):
            difficulty = tuple(LENGTHS)[found % len(LENGTHS)]
            given = random.Random(f"{key} {number}").choices(passes, k=LENGTHS[difficulty])
            if found == count or not _has_one_largest(_counts(env, key, given, before=True)):
                continue
            found += 1
            name = key.removeprefix("benchmark://")
            yield "increase", split, difficulty, name, *_joined(given, ())
            print("increase", split, found, name, flush=True)


def _counts(
    env: CompilerEnv, program: str, given: Sequence[str], *, before: bool = False
) -> list[int]:
    env.reset(benchmark=program)
    counts = [int(env.observation["IrInstructionCount"])] if before else []
    for name in given:
        env.step(env.action_space[name])
        counts.append(int(env.observation["IrInstructionCount"]))
    return counts


def _has_one_largest(counts: Sequence[int]) -> bool:
    """Return whether several passes add instructions, and one of them the most."""
    added = sorted(after - before for before, after in pairwise(counts))
    return added[-2] > 0 and added[-1] > added[-2]


def _joined(given: Sequence[str], trace: Sequence[int]) -> tuple[str, str]:
    return " ".join(given), " ".join(map(str, trace))


if __name__ == "__main__":
    main()
