# SPDX-License-Identifier: MIT
"""A payload and the moves so far: the state of an episode. Runs only in a worker.

A move is run on a copy, and the copy is kept if MLIR accepts it: a move that is refused changes
nothing. The script of an episode is its pieces in a row.
"""

from collections.abc import Callable
from typing import Any

from compiler_gym.envs.mlir.actions.moves import Move
from compiler_gym.envs.mlir.programs.reading import read_payload
from compiler_gym.envs.mlir.state import pieces
from compiler_gym.envs.mlir.state.operations import (
    DYNAMIC,
    Operation,
    handles_in,
    operations_in,
    read_tag,
)
from compiler_gym.envs.mlir.toolchain.bindings import load, report_diagnostics
from compiler_gym.errors import CompilerDiagnosticError, InvalidActionError

__all__ = ["Program"]


class Program:
    """A module of one function, and how it came to be.

    Raises `BenchmarkInitError` for a payload that cannot be read.
    """

    def __init__(self, source: str, name: str) -> None:
        self.module: Any = read_payload(source, name)
        self.text = str(self.module)
        """The module as it is."""
        self.payload = self.text
        """The module before any move, as text."""
        self._pieces: list[str] = []
        """The script so far. A comment before each says which action it was."""
        self._operations: dict[str, Operation] | None = None
        self._names = set(self.operations)
        self._limits: dict[str, tuple[int, ...]] = {}

    @property
    def operations(self) -> dict[str, Operation]:
        """The structured operations that are left, by their tags."""
        if self._operations is None:
            with load().context:
                self._operations = operations_in(self.module)
        return self._operations

    @property
    def script(self) -> str:
        """The moves so far, as a module of the transform dialect."""
        return pieces.write_module("".join(self._pieces))

    def naive_cost(self, measure: Callable[[Any], float]) -> float:
        """Return what `measure` says of the module before any move."""
        loaded = load()
        return measure(loaded.ir.Module.parse(self.payload, loaded.context))

    def limits(self, tag: str) -> tuple[int, ...]:
        """Return the longest length of each loop of an operation, `DYNAMIC` where unknown."""
        bounds = self.operations[tag].bounds
        known = self._limits.get(tag, ())
        if len(known) != len(bounds):
            return bounds
        return tuple(
            bound if bound != DYNAMIC else limit for bound, limit in zip(bounds, known, strict=True)
        )

    def why_not(self, move: Move) -> str | None:
        """Return why `move` cannot be made, as far as that is known without trying it."""
        if not move.operation:
            return None
        if move.operation not in self.operations:
            left = ", ".join(self.operations) or "none"
            return f"there is no operation {move.operation} (any more): expected one of {left}"
        return pieces.refusal(move, self.operations[move.operation], self.limits(move.operation))

    def apply(self, move: Move, label: str) -> bool:
        """Make `move` and return whether anything changed; `label` is the action that it was.

        Raises `InvalidActionError` for one that makes no sense here, and
        `CompilerDiagnosticError` with MLIR's words for one that it refuses.
        """
        if reason := self.why_not(move):
            raise InvalidActionError(f"{move}: {reason}")
        number = len(self._pieces)
        operation = self.operations.get(move.operation)
        limits = self.limits(move.operation) if operation else ()
        text = pieces.piece(move, operation, limits, number) + pieces.cleanup(number)
        with report_diagnostics(str(move)):
            changed = _copy(self.module)
            _apply_script(changed.operation, text)
            text += self._retag(changed.operation, number)
            if not changed.operation.verify():
                raise CompilerDiagnosticError(f"{move}: the result does not verify")
            written = str(changed)
        if written == self.text:
            return False
        self.module, self.text = changed, written
        self._pieces.append(f"{_make_message(label)}// {move}\n{text}")
        self._operations = None
        self._limit(move, limits)
        return True

    def note(self, label: str) -> None:
        """Write an action that leaves the module as it is into the script."""
        if label:
            self._pieces.append(_make_message(label))

    def _retag(self, changed: Any, number: int) -> str:
        handles = handles_in(changed, of_interface=True)
        seen: set[str] = set()
        names: dict[int, str] = {}
        for place, handle in enumerate(handles):
            tag = read_tag(handle)
            if not tag or tag in seen:
                tag = names[place] = self._new_name(handle.name.removeprefix("linalg."), names)
            seen.add(tag)
        if not names:
            return ""
        text = pieces.retagging(len(handles), names, number)
        _apply_script(changed, text)
        self._names |= set(names.values())
        return text

    def _new_name(self, base: str, taken: dict[int, str]) -> str:
        known = self._names | set(taken.values())
        return next(name for i in range(10**9) if (name := f"{base}{i}") not in known)

    def _limit(self, move: Move, limits: tuple[int, ...]) -> None:
        if move.kind in ("tile", "fuse", "parallel"):
            sizes = zip(move.numbers, limits, strict=True)
            self._limits[move.operation] = tuple(size or limit for size, limit in sizes)
        elif move.kind == "interchange":
            self._limits[move.operation] = tuple(limits[loop] for loop in move.numbers)


def _make_message(label: str) -> str:
    return f"// action {label}\n" if label else ""


def _copy(module: Any) -> Any:
    """Return a module of its own: a hundredth of a millisecond, where printing takes 0.2.

    The function is copied into a new module, because one that `clone` returns is freed twice.
    """
    ir = load().ir
    copy = ir.Module.create(module.operation.location)
    for attribute in module.operation.attributes:
        name = attribute if isinstance(attribute, str) else attribute.name
        copy.operation.attributes[name] = module.operation.attributes[name]
    for operation in module.body.operations:
        copy.body.append(operation.operation.clone())
    return copy


def _apply_script(payload: Any, text: str) -> None:
    loaded = load()
    script = loaded.ir.Module.parse(pieces.write_module(text), loaded.context)
    loaded.interpret(payload, script.body.operations[0], script.operation)
