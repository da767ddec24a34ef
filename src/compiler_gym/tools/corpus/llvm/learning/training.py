# SPDX-License-Identifier: MIT
"""Learn which plan a program wants from what other programs weigh by each.

The model is linear, and its loss is regret: what the plans that it would choose cost, in log bytes
beside the recipe, each as likely as the model makes it. So a wrong choice that costs nothing is no
mistake, and one that costs much is a large one. Everything is decided on the split ``train``, by
leaving out one fold of packages after the other; ``validation`` is looked at once, at the end.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from compiler_gym.errors import InvalidParameterError
from compiler_gym.tools.corpus.llvm.learning.linked import CorpusProgram, list_programs, open_corpus
from compiler_gym.tools.corpus.llvm.learning.outcomes import Outcomes
from compiler_gym.tools.corpus.llvm.learning.plans import FAIR, plans_around
from compiler_gym.tools.tune import BinaryPlan, TuningRecipe, recipe_named
from compiler_gym.tools.tune.llvm.policies import Policy, compute_features

__all__ = ["Estimate", "Loss", "Training", "train"]

Matrix: TypeAlias = npt.NDArray[np.float64]
Choices: TypeAlias = npt.NDArray[np.intp]
Model: TypeAlias = tuple[Matrix, Matrix, Matrix]
"""Weights of features by plan, and the mean and the spread of each feature."""
_TRAIN, _VALIDATION = "train", "validation"
_ONE_FOR_ALL = np.inf
_DECAYS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, _ONE_FOR_ALL)
"""How much weights are held back, of which one is chosen; by the last all programs get one plan."""
_FOLDS = 8
_STEPS, _RATE = 400, 0.05
_RESAMPLES = 2000
_LEAST = 0.5
"""The share of programs that a plan must be measured of to be chosen from."""


class Loss(StrEnum):
    """What the model is made to avoid."""

    REGRET = "regret"
    """Bytes that the choice costs."""
    ACCURACY = "cross-entropy"
    """Another choice than the best, whatever it costs."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A difference in per cent of bytes, in geometric mean over packages."""

    mean: float
    low: float
    """Where its 95 % interval begins, packages drawn again and again."""
    high: float
    larger: float
    """The share of programs that are larger."""
    worst: float


@dataclass(frozen=True, slots=True)
class Training:
    """A policy, and what it is worth on programs that it was not learnt from."""

    policy: Policy
    programs: Mapping[str, int]
    """How many programs, by split."""
    decay: float
    against_plain: Mapping[str, Estimate]
    """Loaded bytes beside ``clang -Oz -flto``, by who chose the plan: for the programs of ``train``
    by models that had not seen their packages, and for those of ``validation``."""


@dataclass(frozen=True, slots=True)
class _Examples:
    features: Matrix
    costs: Matrix
    """Log loaded bytes by each plan, less those by the recipe, which is the first."""
    plain: Matrix
    """The same by the plain level, which is chosen by nobody."""
    packages: Sequence[str]

    def take(self, chosen: npt.NDArray[np.bool_]) -> "_Examples":
        names = [name for name, is_in in zip(self.packages, chosen, strict=True) if is_in]
        return _Examples(self.features[chosen], self.costs[chosen], self.plain[chosen], names)


def train(
    outcomes: Path, corpus: str, *, recipe: str, count: int, seed: int, loss: Loss = Loss.REGRET
) -> Training:
    """Return a policy that chooses among `count` plans, the recipe one of them.

    Args:
        outcomes: File written by `measure`, for programs of the corpus.
        corpus: What `open_corpus` takes.
        recipe: The recipe that the plans are around.
        count: How many plans are chosen from, at most.
        seed: Decides which packages are left out together.
        loss: What the model is made to avoid.

    Raises:
        InvalidParameterError: Too few programs were measured.
    """
    base = recipe_named(recipe)
    kept = Outcomes(outcomes)
    programs = [
        one
        for one in list_programs(open_corpus(corpus, outcomes.parent))
        if one.split in (_TRAIN, _VALIDATION) and _measure_loaded(kept, one, base.plan)
    ]
    learnt_from = [one for one in programs if one.split == _TRAIN]
    if len({one.package for one in learnt_from}) < 2 * _FOLDS:
        raise InvalidParameterError(
            f"{outcomes} has {len(learnt_from)} programs to learn from: expected those of at least "
            f"{2 * _FOLDS} packages: see `compiler-gym policy measure`"
        )
    plans = _portfolio(kept, learnt_from, base.plan, count)
    whole = [one for one in programs if all(_measure_loaded(kept, one, plan) for plan in plans)]
    examples = _Examples(
        np.array([compute_features(one.modules(), is_shared=one.is_shared) for one in whole]),
        _log_costs(kept, whole, plans),
        _log_costs(kept, whole, [base.plan, FAIR])[:, 1],
        [one.package for one in whole],
    )
    is_train = np.array([one.split == _TRAIN for one in whole])
    learnt, held = examples.take(is_train), examples.take(~is_train)
    decay, unseen = _best_decay(learnt, seed, loss)
    model = _fit(learnt, decay, loss)
    judged = {"": (learnt, unseen), " (validation)": (held, _choices(held.features, model))}
    estimates: dict[str, Estimate] = {}
    for where, (rows, chosen) in judged.items():
        if not rows.packages:
            continue
        places = np.arange(len(chosen))
        costs = {
            **{f"always {plan.name}": rows.costs[:, at] for at, plan in enumerate(plans)},
            "chosen": rows.costs[places, chosen],
            "chosen, never larger": np.minimum(rows.costs[places, chosen], rows.plain),
            "the best of them": rows.costs.min(1),
        }
        for name, cost in costs.items():
            estimates[f"{name}{where}"] = _estimate_of_packages(
                cost - rows.plain, rows.packages, seed
            )
    programs_by_split = {_TRAIN: len(learnt.packages), _VALIDATION: len(held.packages)}
    return Training(_policy(base, plans, model, estimates), programs_by_split, decay, estimates)


def _portfolio(
    kept: Outcomes, programs: Sequence[CorpusProgram], recipe: BinaryPlan, count: int
) -> list[BinaryPlan]:
    """Return the recipe and what wins most beside it, one plan after the other."""
    costs: dict[str, tuple[BinaryPlan, Matrix]] = {}
    for plan in plans_around(recipe):
        if (plan.method, plan.passes) == (recipe.method, recipe.passes):
            cost = _log_costs(kept, programs, [recipe, plan])[:, 1]
            if np.isfinite(cost).mean() >= _LEAST:
                costs[_words_beside(plan, recipe)] = plan, cost
    weights = _weights([one.package for one in programs])
    chosen = {_words_beside(recipe, recipe): recipe}
    least = np.zeros(len(programs))
    while len(chosen) < count:
        gains = {
            name: weights @ (least - np.fmin(least, cost)) for name, (_, cost) in costs.items()
        }
        best = max(gains, key=gains.__getitem__)
        if gains[best] <= 0:
            break
        chosen[best] = costs[best][0]
        least = np.fmin(least, costs[best][1])
    return [replace(plan, name=name) for name, plan in chosen.items()]


def _words_beside(plan: BinaryPlan, recipe: BinaryPlan) -> str:
    """Return how `plan` differs from `recipe`, in words of its options."""
    options = {*plan.options.items()} ^ {*recipe.options.items()}
    names = sorted({name for name, _ in options})
    framed = ["frames"] if plan.flags != recipe.flags else []
    told = [f"{name}={plan.options.get(name, 'default')}" for name in names]
    if "force-remove-attribute" in names:
        others = [each for each in told if not each.startswith(("force-", "inlinehint-"))]
        told = ["optsize", *(each for each in others if each != "inline-threshold=5")]
    return " ".join((*framed, *told)) or "recipe"


def _measure_loaded(kept: Outcomes, program: CorpusProgram, plan: BinaryPlan) -> int:
    """Return what the program weighs by the plan; 0 where that is not known or failed."""
    found = kept.find(program.name, plan)
    return 0 if found is None else found.loaded


def _log_costs(
    kept: Outcomes, programs: Sequence[CorpusProgram], plans: Sequence[BinaryPlan]
) -> Matrix:
    """Return log bytes by each plan less those by the first; NaN where one was not measured."""
    loaded = [[_measure_loaded(kept, one, plan) or np.nan for plan in plans] for one in programs]
    costs = np.log(np.array(loaded))
    return costs - costs[:, :1]


def _weights(packages: Sequence[str]) -> Matrix:
    """Return a weight for each program, by which all packages count the same."""
    counts = Counter(packages)
    return np.array([1 / counts[name] / len(counts) for name in packages])


def _best_decay(rows: _Examples, seed: int, loss: Loss) -> tuple[float, Choices]:
    """Return the decay that is best for packages that were left out, and the choices for them."""
    names = sorted(set(rows.packages))
    order = np.random.default_rng(seed).permutation(len(names))
    fold_of = {name: int(order[at]) % _FOLDS for at, name in enumerate(names)}
    folds = np.array([fold_of[name] for name in rows.packages])
    weights, places = _weights(rows.packages), np.arange(len(rows.packages))
    best = np.inf, _DECAYS[-1], np.zeros(len(places), dtype=np.intp)
    for decay in reversed(_DECAYS):
        chosen = np.zeros(len(places), dtype=np.intp)
        for fold in range(_FOLDS):
            model = _fit(rows.take(folds != fold), decay, loss)
            chosen[folds == fold] = _choices(rows.features[folds == fold], model)
        regret = float(weights @ rows.costs[places, chosen])
        if regret < best[0]:
            best = regret, decay, chosen
    return best[1:]


def _fit(rows: _Examples, decay: float, loss: Loss) -> Model:
    """Return the weights that lose least, with the mean and the spread of each feature."""
    weights = _weights(rows.packages)
    centre = weights @ rows.features
    scale = np.sqrt(weights @ (rows.features - centre) ** 2) + 1e-9
    seen = _scale_features(rows.features, centre, scale)
    costs = 100 * rows.costs
    best = np.eye(costs.shape[1])[costs.argmin(1)]
    found = np.zeros((costs.shape[1], seen.shape[1]))
    if decay == _ONE_FOR_ALL:
        found[(weights @ costs).argmin(), -1] = 1.0
        return found, centre, scale
    mean, square = np.zeros_like(found), np.zeros_like(found)
    for step in range(1, _STEPS + 1):
        scores = seen @ found.T
        likely = np.exp(scores - scores.max(1, keepdims=True))
        likely /= likely.sum(1, keepdims=True)
        if loss is Loss.REGRET:
            slopes = likely * (costs - (likely * costs).sum(1, keepdims=True))
        else:
            slopes = likely - best
        slope = (slopes * weights[:, None]).T @ seen
        slope[:, :-1] += 2 * decay * found[:, :-1]
        mean, square = 0.9 * mean + 0.1 * slope, 0.99 * square + 0.01 * slope**2  # Adam
        found -= _RATE * mean / (1 - 0.9**step) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
    return found, centre, scale


def _scale_features(features: Matrix, centre: Matrix, scale: Matrix) -> Matrix:
    return np.column_stack([(features - centre) / scale, np.ones(len(features))])


def _choices(features: Matrix, model: Model) -> Choices:
    """Return the plan that the model chooses for each program."""
    weights, centre, scale = model
    return (_scale_features(features, centre, scale) @ weights.T).argmax(1)


def _estimate_of_packages(costs: Matrix, packages: Sequence[str], seed: int) -> Estimate:
    names = sorted(set(packages))
    package = np.array([names.index(name) for name in packages])
    means = np.bincount(package, costs) / np.bincount(package)
    draws = np.random.default_rng(seed).integers(len(means), size=(_RESAMPLES, len(means)))
    low, high = np.percentile(means[draws].mean(1), [2.5, 97.5])
    mean, low, high, worst = (
        100 * float(np.expm1(cost)) for cost in (means.mean(), low, high, costs.max())
    )
    return Estimate(mean, low, high, float((costs > 0).mean()), worst)


def _policy(
    base: TuningRecipe, plans: Sequence[BinaryPlan], model: Model, estimates: Mapping[str, Estimate]
) -> Policy:
    weights, centre, scale = model
    return Policy(
        base.compiler,
        base.known.machine,
        base.name,
        tuple(plans),
        centre=tuple(centre.tolist()),
        scale=tuple(scale.tolist()),
        weights=tuple(map(tuple, weights.tolist())),
        known={
            name: f"{one.mean:+.2f} % loaded bytes ({one.low:+.2f} to {one.high:+.2f})"
            for name, one in estimates.items()
        },
    )
