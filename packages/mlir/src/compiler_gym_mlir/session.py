# SPDX-License-Identifier: MIT
"""The session for MLIR: one payload and its transformations.

Runs only in a worker. Nothing is lowered or run before an observation needs it. A move that does
not apply, or that MLIR rejects, changes nothing: in the numeric action spaces it has no effect, and
``mlir.refusal`` has the reason; a line of `ScriptLines` raises an error.
"""

import json
from pathlib import Path
from typing import Any, ClassVar

from compiler_gym.errors import (
    BenchmarkInitError,
    CompilerDiagnosticError,
    InvalidActionError,
    InvalidParameterError,
    UnknownNameError,
)
from compiler_gym.session import (
    ActionSpaceSpec,
    BenchmarkSpec,
    CompilerSession,
    ObservationSpec,
)
from compiler_gym_mlir import actions
from compiler_gym_mlir.actions.matrix import tilings, vectors
from compiler_gym_mlir.actions.menu import MENU, NEXT, STOP, Loops, compose_move
from compiler_gym_mlir.actions.moves import Move, parse_move
from compiler_gym_mlir.observations import OBSERVATION_SPACES
from compiler_gym_mlir.observations.compute import COMPUTE
from compiler_gym_mlir.programs.builders import build
from compiler_gym_mlir.programs.reading import change_type, payload_bytes
from compiler_gym_mlir.state.program import Program
from compiler_gym_mlir.toolchain.bindings import load
from compiler_gym_mlir.toolchain.lowering import compile_module
from compiler_gym_mlir.toolchain.measuring import Bench, open_bench

__all__ = ["MlirSession"]

_FIRST = build("matmul", (8, 32, 8))
_RUN_COUNTS = {
    "mlir.set_runtimes_per_observation_count": ("runs", 1),
    "mlir.set_warmup_runs_count_per_runtime_observation": ("warmups", 0),
    "limits.runtime_observation_count": ("runs", 1),
    "limits.runtime_warmup_runs_count": ("warmups", 0),
}
"""The attribute that each parameter sets, and its minimum."""
Step = tuple[bool, ActionSpaceSpec | None, bool]


class MlirSession(CompilerSession):
    """One payload and its transformations."""

    compiler_version: ClassVar[str] = ""
    action_spaces: ClassVar[tuple[ActionSpaceSpec, ...]] = actions.ACTION_SPACES
    observation_spaces: ClassVar[tuple[ObservationSpec, ...]] = OBSERVATION_SPACES

    @classmethod
    def prepare(cls, options: dict[str, str]) -> "type[MlirSession]":
        """Load MLIR before workers are forked; raise an error if it is not installed.

        Compile one small schedule, because the first in a process takes ten times as long.
        """
        cls.compiler_version = f"MLIR {load().version}"
        program = Program(_FIRST, "the first payload")
        program.apply(Move("tile", "matmul0", (4, 16, 4)), "")
        program.apply(Move("vectorize", "matmul0"), "")
        compile_module(program.text)
        return cls

    def __init__(
        self, working_dir: Path, action_space: ActionSpaceSpec, benchmark: BenchmarkSpec
    ) -> None:
        try:
            source = benchmark.contents.decode()
        except UnicodeDecodeError as error:
            raise BenchmarkInitError(f"{benchmark.uri} is not text: use MLIR text") from error
        element = benchmark.parameters.get("type", "")
        self.program = Program(change_type(source, element) if element else source, benchmark.uri)
        self.runs, self.warmups = 1, 0
        self.flops = sum(operation.flops for operation in self.program.operations.values())
        self.bytes = payload_bytes(self.program.module)
        self._cursor = ""
        self._refusal = ""
        self._legal: list[str] = []
        self._apply = {
            actions.MENU_SPACE: self._from_menu,
            actions.COMPOSITE: self._apply_composite,
            actions.LEGAL: self._from_legal,
            actions.SCRIPT: self._line,
            actions.MATRIX: self._matrix,
        }[action_space.name]
        self._is_changing = action_space.name == actions.LEGAL
        if self._is_changing:
            self.initial_action_space = self._legal_space()

    def apply_action(self, action: Any) -> Step:
        """Apply `action` to the program."""
        before = (self.program.text, self.cursor)
        self._refusal = ""
        end = self._apply(action)
        same = before == (self.program.text, self.cursor)
        space = self._legal_space() if self._is_changing and not same and not end else None
        return end, space, same and not end

    def get_observation(self, name: str) -> Any:
        """Return the plain value of observation `name`."""
        if name not in COMPUTE:
            raise UnknownNameError(f"no observation space {name!r}")
        return COMPUTE[name](self)

    def handle_session_parameter(self, key: str, value: str) -> str | None:
        """Handle ``mlir.set_runtimes_per_observation_count`` and similar parameters, and
        ``mlir.refusal``, the reason why the last action had no effect."""
        if key == "mlir.refusal":
            return self._refusal
        name, least = _RUN_COUNTS.get(key.replace(".get_", ".set_"), ("", 0))
        if not name:
            return None
        if ".get_" not in key:
            setattr(self, name, _parse_count(key, value, least))
        return str(getattr(self, name))

    @property
    def bench(self) -> Bench:
        """The bench that runs the payload."""
        return open_bench(self.program.payload)

    @property
    def cursor(self) -> str:
        """The tag of the operation that `Schedule` applies to, at first that with most work."""
        operations = self.program.operations
        if self._cursor not in operations:
            ranked = sorted(operations.values(), key=lambda operation: -operation.flops)
            return ranked[0].tag if ranked else ""
        return self._cursor

    def mask(self) -> list[int]:
        """Return a mask of the actions of `Schedule` that apply now."""
        loops = self._loops(self.cursor)
        flags: list[int] = []
        for resolve in MENU.values():
            move = resolve(loops)
            flags.append(int(move is not None and not self._pointless(move)))
        return [*flags, int(len(self.program.operations) > 1), 1]

    def _pointless(self, move: Move) -> bool:
        if not move.operation:
            pattern = "scf.for " if move.kind == "hoist" else "vector.contract"
            return pattern not in self.program.text
        return self.program.why_not(move) is not None

    def _loops(self, tag: str) -> Loops:
        if not tag:
            return Loops("", (), ())
        operation = self.program.operations[tag]
        return Loops(tag, operation.iterators, self.program.limits(tag))

    def _from_menu(self, action: Any) -> bool:
        if type(action) is not int or not 0 <= action < len(actions.ENTRIES):
            raise InvalidActionError(f"{action!r} is not in [0, {len(actions.ENTRIES)})")
        entry = actions.ENTRIES[action]
        label = json.dumps(action)
        if entry == STOP:
            self.program.note(label)
            return True
        if entry == NEXT:
            return self._next(label)
        move = MENU[entry](self._loops(self.cursor))
        if move is None or (not move.operation and self._pointless(move)):
            self._refusal = f"{entry} does not apply to {self.cursor or 'the program'}"
            return False
        return self._try(move, label)

    def _next(self, label: str) -> bool:
        tags = list(self.program.operations)
        if len(tags) > 1:
            self._cursor = tags[tags.index(self.cursor) - 1]
            self.program.note(label)
        return False

    def _apply_composite(self, action: dict[str, Any]) -> bool:
        number: int = action["operation"]
        kind: int = action["transformation"]
        if not 0 <= kind < len(actions.TRANSFORMATIONS):
            raise InvalidActionError(f"{kind!r} is not in [0, {len(actions.TRANSFORMATIONS)})")
        name = actions.TRANSFORMATIONS[kind]
        label = json.dumps(action)
        if name == STOP:
            self.program.note(label)
            return True
        tags = list(self.program.operations)
        if number >= len(tags):
            self._refusal = f"no operation {number}: there are {len(tags)} operations"
            return False
        numbers: list[int] = action["sizes"]
        if not all(0 <= size < len(actions.SIZES) for size in numbers):
            raise InvalidActionError(f"sizes must be below {len(actions.SIZES)} (got {numbers})")
        sizes = tuple(actions.SIZES[size] for size in numbers)
        loops = len(self.program.operations[tags[number]].bounds)
        tag = tags[number] if name not in _FUNCTION_KINDS else ""
        order: tuple[int, ...] = tuple(action["order"])
        return self._try(compose_move(name, tag, sizes, order, loops), label)

    def _from_legal(self, action: Any) -> bool:
        if type(action) is not int or not 0 <= action < len(self._legal):
            raise InvalidActionError(f"{action!r} is not in [0, {len(self._legal)})")
        name, label = self._legal[action], json.dumps(action)
        if name == STOP:
            self.program.note(label)
            return True
        return self._try(parse_move(name), label)

    def _line(self, action: Any) -> bool:
        label = json.dumps(action)
        if not str(action).strip():
            self.program.note(label)
            return True
        self.program.apply(parse_move(str(action)), label)
        return False

    def _matrix(self, action: Any) -> bool:
        tag, label = self.cursor, json.dumps(action)
        if len(self._loops(tag).limits) != 3:
            raise InvalidActionError(f"{tag or 'the program'} is not a matrix product of 3 loops")
        if not 1 <= len(action) <= 4:
            raise InvalidActionError(f"there must be 1 to 4 tilings (got {len(action)})")
        for part in action:
            for move in tilings(part["tile_options"], tag, self.program.limits(tag)):
                self._try(move, label)
                label = ""
        for move in vectors(action[-1]["vectorize_options"], tag):
            self._try(move, label)
            label = ""
        self.program.note(label)
        return True

    def _try(self, move: Move, label: str) -> bool:
        """Apply `move`; if that fails, store the reason."""
        try:
            self.program.apply(move, label)
        except (CompilerDiagnosticError, InvalidActionError) as error:
            self._refusal = str(error)
        return False

    def _legal_space(self) -> ActionSpaceSpec:
        names: list[str] = []
        for tag in self.program.operations:
            loops = self._loops(tag)
            for resolve in MENU.values():
                move = resolve(loops)
                if move is not None and not self._pointless(move):
                    names.append(str(move))
        self._legal = [*dict.fromkeys(names), STOP]
        return actions.legal_space(tuple(self._legal))


def _parse_count(key: str, value: str, least: int) -> int:
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if not number.is_integer() or number < least:
        raise InvalidParameterError(
            f"{key} must be a whole number of at least {least} (got {value!r})"
        )
    return int(number)


_FUNCTION_KINDS = frozenset({"hoist", "outerproduct", "dot", "parallelarith"})
