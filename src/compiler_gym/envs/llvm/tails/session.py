# SPDX-License-Identifier: MIT
"""The session of tails: a module after clang's level, and passes on one of its functions.

Runs only in a worker. The module is read from the bitcode that clang would write, so that ``opt``
gives the same results. Other functions are never changed, so what the function saves is what the
module saves.
"""

import hashlib
from collections.abc import Callable, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from compiler_gym import _llvm
from compiler_gym.envs.llvm.actions import FUNCTION_PASSES
from compiler_gym.envs.llvm.observations import observation_specs
from compiler_gym.envs.llvm.observations.names import FUNCTION_FEATURES
from compiler_gym.envs.llvm.session import LlvmSession
from compiler_gym.envs.llvm.state.program import Program
from compiler_gym.envs.llvm.tails.observations import OWN, TAILS_TABLE
from compiler_gym.errors import BenchmarkInitError, unknown_name
from compiler_gym.session import ActionSpaceSpec, BenchmarkSpec, ObservationSpec

__all__ = ["LEVEL_OF", "LlvmTailsSession"]

LEVEL_OF = {"size": "Oz", "speed": "O3"}
"""The level that a reset runs, by the goal of the program."""
_SIZE = FUNCTION_FEATURES.index("Instructions")
_KEPT = 64
_bases: dict[tuple[bytes, str], bytes] = {}
"""A cache of modules after clang's level: most episodes choose another function of a program."""


class _FunctionProgram(Program):
    """A module after clang's level, and one of its functions: passes change nothing else."""

    def __init__(self, benchmark: BenchmarkSpec, goal: str, directory: Path) -> None:
        super().__init__(benchmark, goal, directory)
        self.module = _llvm.Module(self._base(LEVEL_OF[goal]), benchmark.uri)
        names, rows = self._table()
        if not names:
            raise BenchmarkInitError(f"{benchmark.uri} has no function with a body")
        self.function = _choose(benchmark, names, rows[:, _SIZE])
        """The name of the function."""
        self._row = names.index(self.function)
        self.initial_count = int(rows[self._row, _SIZE])
        """Its instructions at reset."""
        self._others = self.module.instruction_count() - self.initial_count

    def run(self, pipeline: str, options: Sequence[tuple[str, str]] = ()) -> bool:
        """Run `pipeline` on the function and return whether it changed."""
        return self.module.run_on(pipeline, [self.function])

    def apply(self, pipeline: str) -> bool:
        """Do the same as `run`, which always knows."""
        return self.run(pipeline)

    def counts(self) -> bytes:
        """Return the function's row of ``FunctionFeatures``."""
        return self._table()[1][self._row].tobytes()

    def count(self) -> int:
        """Return the function's instructions."""
        return self.module.instruction_count() - self._others

    def state_hash(self) -> str:
        """Return a hash of the module and the name of the function."""
        digest = hashlib.sha256(self.module.ir_hash())
        digest.update(self.function.encode())
        return digest.hexdigest()[:32]

    def _table(self) -> tuple[list[str], NDArray[np.int64]]:
        table = _llvm.function_table(self.module)
        rows = np.frombuffer(table["features"], "<i8").reshape(-1, len(FUNCTION_FEATURES))
        return table["names"], rows

    def _base(self, level: str) -> bytes:
        key = self.benchmark.contents, f"{level} {self.scope.key} {self.target.key}"
        if key not in _bases:
            while len(_bases) >= _KEPT:
                del _bases[next(iter(_bases))]
            _bases[key] = self.at_level(level).bitcode()
        return _bases[key]


class LlvmTailsSession(LlvmSession):
    """One function in its module after clang's level, and the passes run on it."""

    action_spaces: ClassVar[tuple[ActionSpaceSpec, ...]] = (FUNCTION_PASSES,)
    observation_spaces: ClassVar[tuple[ObservationSpec, ...]] = observation_specs(TAILS_TABLE)
    program_class: ClassVar[type[Program]] = _FunctionProgram

    def get_observation(self, name: str) -> Any:
        """Return the plain value of observation `name`."""
        compute = _OWN.get(name)
        return super().get_observation(name) if compute is None else compute(self.program)

    def handle_session_parameter(self, key: str, value: str) -> str | None:
        """Handle the parameters of `LlvmSession`, except for the level, which a reset runs."""
        if key == "llvm.apply_baseline_optimizations":
            return None
        return super().handle_session_parameter(key, value)


_ENGINE: dict[str, Callable[[Any], Any]] = {
    "function_counts": _FunctionProgram.counts,
    "function_instructions": _FunctionProgram.count,
    "function_instructions_at_reset": attrgetter("initial_count"),
    "function_name": attrgetter("function"),
    "function_state_hash": _FunctionProgram.state_hash,
}
_OWN = {row.name: _ENGINE[row.compute] for row in OWN}


def _choose(benchmark: BenchmarkSpec, names: list[str], sizes: NDArray[np.int64]) -> str:
    """Return the function that the address names or draws; the largest without either."""
    parameters = benchmark.parameters
    if "function" in parameters:
        if parameters["function"] not in names:
            raise BenchmarkInitError(
                unknown_name("function", parameters["function"], names, where=benchmark.uri)
            )
        return parameters["function"]
    if "draw" not in parameters:
        return names[int(sizes.argmax())]
    draw = parameters["draw"]
    if not draw.isdecimal():
        raise BenchmarkInitError(f"draw must be a whole number in {benchmark.uri}")
    # A function of twice the size is drawn twice as often: the mean saving of episodes is then
    # the saving of the module.
    place = int(draw) % int(sizes.sum())
    return names[int(np.searchsorted(sizes.cumsum(), place, side="right"))]
