# SPDX-License-Identifier: MIT
"""Compare the sizes of programs compiled with different methods, with confidence intervals.

Methods must be judged on a held-out split that was not used to develop them. Means are geometric
over packages, because programs of one package are similar; the intervals are bootstrapped over
packages.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from compiler_gym.statistics import Interval, geometric_interval
from compiler_gym.tools.tune import (
    BinaryPlan,
    list_shipped_recipes,
    policy_named,
    recipe_named,
)
from compiler_gym_corpus.llvm.learning.linked import (
    CorpusChoice,
    CorpusProgram,
    choose_programs,
)
from compiler_gym_corpus.llvm.learning.outcomes import Outcomes, PlanOutcome, measure_outcomes
from compiler_gym_corpus.llvm.learning.plans import FAIR, PLAIN

__all__ = [
    "JUDGED",
    "RIVALS",
    "Arm",
    "Judgement",
    "arm_named",
    "by_plan",
    "judge",
    "judge_arm",
]

Arm = Callable[[CorpusProgram, Outcomes], PlanOutcome]
"""A function that compiles a program with one method and returns the sizes."""
RIVALS: Mapping[str, BinaryPlan] = {"plain": PLAIN, "fair": FAIR}
"""The baselines that every method is compared with, by name."""
JUDGED = "judged.jsonl"
"""The file name of outcomes on held-out programs, which training never reads."""
_LITTLE = 1.001
"""The ratio up to which a difference may be caused by alignment."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The comparison of one method with a rival, as ratios: below 1 it is smaller."""

    arm: str
    rival: str
    programs: int
    packages: int
    code: Interval
    loaded: Interval
    file: Interval
    left: Interval | None
    """The number of instructions after the passes; None if they were not counted."""
    best: float
    """The smallest ratio of loaded bytes."""
    worst: float
    """The largest ratio of loaded bytes."""
    worst_program: str
    larger: int
    """The number of programs with more loaded bytes."""
    clearly_larger: int
    """The number of programs with over 0.1 % more."""
    never_larger: Interval
    """Loaded bytes if the rival is compiled as well and the smaller result is used."""
    seconds: Interval
    """The processor time of compiling and linking."""
    failed: tuple[str, ...]
    """The programs that either method fails to link."""


def arm_named(name: str) -> Arm:
    """Return the method called `name`: ``plain``, ``fair``, a recipe, or a policy or its file."""
    if name in RIVALS:
        return by_plan(RIVALS[name])
    is_recipe = any(name == recipe.name for recipe in list_shipped_recipes())
    return by_plan((recipe_named(name) if is_recipe else policy_named(name)).plan)


def by_plan(plan: BinaryPlan) -> Arm:
    """Return the method that compiles every program with `plan`."""

    def compile_with_plan(program: CorpusProgram, outcomes: Outcomes) -> PlanOutcome:
        return measure_outcomes(program, [plan], outcomes, is_counted=True)[0]

    return compile_with_plan


def judge(
    corpus: str,
    folder: Path,
    choice: CorpusChoice,
    arms: Mapping[str, Arm],
    watch: Callable[[int, int], None] = lambda done, total: None,
) -> list[Judgement]:
    """Compare each of `arms` with each of `RIVALS` on programs of a corpus.

    Args:
        corpus: The corpus, as for `open_corpus`.
        folder: The folder in which measurements are cached.
        choice: The programs to use; exclude those the methods were developed on.
        arms: The methods to judge, by name.
        watch: Called with the number of finished programs and the total.
    """
    programs = choose_programs(corpus, folder, choice)
    outcomes = Outcomes(folder / JUDGED)
    methods = {**{name: arm_named(name) for name in RIVALS}, **arms}
    rows = defaultdict[str, list[PlanOutcome]](list)
    for done, program in enumerate(programs, start=1):
        for name, method in methods.items():
            rows[name].append(method(program, outcomes))
        watch(done, len(programs))
    return [
        judge_arm(name, rows[name], rival, rows[rival])
        for rival in RIVALS
        for name in methods
        if name not in RIVALS or (name, rival) == ("fair", "plain")
    ]


def judge_arm(
    arm: str, ours: Sequence[PlanOutcome], rival: str, theirs: Sequence[PlanOutcome]
) -> Judgement:
    """Compare the outcomes `ours` of a method with those of a rival, program by program."""
    outcomes = list(zip(ours, theirs, strict=True))
    pairs = [(row, other) for row, other in outcomes if row.code and other.code]
    ratios = [(row.loaded / other.loaded, row.program) for row, other in pairs]

    def mean(size: Callable[[PlanOutcome], float], most: float = float("inf")) -> Interval | None:
        by_package = defaultdict[str, list[float]](list)
        for row, other in pairs:
            if size(other):
                by_package[row.package].append(min(size(row) / size(other), most))
        means = [geometric_interval(values) for values in by_package.values()]
        return geometric_interval([interval.mean for interval in means if interval is not None])

    def or_unbounded(interval: Interval | None) -> Interval:
        return Interval(1.0, 0.0, float("inf")) if interval is None else interval

    return Judgement(
        arm, rival, len(pairs), len({row.package for row, _ in pairs}),
        code=or_unbounded(mean(lambda row: row.code)),
        loaded=or_unbounded(mean(lambda row: row.loaded)),
        file=or_unbounded(mean(lambda row: row.file)),
        left=mean(lambda row: row.left),
        best=min(ratios, default=(1.0, ""))[0],
        worst=max(ratios, default=(1.0, ""))[0],
        worst_program=max(ratios, default=(1.0, ""))[1],
        larger=sum(ratio > 1 for ratio, _ in ratios),
        clearly_larger=sum(ratio > _LITTLE for ratio, _ in ratios),
        never_larger=or_unbounded(mean(lambda row: row.loaded, most=1.0)),
        seconds=or_unbounded(mean(lambda row: row.seconds)),
        failed=tuple(row.program for row, other in outcomes if not (row.code and other.code)),
    )  # fmt: skip
