# SPDX-License-Identifier: MIT
"""Episodes as a Minari dataset, and a policy cloned from one.

Needs the extra ``minari``. The policy is a linear one, fitted with numpy: enough to show
that a dataset can be learned from, and no substitute for a network.
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
from compiler_gym.wrappers import EpisodeRecord, EpisodeStream, StepRecord

__all__ = ["ClonedPolicy", "clone_behaviour", "export_collection", "record_episodes"]

Chooser = Callable[[Any, NDArray[Any]], int]
"""Takes the environment and what it shows, and returns an action."""


def record_episodes(
    env: gymnasium.Env[Any, Any],
    choose: Chooser,
    dataset_id: str,
    *,
    episodes: int,
    seed: int = 0,
    **description: Any,
) -> Any:
    """Return the Minari dataset of `episodes` in which `choose` chose the actions.

    `env` must end its episodes and observe an array: `learning_env` does.
    `description` goes to Minari: `author`, `algorithm_name`, `description` and so on.
    """
    recorded = _Kept(env)
    box, actions = _spaces(env.observation_space, env.action_space)
    for number in range(episodes):
        seen, _ = recorded.reset(seed=seed + number)
        ended = False
        while not ended:
            seen, _, terminated, truncated, _ = recorded.step(choose(env, seen))
            ended = terminated or truncated
    return _make_dataset(recorded.episodes, dataset_id, box, actions, description)


def export_collection(
    collection: Collection, dataset_id: str, observation: str, **description: Any
) -> Any:
    """Return the Minari dataset of the episodes in `collection`.

    `observation` is what they observe: a column with an array of numbers. The rewards are the
    first of those that are kept. A step that failed is left out, and its episode was truncated
    before. `description` goes to Minari.

    Raises `InvalidParameterError` for a column of another kind, or actions without numbers.
    """
    layout, options = collection.layout, collection.options
    fields = {one.column: place for place, one in enumerate(layout.fields)}
    if observation not in fields:
        raise UnknownNameError(unknown_name("column", observation, fields))
    with make(options.env, action_space=options.action_space) as env:
        space = env.observation.spec(layout.fields[fields[observation]].name).space
        box, actions = _spaces(space, env.action_space)
    place = fields[observation]
    episodes = (_observing(episode, place) for _, episode in collection.episodes())
    return _make_dataset(
        (one for one in episodes if one.steps), dataset_id, box, actions, description
    )


@dataclass(frozen=True, slots=True)
class ClonedPolicy:
    """Chooses the action that the recorded agent most likely would."""

    weights: NDArray[np.float64]
    mean: NDArray[np.float64]
    scale: NDArray[np.float64]

    def __call__(self, env: Any, seen: NDArray[Any]) -> int:
        """Return the action for an observation."""
        return int((_features(seen[None], self.mean, self.scale) @ self.weights)[0].argmax())


def clone_behaviour(dataset: Any, *, rounds: int = 300, step: float = 0.5) -> ClonedPolicy:
    """Return a policy fitted to a Minari dataset by softmax regression."""
    seen = np.concatenate([e.observations[:-1] for e in dataset.iterate_episodes()]).astype(float)
    chosen = np.concatenate([e.actions for e in dataset.iterate_episodes()]).astype(int)
    mean, scale = seen.mean(axis=0), seen.std(axis=0) + 1e-6
    features = _features(seen, mean, scale)
    weights = np.zeros((features.shape[1], int(dataset.action_space.n)))
    wanted = np.eye(weights.shape[1])[chosen]
    for _ in range(rounds):
        scores = features @ weights
        likely = np.exp(scores - scores.max(axis=1, keepdims=True))
        likely /= likely.sum(axis=1, keepdims=True)
        weights += step * features.T @ (wanted - likely) / len(features)
    return ClonedPolicy(weights, mean, scale)


class _Kept(EpisodeStream):
    """Keeps the episodes, with observations as the environment returns them."""

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        super().__init__(env)
        self.episodes: list[EpisodeRecord] = []

    def keep_observation(self, observation: Any) -> Any:
        """Return the observation."""
        return observation

    def episode_started(self, episode: EpisodeRecord) -> None:
        """Begin the record of an episode."""
        self.episodes.append(episode)

    def step_taken(self, step: StepRecord) -> None:
        """Add a step."""
        self.episodes[-1].steps.append(step)


def _spaces(
    seen: gymnasium.Space[Any] | None, actions: gymnasium.Space[Any]
) -> tuple[gymnasium.Space[Any], gymnasium.Space[Any]]:
    """Return both as Gymnasium's own: Minari writes no others."""
    if not isinstance(seen, gymnasium.spaces.Box):
        raise InvalidParameterError(f"expected an array to observe, found {seen}")
    if not isinstance(actions, gymnasium.spaces.Discrete):
        raise InvalidParameterError(f"expected actions with numbers, found {actions}")
    box = cast("gymnasium.spaces.Box[Any]", seen)
    return (
        gymnasium.spaces.Box(box.low, box.high, box.shape, box.dtype.type),
        gymnasium.spaces.Discrete(int(actions.n)),
    )


def _observing(episode: EpisodeRecord, place: int) -> EpisodeRecord:
    """Return an episode with one of what is observed of each state, up to a failure."""
    whole = [step for step in episode.steps if step.error_type is None]
    for step in whole:
        step.observation = step.observation[place]
    if len(whole) < len(episode.steps) and whole:
        whole[-1].truncated = True
    episode.observation = None if not whole else episode.observation[place]
    episode.steps = whole
    return episode


def _make_dataset(
    episodes: Iterable[EpisodeRecord],
    dataset_id: str,
    box: gymnasium.Space[Any],
    actions: gymnasium.Space[Any],
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
                # Minari wants every episode to end.
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


def _features(seen: Any, mean: Any, scale: Any) -> NDArray[np.float64]:
    scaled = (np.asarray(seen, dtype=float) - mean) / scale
    return np.concatenate([np.clip(scaled, -5, 5), np.ones((len(scaled), 1))], axis=1)
