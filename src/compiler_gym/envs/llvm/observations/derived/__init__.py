# SPDX-License-Identifier: MIT
"""Observations that the client computes from other observations."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compiler_gym.core import DerivedObservation
from compiler_gym.envs.llvm.observations import AUTOPHASE_FEATURES, INST_COUNT_FEATURES
from compiler_gym.envs.llvm.observations.derived.inst2vec import inst2vec_observations
from compiler_gym.envs.llvm.observations.derived.structure import structure_observations
from compiler_gym.spaces import Box, Dict, Scalar

__all__ = ["list_derived_observations"]

_DENSITIES = tuple(name.replace("Count", "Density") for name in INST_COUNT_FEATURES[1:])


def list_derived_observations() -> tuple[DerivedObservation, ...]:
    """Return the derived observation spaces of LLVM."""
    return (
        _dictionary("AutophaseDict", "Autophase", AUTOPHASE_FEATURES, int),
        _dictionary("InstCountDict", "InstCount", INST_COUNT_FEATURES, int),
        DerivedObservation(
            "InstCountNorm",
            "InstCount",
            _normalize,
            lambda: Box(0.0, float(np.finfo(np.float32).max), "InstCountNorm", (69,), np.float32),
            "The values of InstCount divided by the first, which is omitted: float32[69]; zeros if "
            "there is no code.",
        ),
        _dictionary("InstCountNormDict", "InstCount", _DENSITIES, float, _normalize),
        *structure_observations(),
        *inst2vec_observations(),
    )


def _dictionary(
    name: str,
    base: str,
    keys: Sequence[str],
    number: type[int] | type[float],
    first: Callable[[Any], Any] = lambda values: values,
) -> DerivedObservation:
    def make_space() -> Dict:
        return Dict({key: Scalar(key, 0, None, dtype=number) for key in keys}, name=name)

    return DerivedObservation(
        name,
        base,
        lambda values: dict(zip(keys, first(values).tolist(), strict=True)),
        make_space,
        f"{base} by name: a dictionary of {len(keys)} numbers.",
    )


def _normalize(counts: NDArray[np.int64]) -> NDArray[np.float32]:
    total = counts[0]
    if total == 0:
        return np.zeros(len(counts) - 1, dtype=np.float32)
    return (counts[1:] / total).astype(np.float32)
