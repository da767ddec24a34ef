# SPDX-License-Identifier: MIT
"""The session for loop nests: a program, its loop tree, and a cursor in the tree.

Runs only in a worker. The state is the tree, the cursor and the undo history; nothing is compiled
before a time is needed, and no tree is compiled twice in a row.
"""

import json
from pathlib import Path
from typing import Any, ClassVar

from compiler_gym.errors import (
    BenchmarkInitError,
    InvalidActionError,
    InvalidParameterError,
    UnknownNameError,
)
from compiler_gym.session import ActionSpaceSpec, BenchmarkSpec, CompilerSession, ObservationSpec
from compiler_gym_loop_tool import VERSION
from compiler_gym_loop_tool.actions import ACTION_SPACES, TABLE
from compiler_gym_loop_tool.observations import TABLE as OBSERVATIONS
from compiler_gym_loop_tool.observations.compute import COMPUTE
from compiler_gym_loop_tool.state.cursor import Cursor
from compiler_gym_loop_tool.state.reading import parse_program
from compiler_gym_loop_tool.state.tree import MOST_LOOPS, initial_tree
from compiler_gym_loop_tool.toolchain.measuring import Bench

__all__ = ["LoopToolSession"]

"""Version of the language, its transformations and its cost model."""


class LoopToolSession(CompilerSession):
    """One program, its loop tree and a cursor."""

    compiler_version: ClassVar[str] = VERSION
    action_spaces: ClassVar[tuple[ActionSpaceSpec, ...]] = ACTION_SPACES
    observation_spaces: ClassVar[tuple[ObservationSpec, ...]] = OBSERVATIONS.specs()

    def __init__(
        self, working_dir: Path, action_space: ActionSpaceSpec, benchmark: BenchmarkSpec
    ) -> None:
        try:
            program = parse_program(benchmark.contents.decode("ascii"))
        except (BenchmarkInitError, UnicodeDecodeError) as error:
            raise BenchmarkInitError(f"cannot read {benchmark.uri}: {error}") from error
        tree = initial_tree(program)
        if len(tree.loops()) > MOST_LOOPS:
            raise BenchmarkInitError(
                f"{benchmark.uri} has {len(tree.loops())} loops; at most {MOST_LOOPS} are possible"
            )
        self._actions = TABLE[action_space.name]
        self._cursor = Cursor(tree)
        self._bench = Bench(tree)

    def apply_action(self, action: Any) -> tuple[bool, ActionSpaceSpec | None, bool]:
        """Change the tree or the cursor; an action that does not apply has no effect."""
        if type(action) is not int or not 0 <= action < len(self._actions):
            raise InvalidActionError(f"{action!r} is not in [0, {len(self._actions)})")
        before = self._cursor
        self._bench.actions += 1
        self._cursor = self._actions[action].apply(before)
        return False, None, self._cursor is before

    def get_observation(self, name: str) -> Any:
        """Return the plain value of observation `name`; measures times on demand."""
        compute = COMPUTE.get(name)
        if compute is None:
            raise UnknownNameError(f"no observation space {name!r}")
        return compute(self._cursor, self._bench)

    def handle_session_parameter(self, key: str, value: str) -> str | None:
        """Handle ``timing.seconds`` (of one timing; empty reads it), ``timing.last`` (JSON), and
        ``check.compiled`` and ``check.interpreted`` (JSON), whose value seeds the inputs."""
        if key == "timing.last":
            return self._bench.last_facts()
        if key in ("check.compiled", "check.interpreted"):
            if not value.isdecimal() or len(value) > 9:
                raise InvalidParameterError(f"{key} must be a seed of inputs (got {value!r})")
            method = key.removeprefix("check.")
            return json.dumps(self._bench.check(self._cursor.tree, method, int(value)))
        if key != "timing.seconds":
            return None
        if value:
            try:
                seconds = float(value)
            except ValueError:
                seconds = -1.0
            if not 0 < seconds <= 60:
                raise InvalidParameterError(
                    f"{key} must be above 0 and at most 60 seconds (got {value!r})"
                )
            self._bench.seconds = seconds
        return f"{self._bench.seconds:g}"
