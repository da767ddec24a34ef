# SPDX-License-Identifier: MIT
"""How LLVM fulfils the contract: one module, changed in place by passes.

Runs only in a worker; it alone imports the engine. The state is the IR: the
engine forgets every analysis after each action.
"""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from compiler_gym import _llvm
from compiler_gym.envs.llvm._baselines import Baselines
from compiler_gym.envs.llvm._compute import STRUCTURE, PassHistory
from compiler_gym.envs.llvm.actions import ACTION_SPACES, NO_OP
from compiler_gym.envs.llvm.observations import LEVELS, OBSERVATION_SPACES, cpu_info
from compiler_gym.errors import (
    BenchmarkInitError,
    InvalidActionError,
    InvalidParameterError,
    ModuleTooLargeError,
    UnknownNameError,
)
from compiler_gym.session import (
    ActionSpaceSpec,
    BenchmarkSpec,
    CommandlineSpec,
    CompilerSession,
    ObservationSpaceSpec,
)

__all__ = ["GOALS", "LlvmSession"]

GOALS = ("size", "speed")
"""What a program is optimised for; ``size`` is the default."""


class LlvmSession(CompilerSession):
    """One LLVM module and the passes run on it."""

    compiler_version: ClassVar[str] = _llvm.LLVM_VERSION
    action_spaces: ClassVar[tuple[ActionSpaceSpec, ...]] = ACTION_SPACES
    observation_spaces: ClassVar[tuple[ObservationSpaceSpec, ...]] = OBSERVATION_SPACES

    def __init__(
        self, working_dir: Path, action_space: ActionSpaceSpec, benchmark: BenchmarkSpec
    ) -> None:
        self._working_dir = working_dir
        self._files = 0
        self._contents = benchmark.contents
        self._uri, self._goal = benchmark.uri, _goal(benchmark)
        self._module = self._load()
        self._history = PassHistory(self._load)
        self._initial_count = self._module.instruction_count()
        self._growth, self._growth_floor = 0.0, 0.0
        assert isinstance(action_space.space, CommandlineSpec)
        self._pipelines = tuple(item.flag for item in action_space.space.items)
        self._names = tuple(item.name for item in action_space.space.items)
        self._baselines = Baselines(_llvm.Module, self.compiler_version)

    def apply_action(self, action: Any) -> tuple[bool, ActionSpaceSpec | None, bool]:
        """Run the pipeline of `action` on the module."""
        try:
            pipeline = self._pipelines[action]
        except (IndexError, TypeError):
            raise InvalidActionError(f"{action!r} is not in [0, {len(self._pipelines)})") from None
        if pipeline == NO_OP:
            self._history.skip()
            return False, None, True
        try:
            return False, None, not self._history.run(self._module, pipeline)
        except ModuleTooLargeError as error:
            raise ModuleTooLargeError(
                f"{self._names[action]} grew the module from {self._initial_count} instructions at "
                f"reset to {error}"
            ) from None

    def get_observation(self, name: str) -> Any:
        """Return the plain value of observation `name`."""
        compute = _COMPUTE.get(name)
        if compute is None:
            raise UnknownNameError(f"no observation space {name!r}")
        return compute(self)

    def handle_session_parameter(self, key: str, value: str) -> str | None:
        """Handle ``limits.*``, ``llvm.apply_pipeline`` and ``llvm.verify``."""
        if key in ("limits.growth", "limits.growth_floor"):
            self._set_limit(key, value)
            return value
        if key == "llvm.apply_pipeline":
            _llvm.check_pipeline(value)
            return "changed" if self._history.run(self._module, value) else "unchanged"
        if key == "llvm.verify":
            self._module.verify()
            return "valid"
        return None

    def moved(self, working_dir: Path) -> None:
        """Write bitcode files into `working_dir` from now on."""
        self._working_dir = working_dir

    def _set_limit(self, key: str, value: str) -> None:
        try:
            number = float(value)
        except ValueError:
            raise InvalidParameterError(f"{key} is {value!r}: expected a number") from None
        if key == "limits.growth":
            self._growth = number
        else:
            self._growth_floor = number
        bound = max(self._growth * self._initial_count, self._growth_floor)
        self._module.limit_instructions(int(bound) if self._growth else 0)

    def _load(self) -> _llvm.Module:
        """Return the module as it was at reset."""
        module = _llvm.Module(self._contents, self._uri)
        module.set_goal(self._goal)
        return module

    def _write_bitcode(self) -> str:
        self._working_dir.mkdir(parents=True, exist_ok=True)
        self._files += 1
        path = self._working_dir / f"module-{self._files}.bc"
        path.write_bytes(self._module.bitcode())
        return str(path)

    def _baseline(self, level: str, cost: str) -> int:
        return self._baselines.cost(self._contents, level, cost)


def _goal(benchmark: BenchmarkSpec) -> str:
    goal = benchmark.parameters.get("goal", GOALS[0])
    if goal not in GOALS:
        raise BenchmarkInitError(f"goal is {goal!r} in {benchmark.uri}: expected size or speed")
    return goal


_COMPUTE: dict[str, Callable[[LlvmSession], Any]] = {
    "Ir": lambda s: s._module.text(),
    "IrSha1": lambda s: hashlib.sha1(s._module.bitcode(), usedforsecurity=False).hexdigest(),
    "IrHash": lambda s: s._module.ir_hash().hex(),
    "Bitcode": lambda s: s._module.bitcode(),
    "BitcodeFile": LlvmSession._write_bitcode,
    "InstCount": lambda s: s._module.inst_count(),
    "Autophase": lambda s: s._module.autophase(),
    "CpuInfo": lambda s: cpu_info(),
    "PassStatistics": lambda s: s._history.last(),
    "IrInstructionCount": lambda s: s._module.instruction_count(),
    "ObjectTextSizeBytes": lambda s: s._module.object_text_size(),
}
for _name, _compute in STRUCTURE.items():
    _COMPUTE[_name] = lambda s, compute=_compute: compute(s._module)
for _level in LEVELS:
    _COMPUTE[f"IrInstructionCount{_level}"] = lambda s, level=_level: s._baseline(
        level, "IrInstructionCount"
    )
    _COMPUTE[f"ObjectTextSize{_level}"] = lambda s, level=_level: s._baseline(
        level, "ObjectTextSizeBytes"
    )
