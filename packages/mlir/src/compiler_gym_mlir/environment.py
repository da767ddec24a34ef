# SPDX-License-Identifier: MIT
"""The environment for MLIR."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from compiler_gym.core import CompilerEnvState, DerivedObservation, Panes, RunnableEnv
from compiler_gym.datasets import Benchmark, Dataset
from compiler_gym.errors import InvalidActionError
from compiler_gym.service import SessionSource
from compiler_gym.spaces import Reward
from compiler_gym.validation import ValidationResult
from compiler_gym_mlir.actions import MENU_SPACE
from compiler_gym_mlir.datasets import make_benchmark, make_datasets
from compiler_gym_mlir.panes import PANES
from compiler_gym_mlir.rewards import make_rewards
from compiler_gym_mlir.validation import validate

__all__ = ["MlirEnv"]

_SOURCE = SessionSource("compiler_gym_mlir.session:MlirSession")
_ACTION = "// action "


class MlirEnv(RunnableEnv):
    """Transform a structured tensor program with MLIR, and run the result.

    - Actions: ``Schedule`` (default) is a list with a mask, ``CompositeMoves`` has an operation, a
      transformation and numbers, ``LegalMoves`` changes with the program, ``ScriptLines`` takes
      text, ``MatrixMultiplication`` is that of CompilerGym 0.2.5.
    - Observations: the module, the transform script, features, a graph, times, static cost.
    - Rewards: ``LogSpeedup`` over naive code, ``LogSpeedupNumpy``, ``Gflops``, ``runtime`` in
      negative microseconds, and ``StaticCostSaved``, which runs nothing.
    - End: ``stop``, an empty line, or the only step of ``MatrixMultiplication``. An episode is
      truncated if the results are wrong or MLIR crashes.
    - Programs: ``linalg-v0``, ``layers-v0``, ``generator://linalg-v0``, ``generator://matmul-v0``,
      files, and the results of `make_benchmark`.
    """

    default_benchmark: ClassVar[str | None] = "generator://matmul-v0/64_64_64"
    state_observation: ClassVar[str | None] = "ModuleText"
    uri_keys: ClassVar[tuple[str, ...] | None] = ()

    def __init__(
        self,
        *,
        datasets: Iterable[Dataset] | None = None,
        rewards: Iterable[Reward] | None = (),
        datasets_site_path: Path | None = None,
        derived_observation_spaces: Iterable[DerivedObservation | Mapping[str, Any]] = (),
        **options: Any,
    ) -> None:
        super().__init__(
            _SOURCE,
            rewards=(*make_rewards(), *(rewards or ())),
            datasets=make_datasets() if datasets is None else datasets,
            derived_observation_spaces=derived_observation_spaces,
            **options,
        )

    @property
    def panes(self) -> Panes:
        """The views that the explorer shows."""
        return PANES

    def commandline(self) -> str:
        """Return the transform script of the episode: a module for
        ``mlir-opt --transform-interpreter``, to run on the observation `PayloadText`."""
        return self.observation["TransformScript"]

    def commandline_to_actions(self, commandline: str) -> list[Any]:
        """Return the actions in the comments of a script."""
        lines = [line.strip() for line in commandline.splitlines()]
        try:
            steps = [json.loads(line[len(_ACTION) :]) for line in lines if line.startswith(_ACTION)]
        except ValueError as error:
            raise InvalidActionError(f"cannot read an action in the script: {error}") from error
        if not steps and "transform.structured" in commandline:
            raise InvalidActionError("the script has no action comments: pass one from an episode")
        return steps

    def action_masks(self) -> NDArray[np.bool_]:
        """Return a mask of the actions of `Schedule` that apply now.

        Learners that support masks, such as MaskablePPO, call this method.
        """
        if self.episode.selection.action_space_name != MENU_SPACE:
            return np.ones(self.action_space.n, dtype=bool)  # type: ignore[attr-defined]  # discrete
        return self.observation["ScheduleMask"].astype(bool)

    def make_benchmark(self, source: str | Path, element: str = "f32") -> Benchmark:
        """Return a payload; see `compiler_gym_mlir.make_benchmark`."""
        return make_benchmark(source, element)

    def refusal(self) -> str:
        """Return the reason, from MLIR or this library, why the last action failed; or ``""``."""
        return self.send_param("mlir.refusal", "")

    def validate(
        self, state: CompilerEnvState | None = None, *, rungs: Iterable[str] | None = None
    ) -> ValidationResult:
        """Replay `state` (default: the current one) in a new worker, run it and compare."""
        return validate(self.state if state is None else state, self._twin, rungs)

    def _state_hash(self) -> str | None:
        return self.observation["ModuleHash"]

    def _render_text(self) -> str:
        steps = len(self.actions)
        head = f"# {self.episode.require().benchmark} after {steps} action{'s' * (steps != 1)}"
        return f"{head}\n{self.commandline()}\n{self.observation['ModuleText']}"
