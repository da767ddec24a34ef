# SPDX-License-Identifier: MIT
"""Learn which plan suits a program from the sizes of other programs with each plan.

The model is linear, and its loss is the expected regret: the cost of each plan in log bytes,
relative to the recipe and weighted with the plan's probability. So wrong choices count only as much
as they cost. All decisions use the split ``train`` only, with cross-validation over packages;
``validation`` is evaluated once, at the end.
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
"""The weights of features for each plan, and the mean and the scale of each feature."""
_TRAIN, _VALIDATION = "train", "validation"
_ONE_FOR_ALL = np.inf
_DECAYS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, _ONE_FOR_ALL)
"""The candidates for the weight decay; with the last, all programs get the same plan."""
_FOLDS = 8
_STEPS, _RATE = 400, 0.05
_RESAMPLES = 2000
_LEAST = 0.5
"""The share of programs that a plan must have been measured on to be considered."""


class Loss(StrEnum):
    """The loss function of the model."""

    REGRET = "regret"
    """The expected cost of the choice in bytes."""
    ACCURACY = "cross-entropy"
    """The cross-entropy with the best choice, independent of costs."""


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
    """A policy with its estimated savings on unseen programs."""

    policy: Policy
    programs: Mapping[str, int]
    """The number of programs per split."""
    decay: float
    against_plain: Mapping[str, Estimate]
    """Loaded bytes relative to ``clang -Oz -flto``, by strategy: on ``train``, with models that did
    not see the program's package, and on ``validation``."""


@dataclass(frozen=True, slots=True)
class _Examples:
    features: Matrix
    costs: Matrix
    """Log loaded bytes with each plan, relative to the recipe, which is the first plan."""
    plain: Matrix
    """Log loaded bytes with the fair rival, relative to the recipe."""
    packages: Sequence[str]

    def take(self, mask: npt.NDArray[np.bool_]) -> "_Examples":
        names = [name for name, is_in in zip(self.packages, mask, strict=True) if is_in]
        return _Examples(self.features[mask], self.costs[mask], self.plain[mask], names)


def train(
    outcomes: Path, corpus: str, *, recipe: str, count: int, seed: int, loss: Loss = Loss.REGRET
) -> Training:
    """Return a policy that chooses among `count` plans, including the recipe.

    Args:
        outcomes: The file written by `measure`, for programs of the corpus.
        corpus: The corpus, as for `open_corpus`.
        recipe: The recipe whose variants are the plans.
        count: The maximum number of plans to choose from.
        seed: The seed of the cross-validation folds and the bootstrap.
        loss: The loss function.

    Raises:
        InvalidParameterError: Too few programs were measured.
    """
    base = recipe_named(recipe)
    table = Outcomes(outcomes)
    programs = [
        program
        for program in list_programs(open_corpus(corpus, outcomes.parent))
        if program.split in (_TRAIN, _VALIDATION) and _find_loaded(table, program, base.plan)
    ]
    training = [program for program in programs if program.split == _TRAIN]
    if len({program.package for program in training}) < 2 * _FOLDS:
        raise InvalidParameterError(
            f"{outcomes} has only {len(training)} training programs, but at least {2 * _FOLDS} "
            "packages are needed; measure more with `compiler-gym policy measure`"
        )
    plans = _portfolio(table, training, base.plan, count)
    programs = [p for p in programs if all(_find_loaded(table, p, plan) for plan in plans)]
    examples = _Examples(
        np.array([compute_features(p.modules(), is_shared=p.is_shared) for p in programs]),
        _log_costs(table, programs, plans),
        _log_costs(table, programs, [base.plan, FAIR])[:, 1],
        [program.package for program in programs],
    )
    is_train = np.array([program.split == _TRAIN for program in programs])
    train_rows, test_rows = examples.take(is_train), examples.take(~is_train)
    decay, unseen = _best_decay(train_rows, seed, loss)
    model = _fit(train_rows, decay, loss)
    test_choices = _choices(test_rows.features, model)
    evaluations = {"": (train_rows, unseen), " (validation)": (test_rows, test_choices)}
    estimates: dict[str, Estimate] = {}
    for suffix, (rows, choices) in evaluations.items():
        if not rows.packages:
            continue
        indices = np.arange(len(choices))
        costs = {
            **{f"always {plan.name}": rows.costs[:, i] for i, plan in enumerate(plans)},
            "chosen": rows.costs[indices, choices],
            "chosen, never larger": np.minimum(rows.costs[indices, choices], rows.plain),
            "the best of them": rows.costs.min(1),
        }
        for name, cost in costs.items():
            estimates[f"{name}{suffix}"] = _estimate(cost - rows.plain, rows.packages, seed)
    programs_by_split = {_TRAIN: len(train_rows.packages), _VALIDATION: len(test_rows.packages)}
    return Training(_policy(base, plans, model, estimates), programs_by_split, decay, estimates)


def _portfolio(
    table: Outcomes, programs: Sequence[CorpusProgram], recipe: BinaryPlan, count: int
) -> list[BinaryPlan]:
    """Return the recipe and the plans that complement it best, chosen greedily."""
    costs: dict[str, tuple[BinaryPlan, Matrix]] = {}
    for plan in plans_around(recipe):
        if (plan.method, plan.passes) == (recipe.method, recipe.passes):
            cost = _log_costs(table, programs, [recipe, plan])[:, 1]
            if np.isfinite(cost).mean() >= _LEAST:
                costs[_describe_change(plan, recipe)] = plan, cost
    weights = _weights([program.package for program in programs])
    portfolio = {_describe_change(recipe, recipe): recipe}
    least = np.zeros(len(programs))
    while len(portfolio) < count:
        gains = {
            name: weights @ (least - np.fmin(least, cost)) for name, (_, cost) in costs.items()
        }
        best = max(gains, key=gains.__getitem__)
        if gains[best] <= 0:
            break
        portfolio[best] = costs[best][0]
        least = np.fmin(least, costs[best][1])
    return [replace(plan, name=name) for name, plan in portfolio.items()]


def _describe_change(plan: BinaryPlan, recipe: BinaryPlan) -> str:
    """Return the options in which `plan` differs from `recipe`, as text."""
    options = {*plan.options.items()} ^ {*recipe.options.items()}
    names = sorted({name for name, _ in options})
    framed = ["frames"] if plan.flags != recipe.flags else []
    texts = [f"{name}={plan.options.get(name, 'default')}" for name in names]
    if "force-remove-attribute" in names:
        others = [text for text in texts if not text.startswith(("force-", "inlinehint-"))]
        texts = ["optsize", *(text for text in others if text != "inline-threshold=5")]
    return " ".join((*framed, *texts)) or "recipe"


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


def _best_decay(rows: _Examples, seed: int, loss: Loss) -> tuple[float, Choices]:
    """Return the decay with the best cross-validated regret, and the choices on unseen folds."""
    names = sorted(set(rows.packages))
    order = np.random.default_rng(seed).permutation(len(names))
    fold_by_name = {name: int(order[i]) % _FOLDS for i, name in enumerate(names)}
    folds = np.array([fold_by_name[name] for name in rows.packages])
    weights, indices = _weights(rows.packages), np.arange(len(rows.packages))
    best = np.inf, _DECAYS[-1], np.zeros(len(indices), dtype=np.intp)
    for decay in reversed(_DECAYS):
        choices = np.zeros(len(indices), dtype=np.intp)
        for fold in range(_FOLDS):
            model = _fit(rows.take(folds != fold), decay, loss)
            choices[folds == fold] = _choices(rows.features[folds == fold], model)
        regret = float(weights @ rows.costs[indices, choices])
        if regret < best[0]:
            best = regret, decay, choices
    return best[1:]


def _fit(rows: _Examples, decay: float, loss: Loss) -> Model:
    """Return the weights that minimise the loss, with each feature's mean and scale."""
    weights = _weights(rows.packages)
    centre = weights @ rows.features
    scale = np.sqrt(weights @ (rows.features - centre) ** 2) + 1e-9
    inputs = _scale_features(rows.features, centre, scale)
    costs = 100 * rows.costs
    best = np.eye(costs.shape[1])[costs.argmin(1)]
    model = np.zeros((costs.shape[1], inputs.shape[1]))
    if decay == _ONE_FOR_ALL:
        model[(weights @ costs).argmin(), -1] = 1.0
        return model, centre, scale
    mean, square = np.zeros_like(model), np.zeros_like(model)
    for step in range(1, _STEPS + 1):
        scores = inputs @ model.T
        shares = np.exp(scores - scores.max(1, keepdims=True))
        shares /= shares.sum(1, keepdims=True)
        if loss is Loss.REGRET:
            slopes = shares * (costs - (shares * costs).sum(1, keepdims=True))
        else:
            slopes = shares - best
        slope = (slopes * weights[:, None]).T @ inputs
        slope[:, :-1] += 2 * decay * model[:, :-1]
        mean, square = 0.9 * mean + 0.1 * slope, 0.99 * square + 0.01 * slope**2  # Adam
        model -= _RATE * mean / (1 - 0.9**step) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
    return model, centre, scale


def _scale_features(features: Matrix, centre: Matrix, scale: Matrix) -> Matrix:
    return np.column_stack([(features - centre) / scale, np.ones(len(features))])


def _choices(features: Matrix, model: Model) -> Choices:
    """Return the index of the plan that the model chooses for each program."""
    weights, centre, scale = model
    return (_scale_features(features, centre, scale) @ weights.T).argmax(1)


def _estimate(costs: Matrix, packages: Sequence[str], seed: int) -> Estimate:
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
            name: f"{e.mean:+.2f} % loaded bytes ({e.low:+.2f} to {e.high:+.2f})"
            for name, e in estimates.items()
        },
    )
