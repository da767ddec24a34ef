# SPDX-License-Identifier: MIT
"""The tasks for language models that LLVM brings: families by rule, programs by split."""

from collections.abc import Iterator
from dataclasses import dataclass

from compiler_gym.agents import Task
from compiler_gym.datasets import SPLITS, SampleDataset
from compiler_gym.datasets.bundled import bundled_folder

__all__ = ["agent_tasks"]

_BUNDLED = {
    "train": ("adpcm", "bitcount", "blowfish", "crc32", "gsm", "jpeg-c", "jpeg-d", "lame", "qsort",
              "rijndael"),
    "validation": ("ispell", "patricia", "susan"),
    "test": ("bzip2", "dijkstra", "ghostscript", "sha", "stringsearch", "stringsearch2", "tiff2bw",
             "tiff2rgba", "tiffdither", "tiffmedian"),
}  # fmt: skip
"""Programs that share code are in the same split."""
_SEEDS = {"train": (0, 60), "validation": (1_000_000, 15), "test": (2_000_000, 30)}
"""The first seed of csmith in each split, and how many."""
_SMALL, _LARGE = 8_000, 40_000
"""Bytes of bitcode below which a program is easy, and from which it is hard."""
_CALLS = {"easy": 40, "medium": 20, "hard": 10}
"""Calls for a generated program, whose size nobody knows before it is made."""


@dataclass(frozen=True, slots=True)
class _Program:
    """A program, and how it can be checked."""

    name: str
    split: str
    difficulty: str
    checks: tuple[str, ...]
    seed: int = 0
    calls: int = 40

    @property
    def address(self) -> str:
        scheme = "generator" if self.name.startswith("csmith") else "benchmark"
        return f"{scheme}://{self.name}"


def agent_tasks() -> Iterator[Task]:
    """Yield every task."""
    for program in (*_bundled_programs(), *_generated_programs(), *_programs_of_sample("module")):
        yield _task_about(
            "fewer-instructions",
            program,
            "IrInstructionCount",
            "Make the program as small as you can, counted in IR instructions, without changing "
            "what it does.",
        )


def _task_about(family: str, program: _Program, goal: str, asked: str) -> Task:
    baseline = goal.removesuffix("Bytes") + "Oz"
    return Task(
        id=f"{family}/{program.name}",
        split=program.split,
        family=family,
        difficulty=program.difficulty,
        env_id="llvm-v0",
        benchmark=program.address,
        action_space="PassesAndPipelines",
        goal=goal,
        baseline=baseline,
        prompt=f"{asked} The program is {program.address}. It is judged by {goal}; you beat clang "
        f"-Oz where that is below {baseline}. You may call tools {program.calls} times.",
        max_calls=program.calls,
        seed=program.seed,
        checks=program.checks,
    )


def _bundled_programs() -> Iterator[_Program]:
    for split, names in _BUNDLED.items():
        for name in names:
            size = (bundled_folder() / name / f"{name}.bc").stat().st_size
            yield _Program(f"cbench-v1/{name}", split, _by_size(size), ("verify", "run"))


def _generated_programs() -> Iterator[_Program]:
    for split, (first, count) in _SEEDS.items():
        for number in range(count):
            difficulty = tuple(_CALLS)[number % len(_CALLS)]
            yield _Program(
                f"csmith-v0/{first + number}",
                split,
                difficulty,
                ("verify", "checksums"),
                seed=first + number,
                calls=_CALLS[difficulty],
            )


def _programs_of_sample(kind: str) -> Iterator[_Program]:
    for split in SPLITS:
        for program in SampleDataset().split(split, kind).programs():
            difficulty = _by_size(len(program.contents))
            yield _Program(f"debian-sample-v0/{program.key}", split, difficulty, ("verify",))


def _by_size(size: int) -> str:
    return "easy" if size < _SMALL else "medium" if size < _LARGE else "hard"
