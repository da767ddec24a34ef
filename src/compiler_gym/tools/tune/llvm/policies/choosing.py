# SPDX-License-Identifier: MIT
"""A policy: plans, and a linear model that says which of them is best for a program.

It is one file of JSON of some kB, which needs no library to be read or followed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from compiler_gym.errors import PlanError
from compiler_gym.files import write_whole
from compiler_gym.tools.tune.llvm.policies.features import FEATURES
from compiler_gym.tools.tune.plan import BinaryPlan

__all__ = ["VERSION", "Policy", "read_policy", "write_policy"]

VERSION = 1
"""Of the format."""


@dataclass(frozen=True, slots=True)
class Policy:
    """Which of a few plans a program is linked by."""

    compiler: str
    """Which compiler it was learnt with, with its version."""
    machine: str
    """The machine that it was learnt for, as `platform.machine` names it."""
    recipe: str
    """The recipe by which units are compiled, and what is linked where nothing can be chosen."""
    plans: tuple[BinaryPlan, ...]
    """What it chooses from, each under a name of its own; all compile units as the recipe does."""
    centre: tuple[float, ...]
    """The mean of each feature among the programs that it was learnt from."""
    scale: tuple[float, ...]
    """The spread of each feature there."""
    weights: tuple[tuple[float, ...], ...]
    """For each plan a weight of each feature, and a constant as the last."""
    features: tuple[str, ...] = FEATURES
    version: int = VERSION
    known: Mapping[str, str] = field(default_factory=dict[str, str])
    """How it was learnt, and what it won where."""

    @property
    def is_constant(self) -> bool:
        """True if it chooses the same plan for every program: no feature was worth a look."""
        return not any(any(row[:-1]) for row in self.weights)

    def rank_plans(self, features: Sequence[float]) -> list[BinaryPlan]:
        """Return the plans for a program with `features`, the best first."""
        seen = [
            *(
                (value - centre) / scale
                for value, centre, scale in zip(features, self.centre, self.scale, strict=True)
            ),
            1.0,
        ]
        scores = [
            sum(weight * value for weight, value in zip(row, seen, strict=True))
            for row in self.weights
        ]
        order = sorted(range(len(scores)), key=lambda at: (-scores[at], at))
        return [self.plans[at] for at in order]


def read_policy(path: Path) -> Policy:
    """Return the policy in the file `path`; raise `PlanError` with what is wrong with it."""
    try:
        policy = msgspec.json.decode(path.read_bytes(), type=Policy)
    except OSError as error:
        raise PlanError(f"cannot read the policy {path}: {error.strerror}") from error
    except msgspec.MsgspecError as error:
        raise PlanError(f"{path} is no policy: {error}") from error
    width, count = len(FEATURES), len(policy.plans)
    shapes = len(policy.centre), len(policy.scale), *map(len, policy.weights)
    expected = width, width, *[width + 1] * count
    if policy.version != VERSION or policy.features != FEATURES or shapes != expected or not count:
        raise PlanError(
            f"{path} is of another version: expected a model of version {VERSION} of "
            f"{width} features: train it again with `compiler-gym policy train`"
        )
    return policy


def write_policy(policy: Policy, path: Path) -> None:
    """Write `policy` to the file `path`."""
    text = msgspec.json.format(msgspec.json.encode(policy), indent=1)
    write_whole(path, text + b"\n")
