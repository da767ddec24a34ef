# SPDX-License-Identifier: MIT
"""Plays episodes of a collection again, by the names of their actions, and compares every state."""

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
    """A value that a replay does not repeat."""

    run: int
    benchmark: str
    step: int
    """How many actions had been taken."""
    column: str
    kept: Any
    found: Any

    def __str__(self) -> str:
        return (
            f"run {self.run}, {self.benchmark}, step {self.step}: {self.column} was "
            f"{self.kept!s:.60}, is {self.found!s:.60}"
        )


def differences_in(
    episodes: Iterable[tuple[int, EpisodeRecord]], layout: Layout, options: CollectOptions
) -> Iterator[ReplayDifference]:
    """Yield the first difference of each episode.

    What varies from run to run, and failures of workers, such as one that took too long, are not
    compared.
    """
    with make_environment(options) as env:
        specs = [env.observation.spec(one.name) for one in layout.fields]
        env.observation_space = [spec.id for spec in specs]
        exact = [spec.space if spec.deterministic else None for spec in specs]
        for run, episode in episodes:
            found = next(_of_episode(env, episode, layout, exact), None)
            if found is not None:
                step, column, kept, now = found
                yield ReplayDifference(run, episode.benchmark, step, column, kept, now)


def _of_episode(
    env: CompilerEnv, episode: EpisodeRecord, layout: Layout, exact: list[_Space]
) -> Iterator[tuple[int, str, Any, Any]]:
    if episode.observation is None or (episode.steps and not episode.steps[0].actions):
        return  # a program that no episode begins on
    try:
        seen, _ = env.reset(benchmark=episode.benchmark, action_space=episode.action_space)
        yield from _in_state(0, episode.observation, seen, layout, exact)
        for number, (_, taken) in enumerate(episode.transitions(), start=1):
            step = cast("NamedStep", taken)
            seen, reward, *_, info = env.step(_find_action(env, step))
            kinds = step.error_type, info.get("error_type")
            if kinds != (None, None):
                if kinds[0] != kinds[1] and not any(map(_is_of_a_worker, kinds)):
                    yield number, "error", *kinds
                return
            if step.reward is not None and _is_fixed(env) and step.reward != reward:
                yield number, "reward", step.reward, reward
            yield from _in_state(number, step.observation, seen, layout, exact)
    except CompilerGymError as error:
        yield len(env.actions), "error", None, f"{type(error).__name__}: {error}"


def _in_state(
    number: int, kept: Any, seen: Any, layout: Layout, exact: list[_Space]
) -> Iterator[tuple[int, str, Any, Any]]:
    for field, value, space in zip(layout.fields, kept or (), exact, strict=False):
        if space is None:
            continue
        found = seen[field.name]
        if field.kind == "json":
            found = json.loads(json_text(space, found))
        if not (np.array_equal(value, found) if field.dtype else value == found):
            yield number, field.column, value, found


def _is_fixed(env: CompilerEnv) -> bool:
    return all(reward.deterministic for reward in env.episode.selection.rewards.rewards)


def _is_of_a_worker(kind: str | None) -> bool:
    return kind is not None and isinstance(error_from_name(kind, ""), ServiceError)


def _find_action(env: CompilerEnv, step: NamedStep) -> Any:
    """Return the action that is called what the recorded one was."""
    names = list(action_names(env.action_space))
    if step.name in names:
        return names.index(step.name)
    taken = step.actions[0]
    if isinstance(taken, int):
        return taken
    return value_from_json(env.action_space, json.loads(taken))
