# SPDX-License-Identifier: MIT
"""The GCC session: a choice for every option, and one program to compile.

It runs only in a worker. The state consists of the choices alone; the program is compiled only when
it is observed, and never twice with the same command line.
"""

from pathlib import Path
from typing import Any, ClassVar, cast

from compiler_gym.errors import InvalidActionError, UnknownNameError
from compiler_gym.session import (
    ActionSpaceSpec,
    BenchmarkSpec,
    CompilerSession,
    ObservationSpec,
)
from compiler_gym_gcc.actions import (
    CATEGORICAL,
    Bump,
    Set,
    action_spaces,
    apply_move,
    count_actions,
    list_values,
    moves,
)
from compiler_gym_gcc.observations import TABLE, observation_spaces
from compiler_gym_gcc.observations.compute import COMPUTE
from compiler_gym_gcc.state.program import Program
from compiler_gym_gcc.state.settings import Settings, check_choices
from compiler_gym_gcc.toolchain.gcc import DEFAULT_GCC
from compiler_gym_gcc.toolchain.spec import GccSpec, get_spec
from compiler_gym_gcc.toolchain.timeout import check_timeout

__all__ = ["GccSession"]

_RUN_COUNTS = ("runtime_observation_count", "runtime_warmup_runs_count")
_LEVELS = {row.name: row.level for row in TABLE.observations}
Step = tuple[bool, ActionSpaceSpec | None, bool]


class GccSession(CompilerSession):
    """One program and the settings for compiling it."""

    compiler_version: ClassVar[str] = ""
    action_spaces: ClassVar[tuple[ActionSpaceSpec, ...]] = ()
    observation_spaces: ClassVar[tuple[ObservationSpec, ...]] = ()
    spec: ClassVar[GccSpec]
    """The compiler, set by `prepare`."""
    _moves: ClassVar[tuple[Set | Bump, ...]]
    _width: ClassVar[int]

    @classmethod
    def prepare(cls, options: dict[str, str]) -> "type[GccSession]":
        """Return the session class for the compiler in the option ``gcc_bin``."""
        spec = get_spec(options.get("gcc_bin", DEFAULT_GCC))
        facts: dict[str, Any] = {
            "spec": spec,
            "compiler_version": spec.version,
            "action_spaces": action_spaces(spec.options),
            "observation_spaces": observation_spaces(spec.options),
            "_moves": moves(spec.options),
            "_width": count_actions(spec.options),
            "__doc__": cls.__doc__,
        }
        return type(cls.__name__, (cls,), facts)

    def __init__(
        self, working_dir: Path, action_space: ActionSpaceSpec, benchmark: BenchmarkSpec
    ) -> None:
        self._action_space = action_space.name
        self._settings = Settings(self.spec.options)
        self._program = Program(self.spec, benchmark, working_dir, width=self._width)

    def apply_action(self, action: Any) -> Step:
        """Choose settings; a list is an action of `Choices` in any action space."""
        if isinstance(action, list):
            return self._choose_all([choice - 1 for choice in cast("list[int]", action)])
        if self._action_space == CATEGORICAL:
            return self._move(action)
        return self._choose_stepwise(action)

    def get_observation(self, name: str) -> Any:
        """Return the plain value of observation `name`, compiling if necessary."""
        compute = COMPUTE.get(name)
        if compute is None:
            raise UnknownNameError(f"no observation space {name!r}")
        level = _LEVELS[name]
        return compute(self._program, Settings.alone(level) if level else self._settings)

    def handle_session_parameter(self, key: str, value: str) -> str | None:
        """Handle ``timeout``, ``limits.runtime_observation_count`` and similar parameters.

        The timeout is the limit in seconds of one run of GCC; an empty value only returns it.
        """
        name = key.removeprefix("limits.")
        if name in _RUN_COUNTS:
            self._program.set_run_count(name, value)
            return value
        if name != "timeout":
            return None
        if value:
            self._program.timeout = check_timeout(value)
        return f"{self._program.timeout:g}"

    def moved(self, working_dir: Path) -> None:
        """Compile in `working_dir` from now on."""
        self._program.move_to(working_dir)

    def _choose_all(self, choices: list[int]) -> Step:
        settings = self._settings
        choices = check_choices(choices, settings.options)
        same = choices == settings.choices and settings.pending is None
        settings.choices, settings.pending = choices, None
        settings.reset_words()
        return False, None, same

    def _move(self, action: Any) -> Step:
        if type(action) is not int or not 0 <= action < len(self._moves):
            count = len(self._moves)
            raise InvalidActionError(f"{action!r} is not an action number below {count}")
        settings = self._settings
        changed = apply_move(settings.options, settings.choices, self._moves[action])
        if changed:
            settings.reset_words()
        return False, None, not changed

    def _choose_stepwise(self, action: Any) -> Step:
        """Choose an option or the value of the pending one; do nothing for a masked action."""
        if type(action) is not int or action < 0:
            raise InvalidActionError(f"{action!r} is not the number of an action")
        settings = self._settings
        if settings.pending is None:
            if action >= len(settings.options):
                return False, None, True
            settings.pending = action
            return False, None, False
        values = list_values(settings.options[settings.pending])
        if action >= len(values):
            return False, None, True
        settings.choices[settings.pending] = values[action]
        settings.pending = None
        settings.reset_words()
        return False, None, False
