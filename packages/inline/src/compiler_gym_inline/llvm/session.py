# SPDX-License-Identifier: MIT
"""The session of LLVM's inliner: a pipeline that stops at each call to decide.

Runs only in a worker. Between two actions the pipeline is suspended on its own stack in this
process's memory, so forking the process also forks the pipeline.
"""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from compiler_gym import _llvm
from compiler_gym.envs.llvm import LlvmSession
from compiler_gym.envs.llvm.observations import observation_specs
from compiler_gym.errors import InvalidActionError, ModuleTooLargeError
from compiler_gym.session import ActionSpaceSpec, BenchmarkSpec, ObservationSpec
from compiler_gym_inline.llvm.actions import ACTION_SPACES, LEVEL_OF, REST
from compiler_gym_inline.llvm.observations import INLINE_TABLE, OWN

__all__ = ["LlvmInlineSession"]

_OF_PASSES = ("llvm.apply_pipeline", "llvm.apply_baseline_optimizations")
_DEFAULTS = {row.name: row.default for row in OWN}


class LlvmInlineSession(LlvmSession):
    """One LLVM module, and the pipeline that waits for a decision about one of its calls."""

    action_spaces: ClassVar[tuple[ActionSpaceSpec, ...]] = ACTION_SPACES
    observation_spaces: ClassVar[tuple[ObservationSpec, ...]] = observation_specs(INLINE_TABLE)

    def __init__(
        self, working_dir: Path, action_space: ActionSpaceSpec, benchmark: BenchmarkSpec
    ) -> None:
        super().__init__(working_dir, action_space, benchmark)
        self.inlining = _llvm.Inlining(self.program.module, LEVEL_OF[self.program.goal])
        """The suspended pipeline."""
        self._digest = hashlib.sha256(benchmark.contents)
        self._digest.update(f"\0{self.program.goal}\0{self.program.target.key}".encode())
        self._own: dict[str, Callable[[], Any]] = {
            "InlineFeatures": self.inlining.features,
            "CallSite": self.inlining.call_site,
        }

    def apply_action(self, action: int) -> tuple[bool, ActionSpaceSpec | None, bool]:
        """Decide the current call with `action`; the episode ends with the pipeline."""
        try:
            answer = self._names[action]
        except (IndexError, TypeError):
            raise InvalidActionError(f"{action!r} is not in [0, {len(self._names)})") from None
        if self.inlining.is_over:  # the program has no call to decide
            return True, None, True
        try:
            if answer == REST:
                while not self.inlining.is_over:
                    self.inlining.answer("default")
            else:
                self.inlining.answer(answer)
        except ModuleTooLargeError as error:
            raise ModuleTooLargeError(
                f"inlining grew the module from {self._initial_count} instructions at reset to "
                f"{error}"
            ) from None
        return self.inlining.is_over, None, False

    def apply_further(self, action: int) -> tuple[bool, ActionSpaceSpec | None, bool]:
        """Do the same as `apply_action`, which never checks for changes."""
        return self.apply_action(action)

    def get_observation(self, name: str) -> Any:
        """Return the plain value of observation `name`."""
        if name in self._own:
            return _DEFAULTS[name] if self.inlining.is_over else self._own[name]()
        if name == "InlineDecisions":
            return "".join("ni"[decision] for decision in self.inlining.decisions)
        if name == "InlineStateHash":
            return self._state_hash()
        return super().get_observation(name)

    def handle_session_parameter(self, key: str, value: str) -> str | None:
        """Handle the parameters of `LlvmSession`, except those that run passes."""
        if key in _OF_PASSES:
            return None
        return super().handle_session_parameter(key, value)

    def close(self) -> None:
        """Finish the pipeline and free the module."""
        self._own.clear()
        del self.inlining
        super().close()

    def _limit_instructions(self, limit: int) -> None:
        self.inlining.limit_instructions(limit)

    def _state_hash(self) -> str:
        digest = self._digest.copy()
        digest.update(self.inlining.decisions)
        return digest.hexdigest()[:32]
