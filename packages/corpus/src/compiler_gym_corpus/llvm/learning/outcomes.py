# SPDX-License-Identifier: MIT
"""Measured sizes of linked programs for each plan, stored in an append-only file.

Programs, also those of the rivals, are compiled as ``cc --recipe`` compiles them, so the results
are the ones that users get. Rows are written as soon as they are measured, so training can read
them meanwhile and an interrupted run can be resumed.
"""

import resource
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from compiler_gym.builds import Sizes, measure_sizes
from compiler_gym.envs.llvm.toolchain import run_engine
from compiler_gym.errors import CacheError, ProjectError
from compiler_gym.files import append_line, scratch_directory, whole_lines
from compiler_gym.tools.tune import BinaryPlan, recipe_named
from compiler_gym.tools.tune.builds import Binary, Unit
from compiler_gym.tools.tune.llvm import (
    Linker,
    frame_words,
    late_flags,
    link_time_flags,
    list_functions,
    plugin_environment,
)
from compiler_gym_corpus.llvm.learning.linked import (
    CorpusChoice,
    CorpusProgram,
    choose_programs,
)
from compiler_gym_corpus.llvm.learning.plans import is_plain, plan_key, plans_around

__all__ = ["OUTCOMES", "Bench", "Outcomes", "PlanOutcome", "measure", "measure_outcomes"]

OUTCOMES = "outcomes.jsonl"
"""The name of the file."""


class PlanOutcome(msgspec.Struct, frozen=True):
    """The sizes of one program compiled with one plan."""

    program: str
    """Its address."""
    package: str
    split: str
    instructions: int
    """The number of instructions before any pass."""
    plan: str
    """The `plan_key` of the plan."""
    code: int
    """The size of the machine code in bytes; 0 if the plan failed."""
    loaded: int
    """The number of bytes that a loader maps from the file."""
    file: int
    """The size of the stripped file in bytes."""
    seconds: float
    """The processor time of compiling and linking."""
    error: str = ""
    """The error message if the plan failed."""
    left: int = 0
    """The number of instructions after the passes; 0 if not counted."""


class Bench:
    """Compiles one binary with several plans; plans with the same compiler flags share objects."""

    def __init__(self, binary: Binary, folder: Path, jobs: int = 1) -> None:
        self._binary, self._folder = binary, folder
        self._linker = Linker(binary, folder, jobs)
        self._objects = dict[tuple[str, ...], tuple[dict[Unit, Path], float]]()

    def sizes(self, plan: BinaryPlan) -> tuple[Sizes, float]:
        """Return the stripped sizes with `plan`, and the processor time in seconds.

        Raises `ProjectError` if compiling or linking fails.
        """
        linked, compiling, linking = self.build(plan)
        return measure_sizes(linked), compiling + linking

    def build(self, plan: BinaryPlan) -> tuple[Path, float, float]:
        """Return the stripped file, and the processor times of compiling and of linking.

        The next build overwrites the file. Raises `ProjectError` if compiling or linking fails.
        """
        flags, late = self._make_flags(plan)
        if flags not in self._objects:
            started = _processor_time()
            paths = self._linker.compile(f"objects-{len(self._objects)}", flags)
            self._objects[flags] = paths, _processor_time() - started
        objects, seconds = self._objects[flags]
        started = _processor_time()
        linked = self._linker.link("linked", objects, late, plugin_environment(plan))
        return linked, seconds, _processor_time() - started

    def instructions(self, plan: BinaryPlan) -> int:
        """Return the number of instructions in all modules after the passes of `plan`."""
        flags, late = self._make_flags(plan)
        if is_plain(plan):
            paths = list(self._linker.compile("optimised", [*flags, "-emit-llvm"]).values())
        else:
            objects = self._linker.compile("objects", flags)
            words = [*late, "-Wl,--lto-emit-llvm"]
            paths = [self._linker.link("optimised", objects, words, plugin_environment(plan))]
        counts = run_engine("counts", [path.read_bytes() for path in paths])
        return sum(msgspec.json.decode(count, type=list[int])[0] for count in counts)

    def _make_flags(self, plan: BinaryPlan) -> tuple[tuple[str, ...], Sequence[str]]:
        """Return the compiler flags and the linker flags of `plan`."""
        if is_plain(plan):
            return ("-Oz",), ()
        flags = tuple(link_time_flags(replace(plan, flags=())))
        late = (*flags, *late_flags(plan))
        # Compiler flags for frame pointers have no effect on bitcode.
        functions = list_functions(unit.path.read_bytes() for unit in self._binary.units)
        return flags, (*late, *frame_words(plan, functions, self._folder / "frames.csv"))


class Outcomes:
    """An append-only file of outcomes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._rows = dict[tuple[str, str], PlanOutcome]()
        for line in whole_lines(path):
            row = msgspec.convert(line, PlanOutcome)
            self._rows[row.program, row.plan] = row

    def rows(self) -> Iterator[PlanOutcome]:
        """Yield every outcome: one for each measured program and plan."""
        yield from self._rows.values()

    def find(self, program: str, plan: BinaryPlan) -> PlanOutcome | None:
        """Return the outcome of the program with the plan, or None."""
        return self._rows.get((program, plan_key(plan)))

    def add(self, row: PlanOutcome) -> None:
        """Append one outcome; raise `CacheError` if it cannot be written."""
        self._rows[row.program, row.plan] = row
        try:
            append_line(self.path, msgspec.to_builtins(row), sync=False)
        except OSError as error:
            raise CacheError(f"cannot write {self.path}: {error.strerror}") from error


def measure_outcomes(
    program: CorpusProgram,
    plans: Sequence[BinaryPlan],
    kept: Outcomes,
    watch: Callable[[PlanOutcome], None] = lambda row: None,
    *,
    is_counted: bool = False,
) -> list[PlanOutcome]:
    """Return the outcome of `program` for each of `plans`, measuring those missing from `kept`.

    `watch` is called with each newly measured outcome; `is_counted` also counts the instructions
    after the passes. A plan that fails gives an outcome with an error.
    """

    def is_known(plan: BinaryPlan) -> bool:
        row = kept.find(program.name, plan)
        return row is not None and bool(row.left or row.error or not is_counted)

    if not all(map(is_known, plans)):
        with scratch_directory("outcomes") as name:
            folder = Path(name)
            bench = Bench(program.binary(folder / "modules"), folder)
            for plan in plans:
                if not is_known(plan):
                    row = _measure_outcome(program, plan, bench, is_counted=is_counted)
                    kept.add(row)
                    watch(row)
    rows = (kept.find(program.name, plan) for plan in plans)
    return [row for row in rows if row is not None]


def measure(
    corpus: str,
    folder: Path,
    choice: CorpusChoice,
    recipe: str,
    watch: Callable[[int, int], None] = lambda done, total: None,
) -> Outcomes:
    """Measure all `plans_around` a recipe for programs of a corpus and return the outcomes.

    Args:
        corpus: The corpus, as for `open_corpus`.
        folder: The folder of the file of outcomes, which is created or extended.
        choice: The programs to measure.
        recipe: The name of the recipe.
        watch: Called with the number of finished programs and the total.
    """
    plans = plans_around(recipe_named(recipe).plan)
    programs = choose_programs(corpus, folder, choice)
    outcomes = Outcomes(folder / OUTCOMES)
    for done, program in enumerate(programs, start=1):
        measure_outcomes(program, plans, outcomes)
        watch(done, len(programs))
    return outcomes


def _measure_outcome(
    program: CorpusProgram, plan: BinaryPlan, bench: Bench, *, is_counted: bool
) -> PlanOutcome:
    sizes, seconds, error, count = Sizes(0, 0, 0), 0.0, "", 0
    try:
        sizes, seconds = bench.sizes(plan)
        count = bench.instructions(plan) if is_counted else 0
    except ProjectError as failure:
        lines = str(failure).splitlines()
        error = next((line for line in lines if "error: " in line), lines[-1])
    return PlanOutcome(
        program.name, program.package, program.split, program.instructions,
        plan=plan_key(plan), code=sizes.text, loaded=sizes.loaded, file=sizes.total,
        seconds=round(seconds, 3), error=error, left=count,
    )  # fmt: skip


def _processor_time() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
