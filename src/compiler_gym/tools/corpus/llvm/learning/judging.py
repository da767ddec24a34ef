# SPDX-License-Identifier: MIT
"""How much smaller programs are by one way to compile them than by another, honestly told.

What is judged must not have been looked at when it was found: the programs are those of a split
that nobody learnt from. Means are geometric over packages, because programs of one package are
alike; their intervals come from drawing packages again and again.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from compiler_gym.tools.corpus.llvm.learning.linked import (
    CorpusChoice,
    CorpusProgram,
    choose_programs,
)
from compiler_gym.tools.corpus.llvm.learning.outcomes import Outcomes, PlanOutcome, measure_outcomes
from compiler_gym.tools.corpus.llvm.learning.plans import FAIR, PLAIN
from compiler_gym.tools.learn.leaderboard import ScoreInterval, geometric_interval
from compiler_gym.tools.tune import BinaryPlan, recipe_named
from compiler_gym.tools.tune.llvm.policies import compute_features, read_policy

__all__ = [
    "JUDGED",
    "RIVALS",
    "Arm",
    "Judgement",
    "arm_named",
    "by_plan",
    "by_policy",
    "judge",
    "judge_arm",
]

Arm = Callable[[CorpusProgram, Outcomes], PlanOutcome]
"""Compiles a program in one way, and says what it weighs."""
RIVALS: Mapping[str, BinaryPlan] = {"plain": PLAIN, "fair": FAIR}
"""What every way is compared with, by name."""
JUDGED = "judged.jsonl"
"""How the file of what was judged is called: nobody learns from it."""
_LITTLE = 1.001
"""What is larger by less than this share is so by chance of alignment."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """How one way compares with a rival, as ratios: below 1 it is smaller."""

    arm: str
    rival: str
    programs: int
    packages: int
    code: ScoreInterval
    loaded: ScoreInterval
    file: ScoreInterval
    left: ScoreInterval | None
    """Instructions after the passes; None where they were not counted."""
    best: float
    """The least ratio of loaded bytes."""
    worst: float
    """The greatest."""
    worst_program: str
    larger: int
    """How many programs have more loaded bytes."""
    clearly_larger: int
    """How many have over 0.1 % more."""
    never_larger: ScoreInterval
    """Loaded bytes where the rival is compiled, too, and the smaller of both is kept."""
    seconds: ScoreInterval
    """Processor time of compiling and linking."""
    failed: tuple[str, ...]
    """Programs that do not link, or that the rival does not link."""


def arm_named(name: str) -> Arm:
    """Return the way to compile called `name`: ``plain``, ``fair`` or a recipe."""
    return by_plan(RIVALS[name] if name in RIVALS else recipe_named(name).plan)


def by_plan(plan: BinaryPlan) -> Arm:
    """Return what compiles every program by `plan`."""

    def compile_by_plan(program: CorpusProgram, kept: Outcomes) -> PlanOutcome:
        return measure_outcomes(program, [plan], kept, is_counted=True)[0]

    return compile_by_plan


def by_policy(path: Path) -> Arm:
    """Return what compiles every program by the plan that the policy in a file chooses for it."""
    policy = read_policy(path)

    def compile_by_choice(program: CorpusProgram, kept: Outcomes) -> PlanOutcome:
        features = compute_features(program.modules(), is_shared=program.is_shared)
        return by_plan(policy.rank_plans(features)[0])(program, kept)

    return compile_by_choice


def judge(
    corpus: str,
    folder: Path,
    choice: CorpusChoice,
    arms: Mapping[str, Arm],
    watch: Callable[[int, int], None] = lambda done, total: None,
) -> list[Judgement]:
    """Return how each of `arms` compares with each of `RIVALS` on programs of a corpus.

    Args:
        corpus: What `open_corpus` takes.
        folder: Where what is measured is kept, so that nothing is measured twice.
        choice: Which programs; none that was learnt from should be among them.
        arms: The ways to compile that are judged, by name.
        watch: Told how many programs are done, and of how many.
    """
    programs = choose_programs(corpus, folder, choice)
    kept = Outcomes(folder / JUDGED)
    every = {**{name: arm_named(name) for name in RIVALS}, **arms}
    rows = defaultdict[str, list[PlanOutcome]](list)
    for done, program in enumerate(programs, start=1):
        for name, arm in every.items():
            rows[name].append(arm(program, kept))
        watch(done, len(programs))
    return [
        judge_arm(name, rows[name], rival, rows[rival])
        for rival in RIVALS
        for name in every
        if name not in RIVALS or (name, rival) == ("fair", "plain")
    ]


def judge_arm(
    arm: str, ours: Sequence[PlanOutcome], rival: str, theirs: Sequence[PlanOutcome]
) -> Judgement:
    """Return how the rows `ours` compare with `theirs`, program by program."""
    every = list(zip(ours, theirs, strict=True))
    pairs = [(one, other) for one, other in every if one.code and other.code]
    ratios = [(one.loaded / other.loaded, one.program) for one, other in pairs]

    def mean(
        size: Callable[[PlanOutcome], float], most: float = float("inf")
    ) -> ScoreInterval | None:
        by_package = defaultdict[str, list[float]](list)
        for one, other in pairs:
            if size(other):
                by_package[one.package].append(min(size(one) / size(other), most))
        means = [geometric_interval(values) for values in by_package.values()]
        return geometric_interval([found.mean for found in means if found is not None])

    def find_interval(found: ScoreInterval | None) -> ScoreInterval:
        return ScoreInterval(1.0, 0.0, float("inf")) if found is None else found

    return Judgement(
        arm, rival, len(pairs), len({one.package for one, _ in pairs}),
        code=find_interval(mean(lambda row: row.code)),
        loaded=find_interval(mean(lambda row: row.loaded)),
        file=find_interval(mean(lambda row: row.file)),
        left=mean(lambda row: row.left),
        best=min(ratios, default=(1.0, ""))[0],
        worst=max(ratios, default=(1.0, ""))[0],
        worst_program=max(ratios, default=(1.0, ""))[1],
        larger=sum(ratio > 1 for ratio, _ in ratios),
        clearly_larger=sum(ratio > _LITTLE for ratio, _ in ratios),
        never_larger=find_interval(mean(lambda row: row.loaded, most=1.0)),
        seconds=find_interval(mean(lambda row: row.seconds)),
        failed=tuple(one.program for one, other in every if not (one.code and other.code)),
    )  # fmt: skip
