# SPDX-License-Identifier: MIT
"""The record of an episode that is enough to replay it.

A state names the program, the command line and the versions of the library and of the compiler.
It contains neither the program nor the compiler.
"""

import math
from dataclasses import dataclass
from numbers import Real

from compiler_gym.errors import InvalidParameterError
from compiler_gym.errors.records import Record

__all__ = ["CompilerEnvState", "StateVersionWarning", "require_state"]


_SAME_REWARD = 1e-5


class StateVersionWarning(UserWarning):
    """A state is replayed with another version of the compiler than it was recorded with."""


@dataclass(frozen=True, slots=True)
class CompilerEnvState(Record):
    """One episode so far.

    Two are equal if they are the same point of the search: program, command line and
    reward, to 1e-5 as in CompilerGym 0.2.5. The reward counts if both have one. The time
    does not count. Raises `ValueError` for invalid fields.

    >>> CompilerEnvState(benchmark="cbench-v1/qsort").benchmark
    'benchmark://cbench-v1/qsort'
    """

    benchmark: str = ""
    """The URI of the program, in canonical form."""
    commandline: str = ""
    """The actions, as the action space writes them."""
    walltime: float = 0.0
    """Seconds since the reset; never negative."""
    reward: float | None = None
    """The sum of the episode's rewards, if a reward space was set."""
    action_space: str | None = None
    """The name of the action space."""
    reward_space: str | None = None
    """The name of the reward space that `reward` is in."""
    environment: str | None = None
    """The id that makes the environment, for example ``llvm-v0``."""
    goal: str | None = None
    """The optimisation goal, if the compiler has goals."""
    version: str | None = None
    """The version of this library."""
    compiler_version: str | None = None
    """The version of the compiler."""
    state_hash: str | None = None
    """A hash of the program at this state, if the compiler provides one."""
    varying_actions: tuple[str, ...] | None = None
    """The names of the actions whose results vary from run to run, each once; None if there are
    none. With one of them, a replay may lead to another program."""

    def __post_init__(self) -> None:
        from compiler_gym.datasets import BenchmarkUri

        if not self.benchmark:
            raise ValueError("a state needs a benchmark: its URI is empty")
        _require("benchmark", self.benchmark, (str, BenchmarkUri), "the URI of a program")
        _require("commandline", self.commandline, str, "text")
        _require("walltime", self.walltime, Real, "a finite number >= 0")
        _require("reward", self.reward, (Real, type(None)), "a number or None")
        object.__setattr__(self, "benchmark", BenchmarkUri.canonicalize(self.benchmark))
        if self.varying_actions is not None:  # JSON has lists
            object.__setattr__(self, "varying_actions", tuple(self.varying_actions))
        if not 0 <= self.walltime < math.inf:
            raise ValueError(f"walltime must be a finite number >= 0 (got {self.walltime})")

    @property
    def has_reward(self) -> bool:
        """True if a reward was recorded."""
        return self.reward is not None

    @property
    def is_repeatable(self) -> bool:
        """True if a replay leads to the same program: the results of no action vary."""
        return not self.varying_actions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CompilerEnvState):
            return NotImplemented
        if (self.benchmark, self.commandline) != (other.benchmark, other.commandline):
            return False
        if self.reward is None or other.reward is None:
            return True
        return self.reward == other.reward or abs(self.reward - other.reward) < _SAME_REWARD

    def __hash__(self) -> int:
        return hash((self.benchmark, self.commandline))


def require_state(value: object) -> None:
    """Raise `InvalidParameterError` unless `value` is a `CompilerEnvState`."""
    if not isinstance(value, CompilerEnvState):
        raise InvalidParameterError(
            f"{value!r:.80} is not a state: pass a CompilerEnvState, such as env.state or "
            "the result of CompilerEnvState.parse_raw(text) or CompilerEnvStateReader"
        )


def _require(name: str, value: object, kinds: type | tuple[type, ...], expected: str) -> None:
    if not isinstance(value, kinds):
        raise ValueError(f"{name} must be {expected} (got {value!r:.80})")
