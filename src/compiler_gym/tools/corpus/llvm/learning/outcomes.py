# SPDX-License-Identifier: MIT
"""What linked programs weigh by plans: each measured once, and kept in a file that only grows.

A program is compiled as ``cc --recipe`` compiles it, and so are the rivals, so that a number here
is one that a user gets. Rows are written as they are measured: whoever learns from them may read
them meanwhile, and a run that was ended goes on where it was.
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
from compiler_gym.tools.corpus.llvm.learning.linked import (
    CorpusChoice,
    CorpusProgram,
    choose_programs,
)
from compiler_gym.tools.corpus.llvm.learning.plans import is_plain, plan_key, plans_around
from compiler_gym.tools.tune import BinaryPlan, recipe_named
from compiler_gym.tools.tune.builds import Binary, Unit
from compiler_gym.tools.tune.llvm.linking import (
    FRAMES,
    Linker,
    frame_words,
    late_flags,
    link_time_flags,
)
from compiler_gym.tools.tune.llvm.policies import list_functions

__all__ = ["OUTCOMES", "Bench", "Outcomes", "PlanOutcome", "measure", "measure_outcomes"]

OUTCOMES = "outcomes.jsonl"
"""How the file is called."""


class PlanOutcome(msgspec.Struct, frozen=True):
    """What one program weighs by one plan."""

    program: str
    """Its address."""
    package: str
    split: str
    instructions: int
    """How many the program has before any pass."""
    plan: str
    """As `plan_key` writes it."""
    code: int
    """Bytes of machine code; 0 where the plan failed."""
    loaded: int
    """Bytes that a loader maps of the file."""
    file: int
    """Bytes of the stripped file."""
    seconds: float
    """Processor time of compiling and linking."""
    error: str = ""
    """Why the plan failed."""
    left: int = 0
    """Instructions that the passes leave; 0 where nobody counted."""


class Bench:
    """Compiles one binary by plans; modules are compiled once for all plans that only link."""

    def __init__(self, binary: Binary, folder: Path, jobs: int = 1) -> None:
        self._binary, self._folder = binary, folder
        self._linker = Linker(binary, folder, jobs)
        self._objects = dict[tuple[str, ...], tuple[dict[Unit, Path], float]]()

    def sizes(self, plan: BinaryPlan) -> tuple[Sizes, float]:
        """Return what `plan` leaves, stripped, and the processor time that it takes.

        Raises `ProjectError` where it fails.
        """
        flags, late = self._make_flags(plan)
        if flags not in self._objects:
            began = _processor_time()
            made = self._linker.compile(f"objects-{len(self._objects)}", flags)
            self._objects[flags] = made, _processor_time() - began
        objects, seconds = self._objects[flags]
        began = _processor_time()
        sizes = measure_sizes(self._linker.link("linked", objects, late))
        return sizes, seconds + _processor_time() - began

    def instructions(self, plan: BinaryPlan) -> int:
        """Return how many instructions the passes of `plan` leave, of all modules together."""
        flags, late = self._make_flags(plan)
        if is_plain(plan):
            paths = list(self._linker.compile("optimised", [*flags, "-emit-llvm"]).values())
        else:
            objects = self._linker.compile("objects", flags)
            paths = [self._linker.link("optimised", objects, [*late, "-Wl,--lto-emit-llvm"])]
        counts = run_engine("counts", [path.read_bytes() for path in paths])
        return sum(msgspec.json.decode(count, type=list[int])[0] for count in counts)

    def _make_flags(self, plan: BinaryPlan) -> tuple[tuple[str, ...], Sequence[str]]:
        """Return what compiling and linking are told by `plan`."""
        if is_plain(plan):
            return ("-Oz",), ()
        flags = tuple(link_time_flags(replace(plan, flags=())))
        late = (*flags, *late_flags(plan))
        if FRAMES in plan.flags:  # which means nothing for what is compiled to bitcode already
            functions = list_functions(unit.path.read_bytes() for unit in self._binary.units)
            late = (*late, *frame_words(functions, self._folder / "frames.csv"))
        return flags, late


class Outcomes:
    """A file of outcomes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known = dict[tuple[str, str], PlanOutcome]()
        for line in whole_lines(path):
            row = msgspec.convert(line, PlanOutcome)
            self._known[row.program, row.plan] = row

    def rows(self) -> Iterator[PlanOutcome]:
        """Yield every outcome, those of one program by one plan once."""
        yield from self._known.values()

    def find(self, program: str, plan: BinaryPlan) -> PlanOutcome | None:
        """Return what is known of the program by the plan."""
        return self._known.get((program, plan_key(plan)))

    def add(self, row: PlanOutcome) -> None:
        """Append one outcome; raise `CacheError` where there is no room."""
        self._known[row.program, row.plan] = row
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
    """Return what `program` weighs by each of `plans`, measured where it is not in `kept`.

    `watch` is told of each that was measured now; `is_counted` asks for the instructions that are
    left, too. A plan that fails is a row too.
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
    found = (kept.find(program.name, plan) for plan in plans)
    return [row for row in found if row is not None]


def measure(
    corpus: str,
    folder: Path,
    choice: CorpusChoice,
    recipe: str,
    watch: Callable[[int, int], None] = lambda done, total: None,
) -> Outcomes:
    """Return the outcomes in `folder`, with all `plans_around` a recipe for programs of a corpus.

    Args:
        corpus: What `open_corpus` takes.
        folder: Where the file of outcomes is, which is made or grows.
        choice: Which programs.
        recipe: The name of the recipe.
        watch: Told how many programs are done, and of how many.
    """
    plans = plans_around(recipe_named(recipe).plan)
    programs = choose_programs(corpus, folder, choice)
    kept = Outcomes(folder / OUTCOMES)
    for done, program in enumerate(programs, start=1):
        measure_outcomes(program, plans, kept)
        watch(done, len(programs))
    return kept


def _measure_outcome(
    program: CorpusProgram, plan: BinaryPlan, bench: Bench, *, is_counted: bool
) -> PlanOutcome:
    sizes, seconds, error, left = Sizes(0, 0, 0), 0.0, "", 0
    try:
        sizes, seconds = bench.sizes(plan)
        left = bench.instructions(plan) if is_counted else 0
    except ProjectError as failed:
        said = str(failed).splitlines()
        error = next((line for line in said if "error: " in line), said[-1])
    return PlanOutcome(
        program.name, program.package, program.split, program.instructions,
        plan=plan_key(plan), code=sizes.text, loaded=sizes.loaded, file=sizes.total,
        seconds=round(seconds, 3), error=error, left=left,
    )  # fmt: skip


def _processor_time() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
