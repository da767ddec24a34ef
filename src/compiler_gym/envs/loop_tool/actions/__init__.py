# SPDX-License-Identifier: MIT
"""The action spaces: a row for each action, with its effect on the cursor.

An action that does not apply at the cursor has no effect, and reports that, as in
CompilerGym 0.2.5.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from compiler_gym.envs.loop_tool.actions import changes
from compiler_gym.envs.loop_tool.state.cursor import Cursor
from compiler_gym.session import ActionSpaceSpec, CommandlineSpec, FlagSpec

__all__ = ["ACTION_SPACES", "FACTORS", "LOOPS", "SIMPLE", "SPLIT", "TABLE", "Action"]

SIMPLE, SPLIT, LOOPS = "simple", "split", "loops"
FACTORS = (2, 4, 8, 16, 32)
"""By what a loop can be split."""


@dataclass(frozen=True, slots=True)
class Action:
    """One action: its name, what it does in words, and to a cursor."""

    name: str
    description: str
    apply: Callable[[Cursor], Cursor]


def _up(cursor: Cursor) -> Cursor:
    if not cursor.resizes:
        return cursor.move_by(1, around=True)
    return cursor.change_loop(lambda tree, path: changes.resize(tree, path, 1))


def _down(cursor: Cursor) -> Cursor:
    if not cursor.resizes:
        return cursor.move_by(-1, around=True)
    return cursor.change_loop(lambda tree, path: changes.resize(tree, path, -1))


def _split_by(factor: int) -> Action:
    return Action(
        f"split_{factor}",
        f"Give each iteration of the loop a loop of {factor} inside",
        lambda cursor: cursor.change_loop(lambda tree, path: changes.split(tree, path, factor)),
    )


def _pack_action(operand: int, word: str) -> Action:
    return Action(
        f"pack_{word}",
        f"Copy the {word} operand's part before each run of the loop's body, or no longer",
        lambda cursor: cursor.change_loop(lambda tree, path: changes.pack(tree, path, operand)),
    )


_SIMPLE = (
    Action(
        "toggle_mode",
        "Let up and down resize the loop (size, as at a reset) or choose another (select)",
        Cursor.toggle,
    ),
    Action(
        "up",
        "size: take an iteration from the loop outside, which keeps the tail; select: the next "
        "loop inside, from the last to the first",
        _up,
    ),
    Action(
        "down",
        "size: give the tail, or else an iteration, to the loop outside; select: the next loop "
        "outside, from the first to the last",
        _down,
    ),
    Action(
        "toggle_thread",
        "Spread the loop over threads, or no longer",
        lambda cursor: cursor.change_loop(changes.toggle_parallel),
    ),
)
_DIVIDE = Action(
    "split",
    "Give each iteration of the loop a loop of one inside, to be resized",
    lambda cursor: cursor.change_loop(changes.divide),
)
_LOOPS = (
    Action("up", "Go to the loop above", lambda cursor: cursor.move_by(-1, around=False)),
    Action("down", "Go to the loop below", lambda cursor: cursor.move_by(1, around=False)),
    Action(
        "swap_up",
        "Change places with the loop outside",
        lambda cursor: cursor.change_loop(changes.swap_up, move=-1),
    ),
    Action(
        "swap_down",
        "Change places with the loop inside",
        lambda cursor: cursor.change_loop(changes.swap_down, move=1),
    ),
    *map(_split_by, FACTORS),
    Action(
        "merge",
        "Make one loop of this and the loop inside over the same dimension",
        lambda cursor: cursor.change_loop(changes.merge),
    ),
    Action(
        "fuse",
        "Run the next loop with the same steps in this one",
        lambda cursor: cursor.change_loop(changes.fuse),
    ),
    Action(
        "unroll",
        "Write out the loop's iterations, or no longer",
        lambda cursor: cursor.change_loop(changes.toggle_unroll),
    ),
    Action(
        "vectorise",
        "Run the innermost loop's iterations as vectors, or no longer",
        lambda cursor: cursor.change_loop(changes.toggle_vectorise),
    ),
    Action(
        "parallelise",
        "Spread the loop over threads, or no longer",
        lambda cursor: cursor.change_loop(changes.toggle_parallel),
    ),
    _pack_action(0, "first"),
    _pack_action(1, "second"),
    Action("undo", "Take back the last change of the tree", Cursor.undo),
)

TABLE: Mapping[str, tuple[Action, ...]] = {
    SIMPLE: _SIMPLE,
    SPLIT: (*_SIMPLE, _DIVIDE),
    LOOPS: _LOOPS,
}
"""The actions of each space, by its name."""

_DESCRIPTIONS = {
    SIMPLE: "CompilerGym 0.2.5's: resize loops that are there, and spread them over threads",
    SPLIT: "The same, and one more loop",
    LOOPS: "LoopTune's: move, split, merge, fuse and annotate loops, and take it back",
}

ACTION_SPACES = tuple(
    ActionSpaceSpec(
        name,
        CommandlineSpec(tuple(FlagSpec(a.name, a.name, a.description) for a in TABLE[name])),
        description,
    )
    for name, description in _DESCRIPTIONS.items()
)
"""What clients are told of them."""
