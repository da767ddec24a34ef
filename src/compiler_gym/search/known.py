# SPDX-License-Identifier: MIT
"""Starts of a search: the compiler's optimisation levels, and sequences good on other programs.

A compiler registers a file of sequences: names of actions, one sequence per line. A line whose
names are not all in the action space is skipped.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from itertools import zip_longest
from typing import Any

import gymnasium

from compiler_gym.errors import InvalidActionError
from compiler_gym.lazy import parts
from compiler_gym.spaces import action_names, find_actions

__all__ = [
    "default_starts",
    "find_known_sequences",
    "level_sequences",
    "move_names",
    "starting_sequences",
]

_LEVEL = re.compile(r"-?O[0-9a-z]+")


def default_starts(space: gymnasium.Space[Any]) -> list[list[int]]:
    """Return the optimisation levels of `space`, alternating with the known sequences.

    The levels begin with the last, ``-Oz`` for LLVM. On a large module, time suffices only for the
    first few starts.
    """
    names = move_names(space)
    turns = zip_longest(reversed(level_sequences(names)), find_known_sequences(names))
    return [start for turn in turns for start in turn if start is not None]


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
    """Return the known sequences of actions in `names`, as numbers, the best first."""
    number = {name: i for i, name in enumerate(names)}
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
