# SPDX-License-Identifier: MIT
"""Episodes as a Minari dataset, and a policy cloned from one.

Needs the extra ``minari``. The policy is a linear one, fitted with numpy: enough to show
that a dataset can be learned from, and no substitute for a network.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import gymnasium
import numpy as np
from numpy.typing import NDArray

from compiler_gym.errors import InvalidParameterError
from compiler_gym.integrations._library import library

__all__ = ["ClonedPolicy", "clone_behaviour", "record_episodes"]

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
    minari = library("minari", "minari")
    space, actions = env.observation_space, env.action_space
    if not isinstance(space, gymnasium.spaces.Box):
        raise InvalidParameterError(f"expected an array to observe, found {space}")
    box = cast("gymnasium.spaces.Box[Any]", space)
    assert isinstance(actions, gymnasium.spaces.Discrete)
    collector = minari.DataCollector(
        _Plain(env),
        observation_space=gymnasium.spaces.Box(box.low, box.high, box.shape, box.dtype.type),
        action_space=gymnasium.spaces.Discrete(int(actions.n)),
    )
    for number in range(episodes):
        seen, _ = collector.reset(seed=seed + number)
        ended = False
        while not ended:
            seen, _, terminated, truncated, _ = collector.step(choose(env, seen))
            ended = terminated or truncated
    return collector.create_dataset(dataset_id=dataset_id, **description)


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


class _Plain(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Without a spec: Minari would write it down, and programs in it are no JSON."""

    @property
    def spec(self) -> None:  # type: ignore[override]  # none to be written
        """None."""
        return None


def _features(seen: Any, mean: Any, scale: Any) -> NDArray[np.float64]:
    scaled = (np.asarray(seen, dtype=float) - mean) / scale
    return np.concatenate([np.clip(scaled, -5, 5), np.ones((len(scaled), 1))], axis=1)
