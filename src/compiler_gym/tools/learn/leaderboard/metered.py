# SPDX-License-Identifier: MIT
"""An environment that counts what a policy uses and stops it at its limit."""

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
    """The policy used what it may: raised by the step that would go beyond it.

    The environment stands where it stood before that step, and that is the result. A
    policy that wants to end elsewhere has to watch its own time.
    """


class Meter:
    """What was used so far, by an environment and all of its forks."""

    def __init__(self, limit: Limit) -> None:
        self.limit = limit
        self.compilations = 0
        """Actions applied."""
        self.started = time.monotonic()

    @property
    def seconds(self) -> float:
        """Wall time since the start."""
        return time.monotonic() - self.started

    @property
    def seconds_left(self) -> float:
        """Wall time left; infinite without a bound."""
        seconds = self.limit.seconds
        return float("inf") if seconds is None else seconds - self.seconds

    def charge(self, compilations: int) -> None:
        """Count actions that are about to be applied, or raise `LimitReached`."""
        most = self.limit.compilations
        if most is not None and self.compilations + compilations > most:
            raise LimitReached(f"a policy may make {most} compilations")
        if self.seconds_left <= 0:
            raise LimitReached(f"a policy may use {self.limit.seconds:g} s")
        self.compilations += compilations

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self  # forks are charged to the same


class Metered(CompilerEnvWrapper):
    """Charges every action to ``env.meter``, which forks share."""

    def __init__(self, env: CompilerEnv, meter: Meter) -> None:
        super().__init__(env)
        self.meter = meter
        """What was used so far."""

    def handle_step(self, asked: StepArguments) -> StepTuple:
        """Charge the actions and apply them."""
        self.meter.charge(len(asked.actions))
        return super().handle_step(asked)


class MeteredTraining(Metered):
    """An environment to learn in: it takes no program but those of the training set."""

    def __init__(self, env: CompilerEnv, meter: Meter, programs: tuple[str, ...]) -> None:
        super().__init__(env, meter)
        self.programs = programs
        """Datasets or addresses of programs."""

    def handle_reset(self, asked: ResetArguments) -> ResetResult:
        """Start an episode, or raise `LimitReached` once the time is spent.

        `InvalidParameterError` for a program that may not be learnt from.
        """
        self.meter.charge(0)
        result = super().handle_reset(asked)
        self._check()
        return result

    def apply(self, state: CompilerEnvState) -> None:
        """Bring the environment to `state`, of a program that may be learnt from."""
        super().apply(state)
        self._check()

    def _check(self) -> None:
        program = BenchmarkUri.from_string(str(self.benchmark))
        allowed = {BenchmarkUri.canonicalize(name) for name in self.programs}
        if allowed.isdisjoint((program.dataset_name, str(program.without_params()))):
            raise InvalidParameterError(
                f"{program} may not be learnt from: expected a program of "
                f"{', '.join(self.programs)}, named in reset(benchmark=...)"
            )
