# SPDX-License-Identifier: MIT
"""The costs of a program before and after an episode, in their own units.

A reward of 0.9 does not tell how many bytes or instructions that is. Results therefore show the
cost before the episode, at the compiler's own levels, and after it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from compiler_gym.errors import CompilerGymError, ObservationError

if TYPE_CHECKING:
    from compiler_gym.core import CompilerEnv
    from compiler_gym.datasets import Benchmark

__all__ = ["Costs", "change", "costs_of_episode", "find_levels", "find_origin", "number"]


@dataclass(frozen=True, slots=True)
class Costs:
    """One cost of one program; None where it could not be measured."""

    name: str
    """The name of the observation."""
    unit: str
    before: float | None
    levels: dict[str, float | None]
    """The cost at each level of the compiler, by its option."""
    found: float | None

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "observation": self.name,
            "unit": self.unit,
            "before": self.before,
            "levels": self.levels,
            "found": self.found,
        }


def find_levels(env: "CompilerEnv", reward: str) -> dict[str, str]:
    """Return the observations of a reward's cost at the compiler's levels, by their options.

    The level that scales the reward comes first. Empty if the reward does not lower a cost.
    """
    spec = env.reward.spec(reward)
    levels: dict[str, str] = getattr(spec, "levels", {})
    scaling_level = getattr(spec, "baseline", None)
    return dict(sorted(levels.items(), key=lambda item: item[1] != scaling_level))


def find_origin(env: "CompilerEnv", reward: str) -> str:
    """Return the observation from which a reward counts savings: usually the cost at reset.

    If a reset already changes the program, it is the cost before that change.
    """
    from compiler_gym.spaces import CostReward, Origin

    spec = env.reward.spec(reward)
    if isinstance(spec, CostReward) and spec.counts_from is Origin.INITIAL:
        return spec.initial
    return spec.observation_spaces[0]


def costs_of_episode(
    env: "CompilerEnv", benchmark: "str | Benchmark", actions: Sequence[Any], reward: str
) -> Costs | None:
    """Replay `actions` and return the cost that `reward` lowers, before and after.

    None if the reward does not lower a cost.
    """
    spec = env.reward.spec(reward)
    levels = find_levels(env, reward)
    if not levels:
        return None
    name = spec.observation_spaces[0]
    after: float | None = None
    try:
        env.reset(benchmark=benchmark, reward_space=None)
        before = _observe_number(env, find_origin(env, reward))
        costs_at_levels = {option: _observe_number(env, level) for option, level in levels.items()}
        if not actions or "error" not in env.multistep(actions)[4]:
            after = _observe_number(env, name)
    except CompilerGymError:  # the worker was lost: show the known costs
        before, costs_at_levels = None, dict.fromkeys(levels)
    return Costs(name, getattr(spec, "unit", ""), before, costs_at_levels, after)


def change(before: float | None, after: float | None) -> str:
    """Return the change from `before` to `after` in per cent; empty if a value is missing."""
    if not before or after is None:
        return ""
    return f"{(after - before) / before:+.1%}"


def number(value: float | None) -> str:
    """Return a cost as text for tables.

    >>> number(46554), number(0.00125), number(None)
    ('46,554', '0.00125', '-')
    """
    if value is None:
        return "-"
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.4g}"


def _observe_number(env: "CompilerEnv", name: str) -> float | None:
    """Return an observation that is a number, or the median of a list."""
    from statistics import median

    try:
        value = env.observation[name]
    except ObservationError:
        return None
    tolist = getattr(value, "tolist", None)
    plain: Any = value if tolist is None else tolist()
    if not isinstance(plain, list):
        return plain
    times = cast("list[float]", plain)
    return median(times) if times else None
