# SPDX-License-Identifier: MIT
"""Replay the episodes of a collection by the names of their actions, and compare every state."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, cast

import gymnasium
import numpy as np

from compiler_gym.core import CompilerEnv
from compiler_gym.errors import CompilerGymError, ServiceError, error_from_name
from compiler_gym.options import CollectOptions
from compiler_gym.spaces import action_names, value_from_json
from compiler_gym.tools.learn.collection.columns import Layout, NamedStep, json_text
from compiler_gym.tools.learn.collection.playing import make_environment
from compiler_gym.wrappers import EpisodeRecord

__all__ = ["ReplayDifference", "differences_in"]

_Space = gymnasium.Space[Any] | None


@dataclass(frozen=True, slots=True)
class ReplayDifference:
    """A value that differs when an episode is replayed."""

    run: int
    benchmark: str
    step: int
    """The number of actions taken before."""
    column: str
    kept: Any
    found: Any

    def __str__(self) -> str:
        return (
            f"run {self.run}, {self.benchmark}, step {self.step}: {self.column} was recorded as "
            f"{self.kept!s:.60} but is now {self.found!s:.60}"
        )


def differences_in(
    episodes: Iterable[tuple[int, EpisodeRecord]], layout: Layout, options: CollectOptions
) -> Iterator[ReplayDifference]:
    """Yield the first difference of each episode.

    Nondeterministic values and failures of workers, such as timeouts, are not compared.
    """
    with make_environment(options) as env:
        specs = [env.observation.spec(field.name) for field in layout.fields]
        env.observation_space = [spec.id for spec in specs]
        exact = [spec.space if spec.deterministic else None for spec in specs]
        for run, episode in episodes:
            difference = next(_episode_differences(env, episode, layout, exact), None)
            if difference is not None:
                step, column, recorded, replayed = difference
                yield ReplayDifference(run, episode.benchmark, step, column, recorded, replayed)


def _episode_differences(
    env: CompilerEnv, episode: EpisodeRecord, layout: Layout, exact: list[_Space]
) -> Iterator[tuple[int, str, Any, Any]]:
    if episode.observation is None or (episode.steps and not episode.steps[0].actions):
        return  # no episode can start on this program
    try:
        observed, _ = env.reset(benchmark=episode.benchmark, action_space=episode.action_space)
        yield from _state_differences(0, episode.observation, observed, layout, exact)
        for number, (_, record) in enumerate(episode.transitions(), start=1):
            step = cast("NamedStep", record)
            observed, reward, *_, info = env.step(_find_action(env, step))
            kinds = step.error_type, info.get("error_type")
            if kinds != (None, None):
                if kinds[0] != kinds[1] and not any(map(_is_of_a_worker, kinds)):
                    yield number, "error", *kinds
                return
            if step.reward is not None and _is_fixed(env) and step.reward != reward:
                yield number, "reward", step.reward, reward
            yield from _state_differences(number, step.observation, observed, layout, exact)
    except CompilerGymError as error:
        yield len(env.actions), "error", None, f"{type(error).__name__}: {error}"


def _state_differences(
    number: int, recorded: Any, observed: Any, layout: Layout, exact: list[_Space]
) -> Iterator[tuple[int, str, Any, Any]]:
    for field, value, space in zip(layout.fields, recorded or (), exact, strict=False):
        if space is None:
            continue
        current = observed[field.name]
        if field.kind == "json":
            current = json.loads(json_text(space, current))
        if not (np.array_equal(value, current) if field.dtype else value == current):
            yield number, field.column, value, current


def _is_fixed(env: CompilerEnv) -> bool:
    return all(reward.deterministic for reward in env.episode.selection.rewards.rewards)


def _is_of_a_worker(kind: str | None) -> bool:
    return kind is not None and isinstance(error_from_name(kind, ""), ServiceError)


def _find_action(env: CompilerEnv, step: NamedStep) -> Any:
    """Return the action with the name of the recorded one, or else with its number or value."""
    names = list(action_names(env.action_space))
    if step.name in names:
        return names.index(step.name)
    action = step.actions[0]
    if isinstance(action, int):
        return action
    return value_from_json(env.action_space, json.loads(action))
