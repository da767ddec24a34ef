# SPDX-License-Identifier: MIT
"""Number the actions of any action space from zero, for a search to choose from.

Starts are the compiler's optimisation levels and sequences good on other programs. A compiler
registers a file of sequences: names of actions, one sequence per line, the best first. A line whose
names are not all in the action space is skipped. A line that begins with ``...`` continues the best
sequence so far.
"""

import random
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.resources import files
from typing import Any

import gymnasium

from compiler_gym.errors import InvalidActionError
from compiler_gym.lazy import parts
from compiler_gym.search.strategy import CONTINUE, MoveSequence
from compiler_gym.spaces import action_names, action_text, find_actions

_SAMPLES = 256
Neighbour = Callable[[Any, random.Random], Any]
_FIRST_GROUP = 1 << 40
"""Larger than the number of any action."""


class Moves:
    """A fixed list of actions.

    It contains all actions of a discrete space, and 256 samples of any other space, drawn with
    `seed`. Members listed by the space itself (`moves`, `move_names`) come first, and a space
    with neighbours of a member (`neighbour`) lets the list grow: see `vary`. If actions are
    settings, several can be packed into one move, which is compiled once.
    """

    def __init__(self, space: gymnasium.Space[Any], *, seed: int) -> None:
        self._names: Sequence[str] = move_names(space)
        self._actions: Sequence[Any]
        self._neighbour: Neighbour | None = getattr(space, "neighbour", None)
        self._number_by_text: dict[str, int] = {}
        self._lock = threading.Lock()
        # If actions depend on the program, `dense` is the number of those that do not.
        dense: int | None = getattr(space, "dense", None)
        self._find_name: Callable[[int], str] | None = None
        if dense is not None:
            self._actions, self._names = range(dense), self._names[:dense]
            self._find_name = getattr(space, "find_name", None)
        elif isinstance(space, gymnasium.spaces.Discrete):
            self._actions = range(int(space.start), int(space.start) + int(space.n))
        else:
            space.seed(seed)
            listed: list[Any] = space.moves() if self._names else []  # type: ignore[attr-defined]  # it has both
            plain: Callable[[Any], Any] = getattr(space, "to_plain", lambda action: action)
            self._actions = [*listed, *(plain(space.sample()) for _ in range(_SAMPLES))]
        self.sets: tuple[int, ...] = tuple(getattr(space, "sets", ()))
        """The index of the option that each action sets; empty if the order of actions matters."""
        self.rest: int | None = getattr(space, "rest", None)
        """The action that leaves the rest of an episode to the compiler if actions are answers
        to its questions; None otherwise."""
        self.levels = frozenset(level for (level,) in level_sequences(self._names))
        """Optimisation levels, each of which takes as long as a whole compilation."""
        if self.rest is not None:
            self.levels |= {self.rest}
        self._options: range = getattr(space, "options", range(0))
        self.depend_on_program = dense is not None
        """True if there are more actions, which keep their own numbers."""
        self._groups: list[MoveSequence] = []
        self._group_by_moves: dict[MoveSequence, int] = {}

    def __len__(self) -> int:
        return len(self._actions)

    def pack(self, moves: Sequence[int]) -> MoveSequence:
        """Return `moves` as one move if they are settings or answers, and unchanged otherwise.

        Consecutive decisions and the step after them also become one move, so that the
        intermediate program is not observed.
        """
        flat = self.flat(moves)
        if self.sets or self.rest is not None:
            return self._group(flat)
        if not self.depend_on_program:
            return flat
        packed: list[int] = []
        run: list[int] = []
        for move in flat:
            run.append(move)
            if not self._is_decision(move):
                packed += self._group(tuple(run))
                run = []
        return (*packed, *self._group(tuple(run)))

    def join(self, moves: Sequence[int]) -> MoveSequence:
        """Return `moves` as one move, of which only the final result is observed."""
        return self._group(self.flat(moves))

    def _is_decision(self, move: int) -> bool:
        return move >= len(self) or move in self._options

    def _group(self, flat: MoveSequence) -> MoveSequence:
        if len(flat) < 2:
            return flat
        if flat not in self._group_by_moves:
            self._group_by_moves[flat] = _FIRST_GROUP + len(self._groups)
            self._groups.append(flat)
        return (self._group_by_moves[flat],)

    def finish(self, moves: Sequence[int]) -> MoveSequence:
        """Return `moves`; answers become one move that completes the episode."""
        if self.rest is None:
            return tuple(moves)
        flat = (*self.flat(moves), self.rest)
        return self.pack(flat[: flat.index(self.rest) + 1])

    def flat(self, moves: Sequence[int]) -> MoveSequence:
        """Return `moves` as individual actions."""
        return tuple(
            single
            for move in moves
            for single in (self._groups[move - _FIRST_GROUP] if move >= _FIRST_GROUP else (move,))
        )

    @property
    def can_vary(self) -> bool:
        """True if actions have neighbours."""
        return self._neighbour is not None

    def vary(self, move: int, generator: random.Random) -> int:
        """Return a move that differs from `move` in one part, or `move` if it has no parts."""
        if self._neighbour is None or self.sets:
            return move
        varied = self._neighbour(self._actions[move], generator)
        if varied is None:
            return move
        assert isinstance(self._actions, list)
        with self._lock:  # the strategies of several programs share the list
            key = repr(varied)
            if key not in self._number_by_text:
                self._number_by_text[key] = len(self._actions)
                self._actions.append(varied)
            return self._number_by_text[key]

    def action(self, move: int) -> Any:
        """Return the argument of the environment's ``step`` for `move`, a single action."""
        return self._actions[move] if move < len(self) else move

    def actions(self, moves: Sequence[int]) -> list[Any]:
        """Return the argument of the environment's ``multistep`` for `moves`."""
        return [self.action(move) for move in self.flat(moves)]

    def name(self, move: int) -> str:
        """Return the name or text of an action; for several, separated by spaces."""
        if move >= _FIRST_GROUP:
            return " ".join(map(self.name, self.flat([move])))
        if self._find_name is not None:
            return self._find_name(move)
        return self._names[move] if move < len(self._names) else action_text(self._actions[move])


_LEVEL = re.compile(r"-?O[0-9a-z]+")


def default_starts(space: gymnasium.Space[Any]) -> list[list[int]]:
    """Return the known sequences of `space`, and its optimisation levels among them.

    The first known sequence is the best alone. The last level, ``-Oz`` for LLVM, comes second, and
    the others after the tenth start, because ten have to suffice on a large module. A start that
    begins with `CONTINUE` continues the best sequence so far.
    """
    names = move_names(space)
    known, levels = _read_sequences({"...": CONTINUE}, names), level_sequences(names)[::-1]
    return [*known[:1], *levels[:1], *known[1:9], *levels[1:], *known[9:]]


def starting_sequences(
    given: Iterable[str | Sequence[int]] | None, space: gymnasium.Space[Any]
) -> Sequence[Sequence[int]]:
    """Return the starts of a search in `space`, as sequences of action numbers.

    None stands for the default starts. In a text, names are separated by spaces, and
    ``recipe NAME`` stands for the actions of a recipe. The optimisation levels are appended.
    Raises `InvalidActionError` for a name that is not an action.
    """
    if given is None:
        return default_starts(space)
    listed = [_start_named(space, start) if isinstance(start, str) else start for start in given]
    return [*listed, *level_sequences(move_names(space))] if listed else ()


def move_names(space: gymnasium.Space[Any]) -> tuple[str, ...]:
    """Return the names of the first actions of a search in `space`, or of all discrete actions.

    >>> move_names(gymnasium.spaces.Discrete(3))
    ()
    """
    return tuple(getattr(space, "move_names", ()) or action_names(space))


def level_sequences(names: Sequence[str]) -> list[list[int]]:
    """Return the optimisation levels (-Oz, ...) among the actions in `names`, as numbers.

    >>> level_sequences(["adce", "-O3", "-Oz"])
    [[1], [2]]
    """
    return [[number] for number, name in enumerate(names) if _LEVEL.fullmatch(name)]


def find_known_sequences(names: Sequence[str]) -> list[list[int]]:
    """Return the known sequences of actions in `names`, as numbers, the best first.

    Continuations of others are not among them.
    """
    return _read_sequences({}, names)


def _read_sequences(marks: dict[str, int], names: Sequence[str]) -> list[list[int]]:
    number = {name: i for i, name in enumerate(names)} | marks
    lines = (line.split() for line in _lines_of_sequences())
    return [[number[name] for name in line] for line in lines if all(n in number for n in line)]


def _start_named(space: gymnasium.Space[Any], text: str) -> list[Any]:
    """Return the actions of a start; an entry point may read starts that begin with its name."""
    first, *arguments = text.split() or [""]
    start = parts("starts").get(first)
    if start is None:
        return find_actions(space, text.split())
    names = start.load()(*arguments)
    try:
        return find_actions(space, names)
    except InvalidActionError as error:
        requirement = next((name for name in names if "=" in name), "its actions")
        raise InvalidActionError(
            f"this action space lacks some actions of the {text}: choose one with {requirement}, "
            "using --action-space"
        ) from error


def _lines_of_sequences() -> Iterator[str]:
    for entry in parts("starting_sequences").values():
        file = files(entry.load()).joinpath("starting_sequences.txt")
        lines = file.read_text(encoding="utf-8").splitlines()
        yield from (line for line in lines if line and not line.startswith("#"))
