# SPDX-License-Identifier: MIT
"""Export episodes as a Minari dataset, and clone a policy from one.

Needs the extra ``minari``. The policy is linear and fitted with NumPy: enough to show that the
dataset contains a signal, but not a substitute for a network.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

import gymnasium
import numpy as np
from numpy.typing import NDArray

from compiler_gym.cli.kit.library import library
from compiler_gym.errors import InvalidParameterError, UnknownNameError, unknown_name
from compiler_gym.registration import make
from compiler_gym.tools.learn.collection import Collection
from compiler_gym.wrappers import EpisodeList, EpisodeRecord

_Array = NDArray[Any]
"""Observations."""
_Space = gymnasium.Space[Any]
"""A space of any values."""
Chooser = Callable[[Any, _Array], int]
"""A function from the environment and an observation to an action."""


def record_episodes(
    env: gymnasium.Env[Any, Any],
    choose: Chooser,
    dataset_id: str,
    *,
    episodes: int,
    seed: int = 0,
    **description: Any,
) -> Any:
    """Return a Minari dataset of `episodes` episodes whose actions `choose` picks.

    `env` must end its episodes and observe an array, as that of `learning_env` does.
    `description` is passed to Minari: `author`, `algorithm_name`, `description` and so on.
    """
    recorded = EpisodeList(env)
    box, actions = _spaces(env.observation_space, env.action_space)
    for number in range(episodes):
        observation, _ = recorded.reset(seed=seed + number)
        done = False
        while not done:
            observation, _, terminated, truncated, _ = recorded.step(choose(env, observation))
            done = terminated or truncated
    return _make_dataset(recorded.episodes, dataset_id, box, actions, description)


def export_collection(
    collection: Collection, dataset_id: str, observation: str, **description: Any
) -> Any:
    """Return a Minari dataset of the episodes in `collection`.

    `observation` names the column to observe, which must hold arrays of numbers. The rewards are
    the first of those recorded. A failed step is left out, and its episode is marked truncated
    before it. `description` is passed to Minari.

    Raises `InvalidParameterError` for another kind of column, or actions without numbers.
    """
    layout, options = collection.layout, collection.options
    columns = [field.column for field in layout.fields]
    if observation not in columns:
        raise UnknownNameError(unknown_name("column", observation, columns))
    index = columns.index(observation)
    with make(options.env, action_space=options.action_space) as env:
        space = env.observation.spec(layout.fields[index].name).space
        box, actions = _spaces(space, env.action_space)
    episodes = (_select_observation(episode, index) for _, episode in collection.episodes())
    return _make_dataset(
        (episode for episode in episodes if episode.steps), dataset_id, box, actions, description
    )


@dataclass(frozen=True, slots=True)
class ClonedPolicy:
    """A policy that picks the recorded agent's most likely action."""

    weights: NDArray[np.float64]
    mean: NDArray[np.float64]
    scale: NDArray[np.float64]

    def __call__(self, env: Any, seen: _Array) -> int:
        """Return the action for an observation."""
        return int((_features(seen[None], self.mean, self.scale) @ self.weights)[0].argmax())


def clone_behaviour(dataset: Any, *, rounds: int = 300, step: float = 0.5) -> ClonedPolicy:
    """Return a policy fitted to a Minari dataset by softmax regression."""
    obs = np.concatenate([e.observations[:-1] for e in dataset.iterate_episodes()]).astype(float)
    actions = np.concatenate([e.actions for e in dataset.iterate_episodes()]).astype(int)
    mean, scale = obs.mean(axis=0), obs.std(axis=0) + 1e-6
    features = _features(obs, mean, scale)
    weights = np.zeros((features.shape[1], int(dataset.action_space.n)))
    targets = np.eye(weights.shape[1])[actions]
    for _ in range(rounds):
        scores = features @ weights
        probabilities = np.exp(scores - scores.max(axis=1, keepdims=True))
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        weights += step * features.T @ (targets - probabilities) / len(features)
    return ClonedPolicy(weights, mean, scale)


def _spaces(observations: _Space | None, actions: _Space) -> tuple[_Space, _Space]:
    """Return both spaces as Gymnasium's own classes, the only ones that Minari writes."""
    if not isinstance(observations, gymnasium.spaces.Box):
        raise InvalidParameterError(f"observations must be arrays (got {observations})")
    if not isinstance(actions, gymnasium.spaces.Discrete):
        raise InvalidParameterError(f"actions must have numbers (got {actions})")
    box = cast("gymnasium.spaces.Box[Any]", observations)
    return (
        gymnasium.spaces.Box(box.low, box.high, box.shape, box.dtype.type),
        gymnasium.spaces.Discrete(int(actions.n)),
    )


def _select_observation(episode: EpisodeRecord, index: int) -> EpisodeRecord:
    """Return `episode`, up to its failure if any, with one observation of each state."""
    steps = [step for step in episode.steps if step.error_type is None]
    for step in steps:
        step.observation = step.observation[index]
    if len(steps) < len(episode.steps) and steps:
        steps[-1].truncated = True
    episode.observation = None if not steps else episode.observation[index]
    episode.steps = steps
    return episode


def _make_dataset(
    episodes: Iterable[EpisodeRecord],
    dataset_id: str,
    box: _Space,
    actions: _Space,
    description: Mapping[str, Any],
) -> Any:
    minari = library("minari", "minari")
    buffers: list[Any] = []
    for number, episode in enumerate(episodes):
        steps = episode.steps
        buffers.append(
            minari.data_collector.EpisodeBuffer(
                id=number,
                seed=episode.seed,
                observations=[episode.observation, *(step.observation for step in steps)],
                actions=[step.actions[0] for step in steps],
                rewards=[_first_reward(step.reward) for step in steps],
                terminations=[step.terminated for step in steps],
                # Minari requires every episode to end.
                truncations=[
                    step.truncated or (step is steps[-1] and not step.terminated) for step in steps
                ],
            )
        )
    return minari.create_dataset_from_buffers(
        dataset_id, buffers, action_space=actions, observation_space=box, **description
    )


def _first_reward(reward: float | list[float] | None) -> float:
    return float(reward[0] if isinstance(reward, list) else reward or 0.0)


def _features(observations: Any, mean: Any, scale: Any) -> NDArray[np.float64]:
    scaled = (np.asarray(observations, dtype=float) - mean) / scale
    return np.concatenate([np.clip(scaled, -5, 5), np.ones((len(scaled), 1))], axis=1)
