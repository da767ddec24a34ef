# SPDX-License-Identifier: MIT
"""Generate LLVM's tasks: every program of a split with every goal that it supports.

``scripts/agent_questions.py`` draws the questions, which are stored next to this file without
answers.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.resources import files

from compiler_gym.datasets import SPLITS, SampleDataset, find_bundled_folder
from compiler_gym_agents import AgentTask, Question

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
"""The first csmith seed in each split, and the number of seeds."""
_ENDLESS = frozenset((20, 22, 1_000_008, 2_000_006, 2_000_008, 2_000_012, 2_000_017))
"""Seeds whose programs do not terminate, so that their output cannot be checked."""
_LINKED = (
    "downtimed/downtimed", "downtimed/downtimes", "figlet/chkfont.c", "figlet/figlet",
    "probcons/MakeGnuPlot.cc", "hiredis/hiredis-test", "ncompress/compress42.c",
    "codegroup/codegroup.c",
)  # fmt: skip
"""Programs of the sample that link without third-party libraries."""
_SMALL, _LARGE = 8_000, 40_000
"""The bitcode sizes in bytes below which a program is easy, and from which it is hard."""
_CALLS = {"easy": 40, "medium": 20, "hard": 10}
"""The number of calls by difficulty, if the program does not determine the difficulty."""
_QUESTIONS = "questions.tsv"


@dataclass(frozen=True, slots=True)
class _Program:
    """A program and its checks."""

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


def agent_tasks() -> Iterator[AgentTask]:
    """Yield every task."""
    bundled, generated = tuple(_list_bundled_programs()), tuple(_list_generated_programs())
    modules, programs = (tuple(_programs_of_sample(kind)) for kind in ("module", "program"))
    linked = tuple(p for p in programs if p.name.partition("/")[2] in _LINKED)
    for program in (*bundled, *generated, *modules):
        yield _fewer_instructions(program)
    for program in (*bundled, *generated[::2], *linked):
        yield _smaller_text(program)
    for program in dict.fromkeys((*bundled, *modules[::4], *linked)):  # a module may be a program
        yield _inline_by_hand(program)
    yield from _questions()


def _fewer_instructions(program: _Program) -> AgentTask:
    return _task_about(
        program,
        family="fewer-instructions",
        goal="IrInstructionCount",
        instruction="Make the program as small as you can, in IR instructions, with passes.",
    )


def _smaller_text(program: _Program) -> AgentTask:
    return _task_about(
        program,
        family="smaller-text",
        goal="LinkedTextSizeBytes",
        action_space="PassesAndCodegen",
        instruction="Make the machine code of the linked program as small as you can, with "
        "passes and options of the code generator.",
    )


def _inline_by_hand(program: _Program) -> AgentTask:
    return _task_about(
        program,
        family="inline-by-hand",
        goal="ObjectTextSizeBytes",
        env_id="llvm-inline-v0",
        action_space="InliningAndRest",
        max_actions=1_000,
        instruction="At -Oz, LLVM's inliner requests a decision for each call in turn. Make the "
        "machine code as small as you can; `default` takes LLVM's own decision, and `rest` "
        "leaves this and all later calls to LLVM.",
    )


def _task_about(
    program: _Program,
    *,
    family: str,
    goal: str,
    instruction: str,
    env_id: str = "llvm-v0",
    action_space: str = "PassesAndPipelines",
    max_actions: int = 64,
) -> AgentTask:
    baseline = goal.removesuffix("Bytes") + "Oz"
    return AgentTask(
        id=f"{family}/{program.name}",
        split=program.split,
        family=family,
        difficulty=program.difficulty,
        env_id=env_id,
        benchmark=program.address,
        action_space=action_space,
        goal=goal,
        baseline=baseline,
        prompt=f"{instruction} Its behaviour must not change. The program is {program.address}. "
        f"You are judged by {goal}: you win if it is below {baseline}, the result of clang -Oz. "
        f"You may call tools {program.calls} times and apply {max_actions} actions.",
        max_calls=program.calls,
        max_actions=max_actions,
        seed=program.seed,
        checks=program.checks,
    )


def _questions() -> Iterator[AgentTask]:
    kinds: dict[str, Callable[..., AgentTask]] = {
        "miscompile": partial(
            _question,
            family="find-the-miscompile",
            question=Question.FIRST_DIFFERENCE,
            template="A build of the compiler with a bug ran these passes on {program}, in this "
            "order:\n{passes}\nOne of them miscompiled the program: it behaves differently now. "
            "After each pass, the number of IR instructions was:\n{trace}\nYour compiler does "
            "not have the bug. Find the first pass after which its number differs.",
        ),
        "increase": partial(
            _question,
            family="explain-the-increase",
            question=Question.LARGEST_INCREASE,
            template="These passes ran on {program}, in this order:\n{passes}\nSome of them made "
            "it larger. Find the pass that added the most IR instructions.",
        ),
    }
    for line in files(__package__ or "").joinpath(_QUESTIONS).read_text("utf-8").splitlines():
        kind, split, difficulty, name, actions, trace = line.split("\t")
        checks: tuple[str, ...] = ()
        seed = int(name.rpartition("/")[2]) if name.startswith("csmith") else 0
        calls = _CALLS[difficulty]
        program = _Program(name, split, difficulty, checks, seed, calls)
        yield kinds[kind](program, actions.split(), [int(count) for count in trace.split()])


def _question(
    program: _Program,
    actions: list[str],
    trace: list[int],
    *,
    family: str,
    question: Question,
    template: str,
) -> AgentTask:
    passes = ", ".join(f"{number} {name}" for number, name in enumerate(actions, start=1))
    counts = ", ".join(f"{number}: {count}" for number, count in enumerate(trace, start=1))
    text = template.format(program=program.address, passes=passes, trace=counts)
    return AgentTask(
        id=f"{family}/{program.name}",
        split=program.split,
        family=family,
        difficulty=program.difficulty,
        env_id="llvm-v0",
        benchmark=program.address,
        action_space="PassesAndPipelines",
        goal="IrInstructionCount",
        baseline="IrInstructionCountOz",
        prompt=f"{text} Answer with its number, from 1 to {len(actions)}. You may call tools "
        f"{program.calls} times.",
        max_calls=program.calls,
        max_actions=len(actions),
        seed=program.seed,
        question=question,
        given=tuple(actions),
        trace=tuple(trace),
    )


def _list_bundled_programs() -> Iterator[_Program]:
    for split, names in _BUNDLED.items():
        for name in names:
            size = (find_bundled_folder() / name / f"{name}.bc").stat().st_size
            yield _Program(f"cbench-v1/{name}", split, _by_size(size), ("verify", "run", "fresh"))


def _list_generated_programs() -> Iterator[_Program]:
    for split, (first, count) in _SEEDS.items():
        for seed in sorted({*range(first, first + count)} - _ENDLESS):
            difficulty = tuple(_CALLS)[seed % len(_CALLS)]
            checks, calls = ("verify", "checksums"), _CALLS[difficulty]
            yield _Program(f"csmith-v0/{seed}", split, difficulty, checks, seed, calls)


def _programs_of_sample(kind: str) -> Iterator[_Program]:
    for split in SPLITS:
        for program in SampleDataset().split(split, kind).programs():
            difficulty = _by_size(len(program.contents))
            yield _Program(f"debian-sample-v0/{program.key}", split, difficulty, ("verify",))


def _by_size(size: int) -> str:
    return "easy" if size < _SMALL else "medium" if size < _LARGE else "hard"
