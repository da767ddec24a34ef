# SPDX-License-Identifier: MIT
"""An environment that measures a policy's resources and stops it at its limit."""

import time
from typing import Any, Self

from compiler_gym.core import (
    CompilerEnv,
    CompilerEnvState,
    ResetArguments,
    ResetResult,
    StepArguments,
    StepTuple,
)
from compiler_gym.datasets import BenchmarkUri
from compiler_gym.errors import InvalidParameterError
from compiler_gym.tools.learn.leaderboard.task import Limit
from compiler_gym.wrappers import CompilerEnvWrapper

__all__ = ["LimitReached", "Meter", "Metered", "MeteredTraining"]


class LimitReached(Exception):
    """The policy reached its limit; raised by the step that would exceed it.

    The environment stays in the state before that step, which is the result. A policy that wants
    to end in another state must watch its own time.
    """


class Meter:
    """The resources used so far by an environment and all its forks."""

    def __init__(self, limit: Limit) -> None:
        self.limit = limit
        self.compilations = 0
        """The number of actions applied."""
        self.started = time.monotonic()

    @property
    def seconds(self) -> float:
        """The wall time since the start, in seconds."""
        return time.monotonic() - self.started

    @property
    def seconds_left(self) -> float:
        """The wall time left, in seconds; infinite without a limit."""
        seconds = self.limit.seconds
        return float("inf") if seconds is None else seconds - self.seconds

    def charge(self, compilations: int) -> None:
        """Count actions that are about to be applied, or raise `LimitReached`."""
        most = self.limit.compilations
        if most is not None and self.compilations + compilations > most:
            raise LimitReached(f"the policy reached its limit of {most} compilations")
        if self.seconds_left <= 0:
            raise LimitReached(f"the policy reached its limit of {self.limit.seconds:g} s")
        self.compilations += compilations

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self  # forks share the meter


class Metered(CompilerEnvWrapper):
    """An environment that charges every action to ``env.meter``, which forks share."""

    def __init__(self, env: CompilerEnv, meter: Meter) -> None:
        super().__init__(env)
        self.meter = meter
        """The resources used so far."""

    def handle_step(self, asked: StepArguments) -> StepTuple:
        """Charge the actions and apply them."""
        self.meter.charge(len(asked.actions))
        return super().handle_step(asked)


class MeteredTraining(Metered):
    """An environment for training, which accepts only programs of the training set."""

    def __init__(self, env: CompilerEnv, meter: Meter, programs: tuple[str, ...]) -> None:
        super().__init__(env, meter)
        self.programs = programs
        """Datasets or addresses of programs."""

    def handle_reset(self, asked: ResetArguments) -> ResetResult:
        """Start an episode, or raise `LimitReached` once the time is used up.

        Raises `InvalidParameterError` for a program outside the training set.
        """
        self.meter.charge(0)
        result = super().handle_reset(asked)
        self._check()
        return result

    def apply(self, state: CompilerEnvState) -> None:
        """Bring the environment to `state`, of a program in the training set."""
        super().apply(state)
        self._check()

    def _check(self) -> None:
        program = BenchmarkUri.from_string(str(self.benchmark))
        allowed = {BenchmarkUri.canonicalize(name) for name in self.programs}
        if allowed.isdisjoint((program.dataset_name, str(program.without_params()))):
            raise InvalidParameterError(
                f"{program} is not in the training set: pass a program of "
                f"{', '.join(self.programs)} to reset(benchmark=...)"
            )
