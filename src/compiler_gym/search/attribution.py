# SPDX-License-Identifier: MIT
"""Measure the contribution of each action of an episode: its own reward, and the loss without it.

The two differ: an action without a reward may enable the next one, and a later action may make
up for the loss of one with a large reward.
"""

from dataclasses import dataclass
from typing import Any

from compiler_gym.core import CompilerEnv
from compiler_gym.errors import InvalidParameterError
from compiler_gym.spaces import action_name


@dataclass(frozen=True, slots=True)
class Contribution:
    """The contribution of one action to an episode's reward."""

    number: int
    """The position in the episode, from 1."""
    action: str
    """The name of the action."""
    gained: float
    """The reward of the action's own step."""
    cost_of_removal: float | None
    """The loss of reward without the action; None if the compiler then fails."""
    had_effect: bool
    """True if the action changed the program."""


def attribute(env: CompilerEnv) -> list[Contribution]:
    """Return the contribution of each action to the reward of the episode.

    Replays the episode once per action and restores it at the end. Raises `InvalidParameterError`
    without a reward space.
    """
    if env.reward_space is None:
        raise InvalidParameterError("cannot measure contributions: set a reward space first")
    actions, benchmark = env.actions, env.benchmark
    steps: list[tuple[float, bool]] = []
    env.reset(benchmark=benchmark)
    for action in actions:
        _, reward, _, _, info = env.step(action)
        steps.append((float(reward), not info["action_had_no_effect"]))
    total = env.episode_reward or 0.0
    rewards_without = [
        _reward(env, benchmark, [*actions[:i], *actions[i + 1 :]]) for i in range(len(actions))
    ]
    _reward(env, benchmark, actions)
    return [
        Contribution(
            number,
            action_name(env.action_space, action),
            gained,
            None if reward_without is None else total - reward_without,
            had_effect,
        )
        for number, (action, (gained, had_effect), reward_without) in enumerate(
            zip(actions, steps, rewards_without, strict=True), start=1
        )
    ]


def _reward(env: CompilerEnv, benchmark: Any, actions: list[Any]) -> float | None:
    """Return the reward of `actions` after a reset, or None if the compiler fails."""
    env.reset(benchmark=benchmark)
    if not actions:
        return 0.0
    _, reward, _, truncated, _ = env.multistep(actions)
    return None if truncated else float(reward)
