# SPDX-License-Identifier: MIT
"""The action spaces: one row per action, with its effect on the cursor.

An action that does not apply at the cursor has no effect and reports so, as in CompilerGym 0.2.5.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from compiler_gym.session import ActionSpaceSpec, CommandlineSpec, FlagSpec
from compiler_gym_loop_tool.actions import changes
from compiler_gym_loop_tool.state.cursor import Cursor

__all__ = ["ACTION_SPACES", "FACTORS", "LOOPS", "SIMPLE", "SPLIT", "TABLE", "Action"]

SIMPLE, SPLIT, LOOPS = "simple", "split", "loops"
FACTORS = (2, 4, 8, 16, 32)
"""The factors by which a loop can be split."""


@dataclass(frozen=True, slots=True)
class Action:
    """One action: its name, its description, and its effect on a cursor."""

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
        f"Split the loop: give each iteration an inner loop of {factor}",
        lambda cursor: cursor.change_loop(lambda tree, path: changes.split(tree, path, factor)),
    )


def _pack_action(operand: int, word: str) -> Action:
    return Action(
        f"pack_{word}",
        f"Pack the {word} operand before each run of the loop's body, or stop packing it",
        lambda cursor: cursor.change_loop(lambda tree, path: changes.pack(tree, path, operand)),
    )


_SIMPLE = (
    Action(
        "toggle_mode",
        "Switch up and down between resizing the loop (size, as at a reset) and moving (select)",
        Cursor.toggle,
    ),
    Action(
        "up",
        "size: take an iteration from the outer loop, which keeps the tail; select: the next loop "
        "inwards, wrapping around",
        _up,
    ),
    Action(
        "down",
        "size: give the tail, or else an iteration, to the outer loop; select: the next loop "
        "outwards, wrapping around",
        _down,
    ),
    Action(
        "toggle_thread",
        "Run the loop in threads, or stop doing so",
        lambda cursor: cursor.change_loop(changes.toggle_parallel),
    ),
)
_DIVIDE = Action(
    "split",
    "Split the loop: give each iteration an inner loop of one iteration, to be resized",
    lambda cursor: cursor.change_loop(changes.divide),
)
_LOOPS = (
    Action("up", "Go to the loop above", lambda cursor: cursor.move_by(-1, around=False)),
    Action("down", "Go to the loop below", lambda cursor: cursor.move_by(1, around=False)),
    Action(
        "swap_up",
        "Swap with the outer loop",
        lambda cursor: cursor.change_loop(changes.swap_up, move=-1),
    ),
    Action(
        "swap_down",
        "Swap with the inner loop",
        lambda cursor: cursor.change_loop(changes.swap_down, move=1),
    ),
    *map(_split_by, FACTORS),
    Action(
        "merge",
        "Merge with the inner loop over the same dimension",
        lambda cursor: cursor.change_loop(changes.merge),
    ),
    Action(
        "fuse",
        "Move the next loop with the same steps into this one",
        lambda cursor: cursor.change_loop(changes.fuse),
    ),
    Action(
        "unroll",
        "Unroll the loop, or stop doing so",
        lambda cursor: cursor.change_loop(changes.toggle_unroll),
    ),
    Action(
        "vectorise",
        "Vectorise the innermost loop, or stop doing so",
        lambda cursor: cursor.change_loop(changes.toggle_vectorise),
    ),
    Action(
        "parallelise",
        "Run the loop in threads, or stop doing so",
        lambda cursor: cursor.change_loop(changes.toggle_parallel),
    ),
    _pack_action(0, "first"),
    _pack_action(1, "second"),
    Action("undo", "Undo the last change of the tree", Cursor.undo),
)

TABLE: Mapping[str, tuple[Action, ...]] = {
    SIMPLE: _SIMPLE,
    SPLIT: (*_SIMPLE, _DIVIDE),
    LOOPS: _LOOPS,
}
"""The actions of each space, by name."""

_DESCRIPTIONS = {
    SIMPLE: "As in CompilerGym 0.2.5: resize the existing loops and run them in threads",
    SPLIT: "As simple, and one action that splits a loop",
    LOOPS: "As in LoopTune: move, split, merge, fuse and annotate loops, and undo changes",
}

ACTION_SPACES = tuple(
    ActionSpaceSpec(
        name,
        CommandlineSpec(tuple(FlagSpec(a.name, a.name, a.description) for a in TABLE[name])),
        description,
    )
    for name, description in _DESCRIPTIONS.items()
)
"""The specs of the action spaces, as sent to clients."""
