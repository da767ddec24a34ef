# SPDX-License-Identifier: MIT
"""The interface of OpenAI Gym before 0.26, for agents that were written for it.

`gym` itself is not imported. What is not said here is as in the environment inside.
"""

from typing import Any

from compiler_gym.wrappers._foreign import attribute_of, fork_of

__all__ = ["LegacyGym"]


class LegacyGym:
    """An environment whose `reset` gives an observation and whose `step` gives four values.

    >>> import compiler_gym
    >>> env = LegacyGym(compiler_gym.make("llvm-autophase-ic-v0"))
    >>> observation = env.reset()
    >>> observation, reward, done, info = env.step(env.action_space.sample())
    >>> env.close()
    """

    def __init__(self, env: Any) -> None:
        self.env = env
        """The environment inside."""
        self._seed: int | None = None

    def seed(self, seed: int | None = None) -> list[int | None]:
        """Seed the next reset."""
        self._seed = seed
        return [seed]

    def reset(self, *args: Any, **kwargs: Any) -> Any:
        """Start an episode and return its first observation; a program may come first."""
        if args:
            kwargs["benchmark"] = args[0]
        seed, self._seed = kwargs.pop("seed", self._seed), None
        return self.env.reset(seed=seed, **kwargs)[0]

    def step(self, action: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any, bool, dict[str, Any]]:
        """Apply an action, or each action of a list, and return four values.

        ``done`` is either end; ``info["TimeLimit.truncated"]`` tells one from the other.
        """
        several = isinstance(action, (list, tuple)) and not self.env.action_space.contains(action)
        method = "multistep" if several else "step"
        return _four(attribute_of(self.env, method)(action, *args, **kwargs))

    def multistep(self, *args: Any, **kwargs: Any) -> tuple[Any, Any, bool, dict[str, Any]]:
        """Apply several actions and return four values."""
        return _four(attribute_of(self.env, "multistep")(*args, **kwargs))

    def render(self, mode: str = "human") -> Any:
        """Render the program as `mode` says."""
        return attribute_of(self.env, "render")(mode)

    def fork(self) -> "LegacyGym":
        """Return an independent environment in the same state."""
        return LegacyGym(fork_of(self.env))

    def close(self) -> None:
        """Close the environment."""
        self.env.close()

    @property
    def unwrapped(self) -> Any:
        """The environment below every wrapper."""
        return self.env.unwrapped

    def __enter__(self) -> "LegacyGym":
        return self

    def __exit__(self, *args: Any) -> None:
        self.close()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "env":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return attribute_of(self.env, name)

    def __repr__(self) -> str:
        return f"<LegacyGym{self.env}>"


def _four(result: tuple[Any, Any, bool, bool, dict[str, Any]]) -> tuple[Any, Any, bool, Any]:
    seen, reward, terminated, truncated, info = result
    if truncated:
        info = {**info, "TimeLimit.truncated": "error" not in info and not terminated}
    return seen, reward, terminated or truncated, info
