# SPDX-License-Identifier: MIT
"""Choose one plan for all programs from the sizes of measured programs with each plan.

Only programs of the split ``train`` decide; those of ``validation`` are evaluated once, at the end.
A model that chooses a plan for each program saved nothing significant, so a policy is one plan.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from compiler_gym.errors import InvalidParameterError
from compiler_gym.statistics import bootstrap_interval
from compiler_gym.tools.tune import BinaryPlan, Provenance, TuningRecipe, recipe_named
from compiler_gym_corpus.llvm.learning.linked import CorpusProgram, list_programs, open_corpus
from compiler_gym_corpus.llvm.learning.outcomes import Outcomes
from compiler_gym_corpus.llvm.learning.plans import FAIR, plan_key, plans_around

__all__ = ["Estimate", "Training", "train"]

Matrix: TypeAlias = npt.NDArray[np.float64]
_TRAIN, _VALIDATION = "train", "validation"
_FEWEST = 16
"""The number of packages that a choice needs."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A difference of sizes in per cent, as a geometric mean over packages."""

    mean: float
    low: float
    """The lower end of the 95 % interval, bootstrapped over packages."""
    high: float
    larger: float
    """The share of programs that become larger."""
    worst: float


@dataclass(frozen=True, slots=True)
class Training:
    """The chosen plan with its savings."""

    policy: TuningRecipe
    programs: Mapping[str, int]
    """The number of programs per split."""
    against_plain: Mapping[str, Estimate]
    """Loaded bytes relative to ``clang -Oz -flto``, by plan and split."""


def train(outcomes: Path, corpus: str, path: Path, *, recipe: str, seed: int) -> Training:
    """Return the plan that saves most bytes over all training programs, as a policy.

    Args:
        outcomes: The file written by `measure`, for programs of the corpus.
        corpus: The corpus, as for `open_corpus`.
        path: The file that the policy is for; it is not written.
        recipe: The recipe whose variants are the plans.
        seed: The seed of the bootstrap.

    Raises:
        InvalidParameterError: Too few programs were measured.
    """
    base, table = recipe_named(recipe), Outcomes(outcomes)
    plans = [
        plan
        for plan in plans_around(base.plan)
        if (plan.method, plan.passes) == (base.plan.method, base.plan.passes)
    ]
    programs = [
        program
        for program in list_programs(open_corpus(corpus, outcomes.parent))
        if program.split in (_TRAIN, _VALIDATION)
        and all(_find_loaded(table, program, plan) for plan in (FAIR, base.plan))
    ]
    by_split = {s: [p for p in programs if p.split == s] for s in (_TRAIN, _VALIDATION)}
    training = by_split[_TRAIN]
    if len({program.package for program in training}) < _FEWEST:
        raise InvalidParameterError(
            f"{outcomes} has only {len(training)} training programs, but at least {_FEWEST} "
            "packages are needed; measure more with `compiler-gym policy measure`"
        )
    costs = _log_costs(table, training, [base.plan, *plans])[:, 1:]
    means = _weights([program.package for program in training]) @ costs
    best = plans[int(np.nanargmin(means))]
    estimates = {
        f"{name} ({split})": estimate
        for split, chosen in by_split.items()
        if chosen
        for name, estimate in _estimates(table, chosen, base.plan, best, seed).items()
    }
    policy = TuningRecipe(
        path, base.compiler, base.goal, replace(best, name=base.plan.name),
        Provenance(
            f"Learnt from variants of the recipe {base.name}: {plan_key(best)}.",
            base.known.machine,
            f"compiler-gym policy train {outcomes.name} {corpus}",
            {
                name: f"{e.mean:+.2f} % loaded bytes ({e.low:+.2f} to {e.high:+.2f})"
                for name, e in estimates.items()
            },
        ),
    )  # fmt: skip
    counts = {split: len(chosen) for split, chosen in by_split.items()}
    return Training(policy, counts, estimates)


def _estimates(
    table: Outcomes,
    programs: Sequence[CorpusProgram],
    recipe: BinaryPlan,
    best: BinaryPlan,
    seed: int,
) -> dict[str, Estimate]:
    costs = _log_costs(table, programs, [FAIR, recipe, best])
    packages = [program.package for program in programs]
    named = {
        "recipe": costs[:, 1],
        "chosen": costs[:, 2],
        "chosen, kept if smaller": np.minimum(costs[:, 2], 0.0),
    }
    return {name: _estimate(cost, packages, seed) for name, cost in named.items()}


def _find_loaded(table: Outcomes, program: CorpusProgram, plan: BinaryPlan) -> int:
    """Return the loaded bytes of the program with the plan; 0 if not measured or failed."""
    row = table.find(program.name, plan)
    return 0 if row is None else row.loaded


def _log_costs(
    table: Outcomes, programs: Sequence[CorpusProgram], plans: Sequence[BinaryPlan]
) -> Matrix:
    """Return log bytes with each plan relative to the first plan; NaN if not measured."""
    loaded = [[_find_loaded(table, p, plan) or np.nan for plan in plans] for p in programs]
    costs = np.log(np.array(loaded))
    return costs - costs[:, :1]


def _weights(packages: Sequence[str]) -> Matrix:
    """Return a weight for each program such that all packages count the same."""
    counts = Counter(packages)
    return np.array([1 / counts[name] / len(counts) for name in packages])


def _estimate(costs: Matrix, packages: Sequence[str], seed: int) -> Estimate:
    _, package = np.unique(packages, return_inverse=True)
    means = np.bincount(package, costs) / np.bincount(package)
    whole = astuple(bootstrap_interval(means.tolist(), seed))
    mean, low, high, worst = (100 * float(np.expm1(cost)) for cost in (*whole, costs.max()))
    return Estimate(mean, low, high, float((costs > 0).mean()), worst)
