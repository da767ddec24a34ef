# SPDX-License-Identifier: MIT
"""The interface of OpenAI Gym before 0.26, for agents written for it.

`gym` itself is not imported. All other names are those of the wrapped environment.
"""

from collections.abc import Iterable
from typing import Any, cast

import gymnasium

from compiler_gym.core import (
    CompilerEnv,
    OptionalArgumentValue,
    StepArguments,
    StepTuple,
    fork_wrapped,
)
from compiler_gym.wrappers.layers import (
    Environment,
    Layer,
    find_attribute,
    is_gymnasiums,
    nearest,
    reset_arguments,
    reset_below,
    step_below,
)

_UNCHANGED = OptionalArgumentValue.UNCHANGED


class LegacyGym:
    """An environment whose `reset` returns an observation and whose `step` returns four values.

    An attribute of the wrapped environment or of one of its wrappers is set there:
    ``env.observation_space = "Autophase"``.

    >>> import compiler_gym
    >>> env = LegacyGym(compiler_gym.make("llvm-autophase-ic-v0"))
    >>> observation = env.reset()
    >>> observation, reward, done, info = env.step(env.action_space.sample())
    >>> env.close()
    """

    def __init__(self, env: Environment) -> None:
        self.env = env
        """The wrapped environment."""
        self._seed: int | None = None

    def seed(self, seed: int | None = None) -> list[int | None]:
        """Seed the next reset."""
        self._seed = seed
        return [seed]

    def reset(
        self,
        benchmark: Any = None,
        action_space: Any = None,
        observation_space: Any = _UNCHANGED,
        reward_space: Any = _UNCHANGED,
        timeout: float | None = None,
        **arguments: Any,
    ) -> Any:
        """Start an episode and return its first observation.

        Further arguments are passed to the wrapped environment.
        """
        arguments |= {
            "benchmark": benchmark,
            "action_space": action_space,
            "observation_space": observation_space,
            "reward_space": reward_space,
            "timeout": timeout,
        }
        seed, self._seed = arguments.pop("seed", self._seed), None
        options = arguments.pop("options", None)
        return reset_below(self.env, reset_arguments(seed, options, arguments))[0]

    def step(
        self,
        action: Any,
        observation_spaces: Any = None,
        reward_spaces: Any = None,
        observations: Any = None,
        rewards: Any = None,
        timeout: float | None = None,
    ) -> tuple[Any, Any, bool, dict[str, Any]]:
        """Apply an action, or each action of a list.

        Args:
            action: An action, or a list of actions.
            observation_spaces: Observation spaces to use instead of the environment's.
            reward_spaces: Reward spaces to use instead of the environment's.
            observations: The old name of `observation_spaces`.
            rewards: The old name of `reward_spaces`.
            timeout: The time limit in seconds, after which the worker is killed.

        Returns:
            The observation, the reward, ``done`` and the info. ``done`` is True if the episode was
            terminated or truncated, and ``info["TimeLimit.truncated"]`` if it was truncated.
        """
        obs, earned = _either(observation_spaces, observations), _either(reward_spaces, rewards)
        several = _is_several(action) and not self.env.action_space.contains(action)
        if several or not isinstance(self.env, CompilerEnv):
            return self.multistep(action if several else [action], obs, earned, timeout=timeout)
        options = _drop_none(observation_spaces=obs, reward_spaces=earned, timeout=timeout)
        return _four(self.env.step(action, **options))

    def multistep(
        self,
        actions: Iterable[Any],
        observation_spaces: Any = None,
        reward_spaces: Any = None,
        observations: Any = None,
        rewards: Any = None,
        timeout: float | None = None,
    ) -> tuple[Any, Any, bool, dict[str, Any]]:
        """Apply several actions and return four values."""
        obs, earned = _either(observation_spaces, observations), _either(reward_spaces, rewards)
        return _four(step_below(self.env, StepArguments(list(actions), obs, earned, timeout)))

    def render(self, mode: str = "human") -> Any:
        """Render the program, as `CompilerEnv.render` does."""
        return nearest(self.env).render(mode)

    def fork(self) -> "LegacyGym":
        """Return an independent environment in the same state."""
        return LegacyGym(fork_wrapped(self.env))

    def close(self) -> None:
        """Close the environment."""
        self.env.close()

    @property
    def unwrapped(self) -> Environment:
        """The environment below every wrapper."""
        return self.env.unwrapped

    def __enter__(self) -> "LegacyGym":
        return self

    def __exit__(self, *args: Any) -> None:
        self.close()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "env":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return find_attribute(self.env, name)

    def __setattr__(self, name: str, value: Any) -> None:
        is_own = name.startswith("_") or name == "env" or hasattr(type(self), name)
        owner = None if is_own else _owner(self.env, name)
        if owner is None:
            object.__setattr__(self, name, value)
        else:
            setattr(owner, name, value)

    def __repr__(self) -> str:
        return f"<LegacyGym{self.env}>"


def _four(result: StepTuple) -> tuple[Any, Any, bool, dict[str, Any]]:
    obs, reward, terminated, truncated, info = result
    if truncated:
        info = {**info, "TimeLimit.truncated": "error" not in info and not terminated}
    return obs, reward, terminated or truncated, info


def _is_several(action: object) -> bool:
    return isinstance(action, (list, tuple))


def _either(spaces: Any, older: Any) -> Any:
    """Return `spaces`, or the argument with the old name if it was passed."""
    return spaces if older is None else older


def _drop_none(**arguments: Any) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if value is not None}


def _owner(env: Environment, name: str) -> Environment | None:
    """Return the first layer, from `env` down, that has the attribute `name`, or None.

    Attributes of every Gymnasium wrapper, such as `observation_space`, do not count there.
    """
    is_common = is_gymnasiums(env) and hasattr(cast(object, gymnasium.Wrapper), name)
    if name in vars(env) or (hasattr(type(env), name) and not is_common):
        return env
    if not isinstance(env, gymnasium.Wrapper):
        return None
    return _owner(cast(Layer, env).env, name)
