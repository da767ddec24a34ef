# SPDX-License-Identifier: MIT
"""An environment that can return to any earlier step of its episode and survives worker crashes.

A step is a list of actions that are applied and undone together. To go back, it forks a kept
process if steps are slow, and otherwise resets and replays; the program is the same.
"""

import contextlib
import time
from collections.abc import Sequence
from typing import Any

from compiler_gym.core import CompilerEnv, KeptForks, StepTuple
from compiler_gym.errors import InvalidParameterError, ServiceError, SessionNotFound

__all__ = ["Workbench"]

_KEPT_PROCESSES = 4
_WORTH_KEEPING = 0.1
"""The time spent in steps, in seconds, after which to keep another process."""


class Workbench:
    """The environment of one agent and the steps of its episode. Not thread-safe.

    It owns the environment. A failed step is undone at once, and a worker that is lost during an
    observation is replaced with one at the same step.
    """

    def __init__(self, env: CompilerEnv) -> None:
        self.env = env
        self._steps: list[list[Any]] = []
        self._kept = KeptForks[int](_KEPT_PROCESSES)
        """Processes by the number of steps applied in them."""
        self._seconds = 0.0
        self._is_closed = False

    @property
    def step_count(self) -> int:
        """The number of steps in the episode."""
        return len(self._steps)

    def start(self, benchmark: str | None = None) -> None:
        """Start an episode, on `benchmark` if it is not None."""
        self._require_open()
        self.env.reset(benchmark=benchmark)
        self.env.multistep([])  # rewards count from here
        self._steps.clear()
        for count in list(self._kept):
            self._kept.drop(count)

    def apply(self, actions: Sequence[Any]) -> StepTuple:
        """Apply a step and return its result; a failed step is undone."""
        self.require_program()
        if not self.env.in_episode:
            raise SessionNotFound("the compiler has finished this episode; undo a step or submit")
        count = len(self._steps)
        if self._seconds > _WORTH_KEEPING:
            self._seconds = 0.0
            with contextlib.suppress(ServiceError):  # the step reports that the worker is lost
                self._kept.keep(count, self.env.fork())
        began = time.monotonic()
        result = self.env.multistep(actions)
        self._seconds += time.monotonic() - began
        if "error" in result[4]:
            self._return_to(count)
        else:
            self._steps.append(list(actions))
        return result

    def undo(self, steps: int) -> None:
        """Undo the last `steps` steps."""
        if not 1 <= steps <= len(self._steps):
            raise InvalidParameterError(
                f"cannot undo {steps} steps; choose 1 to {len(self._steps)}"
                if self._steps
                else "there is no step to undo; apply actions first"
            )
        self._return_to(len(self._steps) - steps)

    def look(self, name: str) -> Any:
        """Return an observation of the current program."""
        self.require_program()
        try:
            return self.env.observation[name]
        except ServiceError:
            self._recover()
            raise

    def look_back(self, count: int, name: str) -> Any:
        """Return an observation of the program after the first `count` steps."""
        if count == len(self._steps):
            return self.look(name)
        twin = self._kept.used(count)
        if twin is None:
            twin = self._twin(count)
            self._kept.keep(count, twin)
        return twin.observation[name]

    def fork(self) -> CompilerEnv:
        """Return a fork of the environment at this step, which the caller must close."""
        self.require_program()
        return self.env.fork()

    def require_program(self) -> None:
        """Replace a lost worker; raise `SessionNotFound` if no episode has started."""
        self._require_open()
        if self.env.episode.has_program:
            return
        if self.env.episode.program is None:
            raise SessionNotFound("no episode has started; call reset first")
        self._recover()

    def close(self) -> None:
        """End every process for good. Another thread may call this during a step."""
        self._is_closed = True
        self._kept.close()
        self.env.close()

    def _require_open(self) -> None:
        if self._is_closed:
            raise SessionNotFound("this session is closed; open another")

    def _recover(self) -> None:
        """Return to the last step if the worker was lost."""
        if not self.env.episode.has_program:
            self._return_to(len(self._steps))

    def _return_to(self, count: int) -> None:
        """Bring the environment to the state after the first `count` steps; drop later steps."""
        self._require_open()
        fork = self._kept.fork_nearest(range(count, -1, -1))
        if fork is not None:
            self.env.close()
            self.env = fork[1]
        self._replay(self.env, None if fork is None else fork[0], count)
        del self._steps[count:]
        for stale in [step for step in self._kept if step > count]:
            self._kept.drop(stale)
        if self._is_closed:  # meanwhile, by another thread
            self.env.close()

    def _twin(self, count: int) -> CompilerEnv:
        """Return another environment in the state after the first `count` steps."""
        fork = self._kept.fork_nearest(range(count, -1, -1))
        base, twin = (None, self.fork()) if fork is None else fork
        try:
            self._replay(twin, base, count)
        except BaseException:
            twin.close()
            raise
        return twin

    def _replay(self, env: CompilerEnv, base: int | None, count: int) -> None:
        """Apply the steps from `base` up to `count` to `env`; None starts with a reset."""
        if base is None:
            env.reset(benchmark=self.env.episode.program)
            env.multistep([])
        actions = [action for step in self._steps[base or 0 : count] for action in step]
        info = env.multistep(actions)[4] if actions else {}
        if "error" in info:
            raise info["error"]
