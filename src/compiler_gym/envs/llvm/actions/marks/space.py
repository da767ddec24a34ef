# SPDX-License-Identifier: MIT
"""The action space ``Marks``: passes, levels, and decisions about the current program."""

import copy
import shlex
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, Self, SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray

from compiler_gym.builds.compilation_database import split_words
from compiler_gym.envs.llvm.actions import codegen_options
from compiler_gym.envs.llvm.actions.marks.choices import (
    BLOCK,
    CHOICES,
    KINDS,
    Mark,
    mark_at,
    mark_named,
)
from compiler_gym.errors import InvalidActionError
from compiler_gym.spaces import ActionPart, CommandlineFlag, Decision, Discrete, NamedDiscrete

__all__ = ["DecisionPoint", "MarksSpace", "split_command"]

_COMMAND = ("compiler-gym", "run", "--action-space")
_OUTPUT = ("--write-bitcode", "output.bc", "--")
_POINTS_IN_REPR = 3


class DecisionPoint:
    """A call site, a loop or a function of the current program."""

    __slots__ = ("allowed", "id", "kind", "label")

    def __init__(self, kind: str, id: int, allowed: int, label: str) -> None:
        self.kind = kind
        """``call``, ``loop`` or ``function``."""
        self.id = id
        """The number among points of the same kind; it never changes."""
        self.allowed = allowed
        """A bit mask of the available choices."""
        self.label = label
        """``caller -> callee``, a loop's function and location, or a function's name."""

    @property
    def name(self) -> str:
        """The name, such as ``call:17``."""
        return f"{self.kind}:{self.id}"

    @property
    def choices(self) -> tuple[str, ...]:
        """The available choices."""
        return tuple(n for i, n in enumerate(CHOICES[self.kind]) if self.allowed >> i & 1)

    @property
    def marks(self) -> list[Mark]:
        """The available marks, the default first."""
        size = len(CHOICES[self.kind])
        return [Mark(self.kind, self.id, i) for i in range(size) if self.allowed >> i & 1]

    def __repr__(self) -> str:
        return f"{self.name} ({self.label}): {', '.join(self.choices)}"


class MarksSpace(Discrete):
    """Numbers of passes and levels, then of marks; only marks now available are members.

    The number of a mark depends only on its kind, id and choice, so it has the same meaning
    throughout an episode and in other programs. There are no marks before the first reset.
    """

    def __init__(
        self,
        items: Iterable[CommandlineFlag],
        name: str,
        *,
        seed: int | np.random.Generator | None = None,
    ) -> None:
        items = list(items)
        self.items = [item for item in items if item.flag]
        """The passes and levels, then any options of the code generator, by number."""
        self._ids, self._listed = _points_of_marks(item for item in items if not item.flag)
        self._passes = NamedDiscrete((item.name for item in self.items), name)
        self._legal: NDArray[np.int64] | None = None
        options = [n for n, i in enumerate(self.items) if codegen_options.is_choice(i.flag)]
        self.options = range(options[0], options[-1] + 1) if options else range(0)
        """The actions that set an option of the code generator; they are decisions too."""
        super().__init__(len(self.items) + BLOCK * self._ids, name, seed=seed)

    @property
    def dense(self) -> int:
        """The number of actions numbered contiguously from 0: all except marks."""
        return len(self.items)

    @property
    def points(self) -> list[DecisionPoint]:
        """The decision points of the current program: call sites, loops, functions, each by id."""
        return list(self._listed.values())

    @property
    def parts(self) -> list[ActionPart]:
        """The decision points of the current program, for display."""
        return [ActionPart(p.name, ", ".join(p.choices), p.label) for p in self.points]

    @property
    def calls(self) -> list[DecisionPoint]:
        """The call sites of functions that the program defines."""
        return [point for point in self.points if point.kind == "call"]

    @property
    def loops(self) -> list[DecisionPoint]:
        """The loops."""
        return [point for point in self.points if point.kind == "loop"]

    @property
    def functions(self) -> list[DecisionPoint]:
        """The functions that the program defines."""
        return [point for point in self.points if point.kind == "function"]

    @property
    def names(self) -> "Sequence[str]":
        """The name of each number, including numbers that are not members now."""
        return _Names(self)

    @property
    def flags(self) -> list[str]:
        """The pass pipeline of each pass and level."""
        return [item.flag for item in self.items]

    @property
    def descriptions(self) -> list[str]:
        """The description of each pass and level."""
        return [item.description for item in self.items]

    def find_mark(self, action: SupportsIndex) -> Mark | None:
        """Return the mark that `action` makes; None for a pass or level."""
        number = int(action.__index__()) - len(self.items)
        return mark_at(number) if number >= 0 else None

    def find_action(self, mark: Mark) -> int:
        """Return the number of `mark`."""
        return len(self.items) + mark.number

    def find(self, name: str) -> int | None:
        """Return the number of a pass, level or mark, even if it is not a member now; or None."""
        mark = mark_named(name)
        if mark is not None:
            return self.find_action(mark)
        return self._passes[name] if name in self._passes.names else None

    def find_name(self, action: int) -> str:
        """Return the name of `action`."""
        mark = self.find_mark(action)
        return self.items[action].name if mark is None else str(mark)

    def __getitem__(self, name: str) -> int:
        """Return the number of a pass, level or mark, or raise `UnknownNameError`."""
        number = self.find(name)
        return self._passes[name] if number is None else number

    def contains(self, x: Any) -> bool:
        """Return whether `x` is a pass, a level or a mark that is now available."""
        return super().contains(x) and self._refusal(int(x)) is None

    def check_sequence(self, actions: Sequence[Any]) -> None:
        """Raise `InvalidActionError` unless `actions` can be applied in sequence.

        Marks after a pass are not checked here: the pass can add or remove decision points, so
        the engine rejects them when they are applied.
        """
        is_known = True
        for action in actions:
            if not super().contains(action):
                raise InvalidActionError(
                    f"{action!r} ({type(action).__name__}) is not an action of {self!r}"
                )
            refusal = self._refusal(int(action)) if is_known else None
            if refusal:
                raise InvalidActionError(refusal)
            is_known = is_known and int(action) >= len(self.items)

    def decisions(self) -> tuple[Decision, ...]:
        """Return the decisions that a search can make now: those with more than one choice.

        Options of the code generator come last. Peeling is excluded: it happens at once and
        cannot be undone.
        """
        decisions: list[Decision] = []
        for point in self.points:
            marks = [m for m in point.marks if not CHOICES[m.kind][m.choice].startswith("peel")]
            names = tuple(f"{m.kind} {CHOICES[m.kind][m.choice]}" for m in marks)
            choices = tuple(self.find_action(mark) for mark in marks)
            decisions.append(Decision(point.name, choices, names, _groups(point)))
        return (
            *(decision for decision in decisions if len(decision.choices) > 1),
            *self._settings(),
        )

    def _settings(self) -> Iterator[Decision]:
        """Yield a decision for each option of the code generator."""
        options = groupby(self.options, lambda action: self.items[action].name.partition("=")[0])
        for option, actions in options:
            choices = tuple(actions)  # the table has the default first
            kinds = tuple(self.items[action].name for action in choices)
            yield Decision(
                option,
                choices,
                kinds,
                ("codegen",),
                codegen_options.read_gains(option),
                is_late=True,
            )

    def legal(self) -> NDArray[np.int64]:
        """Return the sorted numbers of all actions now available."""
        if self._legal is None:
            marks = [self.find_action(m) for p in self._listed.values() for m in p.marks]
            self._legal = np.array([*range(len(self.items)), *sorted(marks)], np.int64)
        return self._legal

    def mask(self) -> NDArray[np.int8]:
        """Return 1 for each number that is an action now and 0 for all others."""
        mask = np.zeros(int(self.n), np.int8)
        mask[self.legal()] = 1
        return mask

    def sample(self, mask: Any = None, probability: Any = None) -> Any:
        """Return a pass, a level or, half of the time, a mark if there are any.

        `mask` and `probability` are Gymnasium's, over all numbers; numbers that are not actions
        now count as masked.
        """
        if probability is not None:
            weights = np.asarray(probability, np.float64) * self.mask()
            return super().sample(probability=weights / weights.sum())
        if mask is not None:
            return super().sample(mask=np.asarray(mask, np.int8) & self.mask())
        legal, passes = self.legal(), len(self.items)
        if len(legal) == passes or self.np_random.random() < 0.5:
            return np.int64(self.np_random.integers(passes))
        return legal[self.np_random.integers(passes, len(legal))]

    def to_string(
        self, actions: SupportsIndex | Iterable[SupportsIndex], *, program: str = "input.bc"
    ) -> str:
        """Return the command that applies `actions` to `program`; see `LlvmEnv.write_marked`
        for an ``opt`` command."""
        several = [actions] if isinstance(actions, SupportsIndex) else list(actions)
        words = [self.find_name(int(action.__index__())) for action in several]
        return shlex.join([*_COMMAND, self.name, *_OUTPUT, program, *words])

    def from_string(self, string: str) -> list[int]:
        """Return the actions of a command or of a list of names.

        Marks are checked against the program only when they are applied. Raises
        `UnknownNameError` for an unknown name.
        """
        return [self[word] for word in split_command(string)]

    def _refusal(self, action: int) -> str | None:
        """Return the reason why `action`, a number in the range, is not a member now, or None."""
        mark = self.find_mark(action)
        if mark is None:
            return None
        point = self._listed.get(mark.point)
        if point is None:
            listed = ", ".join(
                [p.name for p in self.points if p.kind == mark.kind][:_POINTS_IN_REPR]
            )
            hint = f"choose from {listed}, ..." if listed else f"there is no {mark.kind} now"
            return (
                f"{mark}: the program has no {mark.point}; it never had one, or a pass removed it: "
                f"{hint}"
            )
        if not point.allowed >> mark.choice & 1:
            return f"{mark}: not possible for {point.label}; choose from {point.choices}"
        return None

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return a copy with its own random generator; the actions are shared."""
        twin = copy.copy(self)
        twin._np_random = copy.deepcopy(self._np_random, memo)
        memo[id(self)] = twin
        return twin

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, MarksSpace)
            and (self.items, self._ids) == (other.items, other._ids)
            and list(map(repr, self.points)) == list(map(repr, other.points))
        )

    __hash__ = None  # type: ignore[assignment]  # not hashable, like other spaces with __eq__

    def __repr__(self) -> str:
        counts = ", ".join(f"{sum(p.kind == k for p in self.points)} {k}s" for k in KINDS)
        return f"MarksSpace({len(self.items)} passes and levels; {counts})"


class _Names(Sequence[str]):
    """The names of all numbers, made on demand: there are a hundred thousand."""

    def __init__(self, space: MarksSpace) -> None:
        self._space = space

    def __len__(self) -> int:
        return int(self._space.n)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self._space.find_name(number) for number in range(*index.indices(len(self)))]
        return self._space.find_name(index)

    def __iter__(self) -> Iterator[str]:
        return map(self._space.find_name, range(len(self)))

    def __contains__(self, value: object) -> bool:
        number = self._space.find(value) if isinstance(value, str) else None
        return number is not None and number < len(self)

    def index(self, value: Any, start: int = 0, stop: int | None = None) -> int:
        """Return the number of a name, or raise `ValueError`."""
        number = self._space.find(value) if isinstance(value, str) else None
        if number is None or not start <= number < (len(self) if stop is None else stop):
            raise ValueError(f"{value!r} is not an action")
        return number


def split_command(text: str) -> list[str]:
    """Return the names of the actions in a command or a list of names.

    >>> split_command("compiler-gym run --action-space Marks -- main.bc call:1=never -Oz")
    ['call:1=never', '-Oz']
    """
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # untyped callers
        raise InvalidActionError(f"{text!r} is not a string ({type(text).__name__})")
    try:
        words = split_words(text)
    except ValueError as error:
        raise InvalidActionError(f"cannot read {text!r:.80}: {error}") from error
    if not words or words[0] != _COMMAND[0]:
        return words
    if "--" not in words:
        raise InvalidActionError(
            f"cannot read {text!r:.80}; write it as "
            f"{' '.join((*_COMMAND, 'SPACE', *_OUTPUT))} PROGRAM ACTIONS"
        )
    return words[words.index("--") + 2 :]


def _groups(point: DecisionPoint) -> tuple[str, ...]:
    """Return the kind of a point and the functions that it involves."""
    if point.kind == "call":
        caller, _, callee = point.label.partition(" -> ")
        return "call", f"caller {caller}", f"callee {callee}"
    function = point.label.partition(", ")[0]
    return point.kind, f"{point.kind}s of {function}"


def _points_of_marks(items: Iterable[CommandlineFlag]) -> tuple[int, dict[str, DecisionPoint]]:
    """Return the number of ids and the points from the items that `marking` wrote."""
    ids, points = 0, dict[str, DecisionPoint]()
    for name, _, text in items:
        kind, _, id = name.partition(":")
        if kind == "ids":
            ids = int(id)
            continue
        allowed, _, label = text.partition(" ")
        points[name] = DecisionPoint(kind, int(id), int(allowed), label)
    return ids, points
