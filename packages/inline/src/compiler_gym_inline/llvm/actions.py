# SPDX-License-Identifier: MIT
"""The actions for each call that the inliner considers, and their textual syntax."""

from compiler_gym.session import ActionSpaceSpec, CommandlineSpec, FlagSpec

__all__ = ["ACTION_SPACES", "ANSWERS", "LETTERS", "LEVEL_OF", "REST", "STYLE"]

STYLE = "inlining"
"""The style of the command lines of these action spaces."""

LEVEL_OF = {"size": "Oz", "speed": "O3"}
"""The level whose pipeline runs, by the goal of the program."""

_ITEMS = (
    FlagSpec("default", "d", "Use the choice of LLVM's own inliner"),
    FlagSpec("inline", "i", "Inline the call"),
    FlagSpec("no-inline", "n", "Do not inline the call"),
)

REST = "rest"
"""The action that leaves all remaining calls to LLVM."""

_ITEMS_AND_REST = (*_ITEMS, FlagSpec(REST, "r", "Leave this and all later calls to LLVM"))

ANSWERS = tuple(item.name for item in _ITEMS)
"""The engine's name for each action."""

LETTERS = "".join(item.flag for item in _ITEMS_AND_REST)
"""The letters of all actions, in order."""

ACTION_SPACES = (
    ActionSpaceSpec(
        "Inlining",
        CommandlineSpec(_ITEMS, style=STYLE),
        "The decision for one call",
    ),
    ActionSpaceSpec(
        "InliningAndRest",
        CommandlineSpec(_ITEMS_AND_REST, style=STYLE),
        "The decisions of Inlining, and one that leaves all further calls to LLVM and ends the "
        "episode",
    ),
)
