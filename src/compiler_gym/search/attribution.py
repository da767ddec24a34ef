# SPDX-License-Identifier: MIT
"""How much each action of an episode contributes: its own reward, and the loss without it.

The two differ: an action without a reward of its own may enable the next one, and a
later action may make up for one with a large reward.
"""

from dataclasses import dataclass
from typing import Any

from compiler_gym.core import CompilerEnv
from compiler_gym.errors import InvalidParameterError
from compiler_gym.spaces import action_name

__all__ = ["Contribution", "attribute"]


@dataclass(frozen=True, slots=True)
class Contribution:
    """The contribution of one action to an episode's reward."""

    number: int
    """Its place in the episode, from 1."""
    action: str
    """Its name."""
    gained: float
    """The reward of its own step."""
    cost_of_removal: float | None
    """How much less the episode earns without it; None if the compiler fails without it."""
    had_effect: bool
    """True if the program changed."""


def attribute(env: CompilerEnv) -> list[Contribution]:
    """Return what each action of the episode contributed to its reward.

    Replays the episode once for every action, and leaves it as it was. Raises
    `InvalidParameterError` without a reward space.
    """
    if env.reward_space is None:
        raise InvalidParameterError("contributions are measured in rewards: set a reward space")
    actions, benchmark = env.actions, env.benchmark
    steps: list[tuple[float, bool]] = []
    env.reset(benchmark=benchmark)
    for action in actions:
        _, reward, _, _, info = env.step(action)
        steps.append((float(reward), not info["action_had_no_effect"]))
    total = env.episode_reward or 0.0
    without = [
        _reward(env, benchmark, [*actions[:i], *actions[i + 1 :]]) for i in range(len(actions))
    ]
    _reward(env, benchmark, actions)
    return [
        Contribution(
            number,
            action_name(env.action_space, action),
            gained,
            None if left is None else total - left,
            had_effect,
        )
        for number, (action, (gained, had_effect), left) in enumerate(
            zip(actions, steps, without, strict=True), start=1
        )
    ]


def _reward(env: CompilerEnv, benchmark: Any, actions: list[Any]) -> float | None:
    """Return the reward of `actions` from a fresh start, or None if the compiler fails."""
    env.reset(benchmark=benchmark)
    if not actions:
        return 0.0
    _, reward, _, truncated, _ = env.multistep(actions)
    return None if truncated else float(reward)
