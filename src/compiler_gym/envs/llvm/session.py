# SPDX-License-Identifier: MIT
"""How LLVM fulfils the contract: one module, changed in place by passes.

Runs only in a worker; it alone imports the engine. The state is the IR: the
engine forgets every analysis after each action.
"""

import hashlib
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from compiler_gym import _llvm
from compiler_gym.envs.llvm.actions import ACTION_SPACES, NO_OP
from compiler_gym.envs.llvm.observations import (
    BASELINE_COSTS,
    LEVELS,
    OBSERVATION_SPACES,
    cpu_info,
)
from compiler_gym.envs.llvm.observations.baselines import Baselines
from compiler_gym.envs.llvm.observations.compute import COSTS, STRUCTURE, PassHistory
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

if TYPE_CHECKING:
    from compiler_gym.envs.llvm.machine.program import Program

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
        self._benchmark = benchmark
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
        """Handle ``limits.*``, ``llvm.apply_pipeline``, ``llvm.verify`` and how programs run."""
        if key in ("limits.growth", "limits.growth_floor"):
            self._set_limit(key, value)
            return value
        if key == "llvm.apply_pipeline":
            _llvm.check_pipeline(value)
            return "changed" if self._history.run(self._module, value) else "unchanged"
        if key == "llvm.verify":
            self._module.verify()
            return "valid"
        if key in _RUN_SETTINGS:
            return self._program.set(_RUN_SETTINGS[key], value)
        return None

    def moved(self, working_dir: Path) -> None:
        """Write bitcode files into `working_dir` from now on."""
        self._working_dir = working_dir
        if "_program" in self.__dict__:
            self._program.forget_files()

    def close(self) -> None:
        """Free the module at once: a session and what it lends its methods to form a cycle.

        Left to the garbage collector, the modules of many episodes fill the memory.
        """
        del self._module

    @cached_property
    def _program(self) -> "Program":
        from compiler_gym.envs.llvm.machine.program import Program

        return Program(self._benchmark, self._load, lambda: self._working_dir)

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

    def _baseline(self, level: str, cost: str) -> float:
        if (cost, level) == ("McaCycles", "O0"):
            # What may not be optimised has no frequencies: the program at reset stands for it.
            kept = f"{cost}-{self._goal}"
            return self._baselines.cost(
                self._contents, level, kept, lambda _: COSTS[cost](self._load())
            )
        if cost in COSTS:
            return self._baselines.cost(self._contents, level, cost, COSTS[cost])
        made_with, measure = self._program.baseline_measures()[cost]
        tools = hashlib.sha256(made_with.encode()).hexdigest()[:16]
        return self._baselines.cost(self._contents, level, f"{cost}-{tools}", measure)


def _goal(benchmark: BenchmarkSpec) -> str:
    goal = benchmark.parameters.get("goal", GOALS[0])
    if goal not in GOALS:
        raise BenchmarkInitError(f"goal is {goal!r} in {benchmark.uri}: expected size or speed")
    return goal


_RUN_SETTINGS = {
    f"{prefix}{key}": setting
    for setting, keys in {
        "runtime_observation_count": ("llvm.set_runtimes_per_observation_count",),
        "runtime_warmup_runs_count": ("llvm.set_warmup_runs_count_per_runtime_observation",),
    }.items()
    for prefix, key in (("", keys[0]), ("limits.", setting))
}
_OF_PROGRAMS = (
    *("IsBuildable", "IsRunnable", "Buildtime", "Runtime", "RuntimeComparison"),
    *("TextSizeBytes", "RuntimeInstructions"),
)
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
}
for _name, _compute in (COSTS | STRUCTURE).items():
    _COMPUTE[_name] = lambda s, compute=_compute: compute(s._module)
for _name in _OF_PROGRAMS:
    _COMPUTE[_name] = lambda s, name=_name: s._program.observe(name, s._module)
for _level in LEVELS:
    for _prefix, _cost in BASELINE_COSTS.items():
        _COMPUTE[f"{_prefix}{_level}"] = lambda s, level=_level, cost=_cost: s._baseline(
            level, cost
        )
