# SPDX-License-Identifier: MIT
"""The actions on a call that the inliner asks about, and the syntax of a list of them."""

from compiler_gym.session import ActionSpaceSpec, CommandlineSpec, FlagSpec

__all__ = ["ACTION_SPACES", "ANSWERS", "LETTERS", "LEVEL_OF", "REST", "STYLE"]

STYLE = "inlining"
"""What its command lines are called."""

LEVEL_OF = {"size": "Oz", "speed": "O3"}
"""The level whose pipeline runs, by what the program is optimised for."""

_ITEMS = (
    FlagSpec("default", "d", "What LLVM's own inliner would do"),
    FlagSpec("inline", "i", "Put the callee's code in the place of the call"),
    FlagSpec("no-inline", "n", "Leave it a call"),
)

REST = "rest"
"""The action that ends the questions."""

_ITEMS_AND_REST = (*_ITEMS, FlagSpec(REST, "r", "What LLVM would do, here and at all that follow"))

ANSWERS = tuple(item.name for item in _ITEMS)
"""What the engine is told for each action."""

LETTERS = "".join(item.flag for item in _ITEMS_AND_REST)
"""How each action is written, in order."""

ACTION_SPACES = (
    ActionSpaceSpec(
        "Inlining",
        CommandlineSpec(_ITEMS, style=STYLE),
        "The answer to the inliner's question about one call",
    ),
    ActionSpaceSpec(
        "InliningAndRest",
        CommandlineSpec(_ITEMS_AND_REST, style=STYLE),
        "The answers of Inlining, and one that leaves all further calls to LLVM and so ends the "
        "episode",
    ),
)
