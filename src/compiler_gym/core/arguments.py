# SPDX-License-Identifier: MIT
"""The arguments of a reset and of a step, as records that wrappers read and change."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, cast

from compiler_gym.datasets import Benchmark
from compiler_gym.errors import InvalidParameterError
from compiler_gym.errors.nearest import nearest, unknown_name


class OptionalArgumentValue(Enum):
    """The default of an argument for which None means no space."""

    UNCHANGED = 1


_UNCHANGED = OptionalArgumentValue.UNCHANGED


@dataclass(frozen=True, slots=True)
class ResetArguments:
    """The arguments of `CompilerEnv.reset`."""

    seed: int | None = None
    """Seeds the environment, its action space and the choice of random programs."""
    options: dict[str, Any] | None = None
    """The other arguments by name, as Gymnasium passes them on; they take precedence."""
    benchmark: str | Benchmark | None = None
    """The program or its address; None is the one set for the next reset, or the last one."""
    action_space: Any = None
    """The action space or its name; None keeps the current one."""
    observation_space: Any = _UNCHANGED
    """The new value of `CompilerEnv.observation_space`."""
    reward_space: Any = _UNCHANGED
    """The new value of `CompilerEnv.reward_space`."""
    timeout: float | None = None
    """Seconds until the worker is given up; None is the environment's limit."""
    further: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Arguments of one environment or wrapper below, by name."""

    def list_given(self) -> dict[str, Any]:
        """Return the arguments that were given, without `seed`, `options` and `further`."""
        arguments = {
            "benchmark": self.benchmark,
            "action_space": self.action_space,
            "timeout": self.timeout,
        }
        spaces = {"observation_space": self.observation_space, "reward_space": self.reward_space}
        return {name: value for name, value in arguments.items() if value is not None} | {
            name: value for name, value in spaces.items() if value is not _UNCHANGED
        }

    def settle(self) -> "ResetArguments":
        """Return the same arguments with the options in their fields.

        >>> ResetArguments(options={"benchmark": "cbench-v1/sha"}).settle().benchmark
        'cbench-v1/sha'
        """
        if not self.options:
            return self
        values = {name: value for name, value in self.options.items() if name in _OPTIONS}
        return ResetArguments(
            self.seed, None, **{**self.list_given(), **values}, further=self.further
        )

    def unknown_options(self) -> list[str]:
        """Return the options that must be meant for a wrapper.

        Raises `InvalidParameterError` for a misspelt argument of a reset.
        """
        unknown = [name for name in self.options or {} if name not in _OPTIONS]
        for name in unknown:
            if nearest(name, _OPTIONS):
                raise InvalidParameterError(unknown_name("option", name, _OPTIONS, where="reset()"))
        return unknown


_OPTIONS = ("benchmark", "action_space", "observation_space", "reward_space", "timeout")


@dataclass(frozen=True, slots=True)
class StepArguments:
    """The arguments of `CompilerEnv.multistep`."""

    actions: list[Any]
    """The actions, in order; without any, the program is only observed."""
    observation_spaces: Any = None
    """Observations instead of the environment's space: a name or a list of names."""
    reward_spaces: Any = None
    """Rewards instead of the environment's reward: a name or a list of names."""
    timeout: float | None = None
    """Seconds until the worker is given up; None is the environment's limit."""


def require_seconds(timeout: object) -> None:
    """Raise `InvalidParameterError` unless `timeout` is None or a number of seconds from 0."""
    if timeout is None:
        return
    try:
        seconds = float(cast("float", timeout)) if not isinstance(timeout, str) else math.nan
    except (OverflowError, TypeError, ValueError):
        seconds = math.nan
    if not seconds >= 0:
        raise InvalidParameterError(
            f"timeout must be a number of seconds >= 0, or None for the limit of the environment "
            f"(got {timeout!r:.80})"
        )
