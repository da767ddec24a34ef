# SPDX-License-Identifier: MIT
"""A vector of compiler environments for Stable-Baselines3.

Its own vectors start a process for every environment; compiler environments already have one.
Needs the extra ``rl``.
"""

from collections.abc import Iterable
from typing import Any, cast

import numpy as np

from compiler_gym.cli.kit.library import library
from compiler_gym.errors import InvalidParameterError
from compiler_gym.vector import CompilerVectorEnv


def as_sb3(vector: CompilerVectorEnv) -> Any:
    """Return `vector`, made with ``autoreset_mode="SameStep"``, as a ``VecEnv``.

    As in Stable-Baselines3, rewards are float32, ``infos`` is a list, and the last observation of
    an episode is ``infos[i]["terminal_observation"]``. The vector is wrapped in ``VecMonitor``:
    episodes are logged as ``rollout/ep_rew_mean`` and appear in ``infos[i]["episode"]``.
    ``env_method("action_masks")`` works, and with it ``MaskablePPO`` of sb3-contrib.
    """
    kinds = library("stable_baselines3.common.vec_env", "rl")
    base = kinds.VecEnv
    if vector.autoreset_mode.value != "SameStep":
        raise InvalidParameterError(
            "Stable-Baselines3 needs a vector with autoreset_mode='SameStep' "
            f"(got {vector.autoreset_mode.value!r})"
        )

    class CompilerVecEnv(base):
        """A ``VecEnv`` that forwards every call to the vector."""

        def __init__(self) -> None:
            self.vector = vector
            self._actions: Any = None
            super().__init__(  # pyright: ignore[reportUnknownMemberType]  # the library's
                vector.num_envs, vector.single_observation_space, _plain_actions(vector)
            )

        def reset(self) -> Any:
            seeds = None if all(seed is None for seed in self._seeds) else list(self._seeds)
            options = next((o for o in self._options if o), None)
            observations, infos = vector.reset(seed=seeds, options=options)
            self.reset_infos = [_infos_of_row(infos, row) for row in range(vector.num_envs)]
            self._reset_seeds()
            self._reset_options()
            return observations

        def step_async(self, actions: Any) -> None:
            self._actions = actions

        def step_wait(self) -> Any:
            observations, rewards, terminations, truncations, infos = vector.step(self._actions)
            rows = [_infos_of_row(infos, row) for row in range(vector.num_envs)]
            for row, info in enumerate(rows):
                if terminations[row] or truncations[row]:
                    last = info.pop("final_obs")
                    final = info.pop("final_info", {})
                    info.update(final)
                    info["terminal_observation"] = last
                info["TimeLimit.truncated"] = bool(truncations[row] and not terminations[row])
            return observations, rewards.astype(np.float32), terminations | truncations, rows

        def close(self) -> None:
            vector.close()

        def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
            return [env.get_wrapper_attr(attr_name) for env in self._choose_rows(indices)]

        def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
            for env in self._choose_rows(indices):
                env.set_wrapper_attr(attr_name, value)

        def env_method(
            self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any
        ) -> list[Any]:
            envs = self._choose_rows(indices)
            return [env.get_wrapper_attr(method_name)(*args, **kwargs) for env in envs]

        def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
            return [_is_wrapped(env, wrapper_class) for env in self._choose_rows(indices)]

        def _choose_rows(self, indices: Any) -> Iterable[Any]:
            return [vector.envs[row] for row in self._get_indices(indices)]

    return kinds.VecMonitor(CompilerVecEnv())


def _plain_actions(vector: CompilerVectorEnv) -> Any:
    """Return the actions as Gymnasium's own class, which the library requires exactly."""
    import gymnasium

    space = vector.single_action_space
    if isinstance(space, gymnasium.spaces.Discrete):
        return gymnasium.spaces.Discrete(int(space.n), start=int(space.start))
    return space


def _infos_of_row(infos: dict[str, Any], row: int) -> dict[str, Any]:
    """Return the infos of one row."""
    row_infos: dict[str, Any] = {}
    for key, value in infos.items():
        mask = infos.get(f"_{key}")
        if mask is None or not mask[row]:
            continue
        row_infos[key] = (
            _infos_of_row(cast("dict[str, Any]", value), row)
            if isinstance(value, dict)
            else value[row]
        )
    return row_infos


def _is_wrapped(env: Any, wrapper_class: Any) -> bool:
    while env is not None:
        if isinstance(env, wrapper_class):
            return True
        env = getattr(env, "__dict__", {}).get("env")
    return False
