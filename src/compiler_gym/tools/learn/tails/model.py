# SPDX-License-Identifier: MIT
"""A model that orders the tails of a function by the instructions or bytes that they may save.

Gradient-boosted trees over rows of a function and a tail; LightGBM fits and evaluates them.
"""

import lzma
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from compiler_gym.errors import EnvironmentNotSupported, InvalidParameterError
from compiler_gym.files import read_regular, write_whole
from compiler_gym.tools.learn.tails.labels import Labels
from compiler_gym.tools.learn.tails.options import TailGoal
from compiler_gym.version import install_hint

__all__ = ["TailModel"]

_ROUNDS = 150
_SETTINGS = {
    "objective": "regression",
    "learning_rate": 0.08,
    "num_leaves": 31,
    "min_data_in_leaf": 40,
    "feature_fraction": 0.3,
    "max_bin": 63,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "deterministic": True,
    "force_row_wise": True,
    "num_threads": 2,
    "verbosity": -1,
}
_UNHELPED = 1.0
"""For each function that a tail makes smaller, so many others are in a fit."""
_LEAST = 0.02
"""Functions whose largest expected saving is smaller are left alone."""
_BY_MODEL = 2
"""The tails that come first because of their expected savings."""
_PASS = re.compile(r"[a-z][\w-]*(?:<[^<>]*>)?(?=[,)]|$)")


class _Stored(msgspec.Struct):
    probes: list[str]
    tails: list[str]
    trees: str
    goal: TailGoal = TailGoal.INSTRUCTIONS


class TailModel:
    """The trees, and the probes and tails that they know.

    Without trees, it expects the same of all tails, so their order is the same for all functions.
    """

    def __init__(
        self,
        probes: Sequence[str],
        tails: Sequence[str],
        trees: str,
        goal: TailGoal = TailGoal.INSTRUCTIONS,
    ) -> None:
        self.probes = list(probes)
        self.tails = list(tails)
        """The tails, in the order in which they add most to those before."""
        self.goal = goal
        """The unit of the expected savings."""
        self._trees = trees
        self._booster = _lightgbm().Booster(model_str=trees) if trees else None
        self._tail_columns = _describe_tails(self.tails)

    @classmethod
    def fit(
        cls, labels: Labels, probes: Sequence[str], tails: Sequence[str], seed: int
    ) -> "TailModel":
        """Return a model of `labels`; the same labels and seed give the same model."""
        chosen, weights = _sample(labels, np.random.default_rng(seed))
        part = labels.where(chosen)
        columns = _describe_functions(part.instructions, part.features, part.probes)
        rows = _pair(columns, _describe_tails(tails))
        lightgbm = _lightgbm()
        data = lightgbm.Dataset(
            rows,
            part.savings.ravel(),
            weight=np.repeat(weights[chosen], len(tails)),
            categorical_feature=[rows.shape[1] - 1],
            free_raw_data=True,
        )
        booster = lightgbm.train(_SETTINGS | {"seed": seed}, data, _ROUNDS)
        return cls(probes, tails, booster.model_to_string())

    def expect(
        self,
        instructions: NDArray[np.int32],
        features: NDArray[np.float32],
        probes: NDArray[np.int32],
    ) -> NDArray[np.float64]:
        """Return the expected saving of each tail, a row for each function."""
        if self._booster is None:
            return np.ones((len(instructions), len(self.tails)))
        rows = _pair(_describe_functions(instructions, features, probes), self._tail_columns)
        return self._booster.predict(rows).reshape(len(instructions), len(self.tails))

    def order(self, expected: NDArray[np.float64]) -> NDArray[np.intp]:
        """Return the tails of each function in the order to try.

        The two with the largest expected savings are first. The others follow as they cover most
        functions, since the next by expectation would mostly do the same as the first two.
        """
        best = np.argsort(-expected, axis=1, kind="stable")[:, :_BY_MODEL]
        others = range(len(self.tails))
        return np.array([[*own, *(c for c in others if c not in own)] for own in best.tolist()])

    def choose(
        self,
        instructions: NDArray[np.int32],
        features: NDArray[np.float32],
        probes: NDArray[np.int32],
        tries: int,
    ) -> list[list[str]]:
        """Return the first `tries` tails for each function; none where no tail promises much."""
        expected = self.expect(instructions, features, probes)
        order = self.order(expected)[:, :tries]
        return [
            [self.tails[column] for column in columns] if own.max() > _LEAST else []
            for own, columns in zip(expected, order.tolist(), strict=True)
        ]

    def save(self, path: Path) -> None:
        """Write the model as compressed JSON; the same model gives the same bytes."""
        stored = msgspec.json.encode(_Stored(self.probes, self.tails, self._trees, self.goal))
        write_whole(path, lzma.compress(stored))

    @classmethod
    def load(cls, path: Path) -> "TailModel":
        """Read a model that `save` wrote."""
        try:
            stored = msgspec.json.decode(lzma.decompress(read_regular(path)), type=_Stored)
        except (OSError, lzma.LZMAError, msgspec.MsgspecError) as error:
            raise InvalidParameterError(
                f"cannot read a model of `compiler-gym tails learn` from {path}: {error}"
            ) from error
        return cls(stored.probes, stored.tails, stored.trees, stored.goal)


def _sample(
    labels: Labels, draw: np.random.Generator
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Return the functions to fit, and their weights: most functions have nothing to save."""
    is_helped = labels.savings.max(axis=1) > 0
    share = min(1.0, _UNHELPED * is_helped.sum() / max((~is_helped).sum(), 1))
    chosen = is_helped | (draw.random(len(is_helped)) < share)
    return chosen, np.where(is_helped, 1.0, 1.0 / share)


def _describe_functions(
    instructions: NDArray[np.int32], features: NDArray[np.float32], probes: NDArray[np.int32]
) -> NDArray[np.float32]:
    saved = (instructions[:, None] - probes).astype(np.float32)
    return np.hstack([features, saved, saved / np.maximum(instructions, 1)[:, None]]).astype(
        np.float32
    )


def _describe_tails(tails: Sequence[str]) -> NDArray[np.float32]:
    """Return the number of each pass in each tail, then the number of the tail."""
    passes = [_PASS.findall(tail) for tail in tails]
    names = sorted({name for own in passes for name in own})
    counts = [[own.count(name) for name in names] for own in passes]
    return np.hstack([np.array(counts), np.arange(len(tails))[:, None]]).astype(np.float32)


def _pair(functions: NDArray[np.float32], tails: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return a row for each function and tail."""
    return np.hstack(
        [np.repeat(functions, len(tails), axis=0), np.tile(tails, (len(functions), 1))]
    )


def _lightgbm() -> Any:
    try:
        import lightgbm
    except ImportError:
        raise EnvironmentNotSupported(
            f"tails need LightGBM: install it with {install_hint('tails')}"
        ) from None
    return lightgbm
