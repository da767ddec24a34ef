# SPDX-License-Identifier: MIT
"""The LLVM session: one module, changed in place by passes.

It runs only in a worker and is the only module that imports the engine. The state is the IR:
the engine clears all analyses after each action.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, cast

from compiler_gym import _llvm
from compiler_gym.envs.llvm.actions import (
    ACTION_SPACES,
    CODEGEN,
    MARKS,
    NO_OP,
    PIPELINES,
    codegen_options,
)
from compiler_gym.envs.llvm.actions.marks.marking import Marking
from compiler_gym.envs.llvm.actions.parameters import make_setting
from compiler_gym.envs.llvm.observations.compute import COMPUTE, observation_specs
from compiler_gym.envs.llvm.state.program import Program
from compiler_gym.errors import (
    BenchmarkInitError,
    InvalidActionError,
    InvalidParameterError,
    ModuleTooLargeError,
    UnknownNameError,
)
from compiler_gym.sandbox import is_own
from compiler_gym.session import (
    ActionSpaceSpec,
    BenchmarkSpec,
    CommandlineSpec,
    CompilerSession,
    DictSpec,
    Layer,
    ObservationSpec,
    TimedPart,
)

__all__ = ["GOALS", "LlvmSession"]

GOALS = ("size", "speed")
"""The optimisation goals; ``size`` is the default."""

_RUN_SETTINGS = {
    "llvm.set_runtimes_per_observation_count": "runtime_observation_count",
    "llvm.set_warmup_runs_count_per_runtime_observation": "runtime_warmup_runs_count",
    "llvm.set_buildtimes_per_observation_count": "buildtime_observation_count",
    "limits.runtime_observation_count": "runtime_observation_count",
    "limits.runtime_warmup_runs_count": "runtime_warmup_runs_count",
}


Step = tuple[bool, ActionSpaceSpec | None, bool]
_texts: dict[int, tuple[ActionSpaceSpec, tuple[str, ...], tuple[str, ...]]] = {}
"""A cache of the pipelines and names of action spaces, by identity: every reset needs them."""
_READ_SETTINGS = {
    key.replace(".set_", ".get_"): setting
    for key, setting in _RUN_SETTINGS.items()
    if ".set_" in key
}
_LAYERS = {
    "analysis": Layer.ANALYSES,
    "detection": Layer.DETECTION,
    "pass": Layer.PASSES,
    "surroundings": Layer.ENGINE,
}
_FLAG_OF_LEVEL = {level.name: level.flag for level in PIPELINES}


class LlvmSession(CompilerSession):
    """One LLVM module and the passes run on it."""

    compiler_version: ClassVar[str] = _llvm.LLVM_VERSION
    action_spaces: ClassVar[tuple[ActionSpaceSpec, ...]] = ACTION_SPACES
    observation_spaces: ClassVar[tuple[ObservationSpec, ...]] = observation_specs()
    program_class: ClassVar[type[Program]] = Program

    def __init__(
        self, working_dir: Path, action_space: ActionSpaceSpec, benchmark: BenchmarkSpec
    ) -> None:
        _llvm.let_assembly_read_files(is_own(benchmark.uri))
        self.program = self.program_class(benchmark, _goal(benchmark), working_dir)
        """The program that actions change and observations read."""
        self._initial_count = self.program.module.instruction_count()
        self._growth, self._growth_floor = 0.0, 0.0
        self._is_codegen = action_space.name == CODEGEN
        self._pipelines, self._names = ((), ()) if self._is_codegen else _list_texts(action_space)
        self._flags = dict(zip(self._names, self._pipelines, strict=True))
        self._marking: Marking | None = None
        if action_space.name in MARKS:
            self._marking = Marking(self.program.module, action_space)
            self.program.has_ids = True
            self.initial_action_space = self._marking.listing()

    def apply_action(self, action: Any) -> Step:
        """Run the pipeline of `action` on the module."""
        return self._apply(action, self.program.run)

    def apply_further(self, action: Any) -> Step:
        """Run `action` without detecting changes, which can cost as much as the pass itself."""
        return self._apply(action, self.program.apply)

    def _apply(self, action: Any, run: Callable[[str], bool]) -> Step:
        if isinstance(action, dict):
            return self._apply_setting(cast("dict[str, Any]", action))
        number = cast("int", action)  # clients in other languages can send any type
        if self._marking and isinstance(action, int) and action >= len(self._pipelines):
            return self._mark(self._marking, action)
        try:
            pipeline = self._pipelines[number]
        except (IndexError, TypeError):
            if self._is_codegen and isinstance(action, list):
                pipeline = codegen_options.write_pipeline(cast("list[int]", action))
                return False, None, not run(pipeline)
            count = len(self._pipelines)
            raise InvalidActionError(f"{action!r} is not an action number below {count}") from None
        if pipeline == NO_OP:
            self.program.history.skip()
            return False, None, True
        try:
            changed = run(pipeline)
            return (
                False,
                self._marking.listing() if self._marking and changed else None,
                not changed,
            )
        except ModuleTooLargeError as error:
            raise self._too_large(self._names[number], error) from None

    def _apply_setting(self, action: dict[str, Any]) -> Step:
        """Run a pass with the parameter values in `action`."""
        setting = make_setting(action, self._flags)
        try:
            return False, None, not self.program.run(setting.pipeline, setting.options)
        except ModuleTooLargeError as error:
            raise self._too_large(f"{action['pass']} with {setting}", error) from None

    def _too_large(self, name: str, error: ModuleTooLargeError) -> ModuleTooLargeError:
        return ModuleTooLargeError(
            f"{name} grew the module from {self._initial_count} instructions at reset to {error}"
        )

    def _mark(self, marking: Marking, action: int) -> Step:
        mark = marking.find_mark(action)
        changed = marking.choose(mark)
        self.program.history.note(mark, changed=changed)
        return False, marking.listing() if changed else None, not changed

    def get_observation(self, name: str) -> Any:
        """Return the plain value of observation `name`."""
        compute = COMPUTE.get(name)
        if compute is None:
            raise UnknownNameError(f"no observation space {name!r}")
        return compute(self.program)

    def handle_session_parameter(self, key: str, value: str) -> str | None:
        """Handle ``limits.*``, ``llvm.apply_pipeline``, ``llvm.apply_baseline_optimizations``,
        ``llvm.verify``, ``llvm.get_scope_pipeline`` and the settings for running programs."""
        if key in ("limits.growth", "limits.growth_floor"):
            self._set_limit(key, value)
            return value
        if key == "llvm.apply_pipeline":
            _llvm.check_pipeline(value)
            return "changed" if self.program.run(value) else "unchanged"
        if key == "llvm.apply_baseline_optimizations":
            return "changed" if self.program.run(_level(value)) else "unchanged"
        if key == "llvm.verify":
            self.program.module.verify()
            return "valid"
        if key == "llvm.get_scope_pipeline":
            return self.program.scope_pipeline()
        if key in _RUN_SETTINGS:
            return self.program.executable.set(_RUN_SETTINGS[key], value)
        if key in _READ_SETTINGS:
            return self.program.executable.setting(_READ_SETTINGS[key])
        return None

    def time_parts(self, is_on: bool) -> None:
        """Record the time of passes, of their analyses and of change detection."""
        _llvm.time_passes(self.program.module, is_on)

    def timed_parts(self) -> list[TimedPart]:
        """Return the timed parts of everything that ran on the module since the last call."""
        parts: list[TimedPart] = []
        roots: list[TimedPart] = []
        for parent, kind, name, calls, nanoseconds in _llvm.take_times(self.program.module):
            part = TimedPart(_LAYERS[kind], name, calls, nanoseconds)
            (roots if parent < 0 else parts[parent].parts).append(part)
            parts.append(part)
        return roots

    def moved(self, working_dir: Path) -> None:
        """Write bitcode files into `working_dir` from now on."""
        self.program.move_to(working_dir)

    def close(self) -> None:
        """Free the module at once."""
        self.program.close()

    def leave(self) -> None:
        """Do nothing: the end of the process frees the module."""

    def _set_limit(self, key: str, value: str) -> None:
        try:
            number = float(value)
        except ValueError:
            raise InvalidParameterError(f"{key} must be a number (got {value!r})") from None
        if key == "limits.growth":
            self._growth = number
        else:
            self._growth_floor = number
        bound = max(self._growth * self._initial_count, self._growth_floor)
        self._limit_instructions(int(bound) if self._growth else 0)

    def _limit_instructions(self, limit: int) -> None:
        self.program.module.limit_instructions(limit)


def _list_texts(action_space: ActionSpaceSpec) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the pipeline and the name of each action."""
    entry = _texts.get(id(action_space))
    if entry is None or entry[0] is not action_space:  # an identity can be reused
        space = action_space.space
        passes = space.items["pass"] if isinstance(space, DictSpec) else space
        assert isinstance(passes, CommandlineSpec)
        items = passes.items
        pipelines, names = (tuple(item.flag for item in items), tuple(item.name for item in items))
        entry = _texts[id(action_space)] = action_space, pipelines, names
    return entry[1:]


def _goal(benchmark: BenchmarkSpec) -> str:
    goal = benchmark.parameters.get("goal", GOALS[0])
    if goal not in GOALS:
        raise BenchmarkInitError(f"no goal {goal!r} in {benchmark.uri}: use goal=size or speed")
    return goal


def _level(name: str) -> str:
    """Return the pipeline of the standard level `name`."""
    if name not in _FLAG_OF_LEVEL:
        raise InvalidParameterError(
            f"no optimisation level {name!r}; there are {', '.join(_FLAG_OF_LEVEL)}"
        )
    return _FLAG_OF_LEVEL[name]
