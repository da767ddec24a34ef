# SPDX-License-Identifier: MIT
"""A policy: plans, and a linear model that predicts the best plan for a program.

A policy is a JSON file of a few kB, which can be read and applied without any library.
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
"""Version of the file format."""


@dataclass(frozen=True, slots=True)
class Policy:
    """A linear model that chooses the link plan of a program."""

    compiler: str
    """The compiler used for training, with its version."""
    machine: str
    """The machine that the policy is for, as named by `platform.machine`."""
    recipe: str
    """The recipe for compiling units, and for linking if no plan can be chosen."""
    plans: tuple[BinaryPlan, ...]
    """The plans to choose from, with unique names; all compile units as the recipe does."""
    centre: tuple[float, ...]
    """The mean of each feature over the training programs."""
    scale: tuple[float, ...]
    """The scale of each feature over the training programs."""
    weights: tuple[tuple[float, ...], ...]
    """For each plan, a weight per feature, followed by a constant."""
    features: tuple[str, ...] = FEATURES
    version: int = VERSION
    known: Mapping[str, str] = field(default_factory=dict[str, str])
    """Details of the training and the measured savings."""

    @property
    def is_constant(self) -> bool:
        """True if the policy chooses the same plan for every program."""
        return not any(any(row[:-1]) for row in self.weights)

    def rank_plans(self, features: Sequence[float]) -> list[BinaryPlan]:
        """Return the plans for a program with `features`, best first."""
        inputs = [
            *(
                (value - centre) / scale
                for value, centre, scale in zip(features, self.centre, self.scale, strict=True)
            ),
            1.0,
        ]
        scores = [
            sum(weight * value for weight, value in zip(row, inputs, strict=True))
            for row in self.weights
        ]
        order = sorted(range(len(scores)), key=lambda index: (-scores[index], index))
        return [self.plans[index] for index in order]


def read_policy(path: Path) -> Policy:
    """Return the policy in the file `path`; raise `PlanError` if it is invalid."""
    try:
        policy = msgspec.json.decode(path.read_bytes(), type=Policy)
    except OSError as error:
        raise PlanError(f"cannot read the policy {path}: {error.strerror}") from error
    except msgspec.MsgspecError as error:
        raise PlanError(f"{path} does not contain a policy: {error}") from error
    width, count = len(FEATURES), len(policy.plans)
    shapes = len(policy.centre), len(policy.scale), *map(len, policy.weights)
    expected = width, width, *[width + 1] * count
    if policy.version != VERSION or policy.features != FEATURES or shapes != expected or not count:
        raise PlanError(
            f"{path} is not a policy of version {VERSION} with {width} features; train it again "
            "with `compiler-gym policy train`"
        )
    return policy


def write_policy(policy: Policy, path: Path) -> None:
    """Write `policy` to the file `path`."""
    text = msgspec.json.format(msgspec.json.encode(policy), indent=1)
    write_whole(path, text + b"\n")
