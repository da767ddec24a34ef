# SPDX-License-Identifier: MIT
"""An environment that can go back to any earlier step of its episode, and survives its worker.

A step is a list of actions that are applied, and taken back, together. A way back is a fork of
a kept process where steps take long, otherwise a reset and a replay: the program is the same.
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
"""Seconds of steps since the last kept process after which another one is kept."""


class Workbench:
    """The environment of one agent and the steps of its episode. Used by one thread at a time.

    It owns the environment. A step that fails is taken back at once, and a worker that was lost
    while the program was looked at is replaced by one at the same step.
    """

    def __init__(self, env: CompilerEnv) -> None:
        self.env = env
        self._steps: list[list[Any]] = []
        self._kept = KeptForks[int](_KEPT_PROCESSES)
        """Processes by the number of steps that led to them."""
        self._seconds = 0.0
        self._is_closed = False

    @property
    def step_count(self) -> int:
        """Number of steps that the episode has."""
        return len(self._steps)

    def start(self, benchmark: str | None = None) -> None:
        """Begin an episode, on `benchmark` if one is named."""
        self._require_open()
        self.env.reset(benchmark=benchmark)
        self.env.multistep([])  # rewards count from here
        self._steps.clear()
        for kept in list(self._kept):
            self._kept.drop(kept)

    def apply(self, actions: Sequence[Any]) -> StepTuple:
        """Make a step and return its result; one that failed is taken back."""
        self.require_program()
        if not self.env.in_episode:
            raise SessionNotFound("the compiler has ended this episode: undo a step, or submit")
        count = len(self._steps)
        if self._seconds > _WORTH_KEEPING:
            self._seconds = 0.0
            with contextlib.suppress(ServiceError):  # the step says that the worker is lost
                self._kept.keep(count, self.env.fork())
        began = time.monotonic()
        result = self.env.multistep(actions)
        self._seconds += time.monotonic() - began
        if "error" in result[4]:
            self._stand(count)
        else:
            self._steps.append(list(actions))
        return result

    def undo(self, steps: int) -> None:
        """Take back the last `steps` steps."""
        if not 1 <= steps <= len(self._steps):
            raise InvalidParameterError(
                f"{steps} steps cannot be undone: expected 1 to {len(self._steps)}"
                if self._steps
                else "there is no step to take back: apply actions first"
            )
        self._stand(len(self._steps) - steps)

    def look(self, name: str) -> Any:
        """Return an observation of the program as it is now."""
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
        kept = self._kept.used(count)
        if kept is None:
            kept = self._twin(count)
            self._kept.keep(count, kept)
        return kept.observation[name]

    def fork(self) -> CompilerEnv:
        """Return an environment of the caller's own at this step."""
        self.require_program()
        return self.env.fork()

    def require_program(self) -> None:
        """Replace a worker that was lost; raise `SessionNotFound` where no episode is under way."""
        self._require_open()
        if self.env.episode.has_program:
            return
        if self.env.episode.program is None:
            raise SessionNotFound("no episode is under way: call reset to begin one")
        self._recover()

    def close(self) -> None:
        """End every process, for good. Another thread may call it during a step."""
        self._is_closed = True
        self._kept.close()
        self.env.close()

    def _require_open(self) -> None:
        if self._is_closed:
            raise SessionNotFound("this session was closed: expected another one to be opened")

    def _recover(self) -> None:
        """Stand at the last step again, if the worker was lost."""
        if not self.env.episode.has_program:
            self._stand(len(self._steps))

    def _stand(self, count: int) -> None:
        """Bring the environment to where the first `count` steps led, and forget later ones."""
        self._require_open()
        found = self._kept.fork_nearest(range(count, -1, -1))
        if found is not None:
            self.env.close()
            self.env = found[1]
        self._replay(self.env, None if found is None else found[0], count)
        del self._steps[count:]
        for later in [kept for kept in self._kept if kept > count]:
            self._kept.drop(later)
        if self._is_closed:  # meanwhile, by another thread
            self.env.close()

    def _twin(self, count: int) -> CompilerEnv:
        """Return another environment at where the first `count` steps led."""
        found = self._kept.fork_nearest(range(count, -1, -1))
        base, twin = (None, self.fork()) if found is None else found
        try:
            self._replay(twin, base, count)
        except BaseException:
            twin.close()
            raise
        return twin

    def _replay(self, env: CompilerEnv, base: int | None, count: int) -> None:
        """Apply the steps after the first `base` to `env`, up to `count`; None begins anew."""
        if base is None:
            env.reset(benchmark=self.env.episode.program)
            env.multistep([])
        actions = [action for step in self._steps[base or 0 : count] for action in step]
        info = env.multistep(actions)[4] if actions else {}
        if "error" in info:
            raise info["error"]
