# SPDX-License-Identifier: MIT
"""One transformation of one operation, as a record and as a line of text.

``tile matmul0 8 32 4`` names the kind, the operation by its tag, and numbers whose meaning depends
on the kind. This module does not load MLIR.
"""

from dataclasses import dataclass
from enum import Enum

from compiler_gym.errors import InvalidActionError

__all__ = ["KINDS", "Kind", "Move", "Numbers", "parse_move"]


class Numbers(Enum):
    """The meaning of the numbers after an operation's tag."""

    NONE = "none"
    SIZES = "a size for each loop, outermost first; 0 skips the loop"
    MULTIPLES = "for each loop, the multiple to pad its length to; 1 for no padding"
    ORDER = "the numbers of the loops in their new order"
    MAYBE_SIZES = "nothing, or a vector length for each loop"
    OPERAND = "the number of an operand, and of surrounding loops to hoist its copy out of"
    FACTOR = "the number of iterations to merge into one"


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of transformation."""

    name: str
    numbers: Numbers
    description: str
    of_operation: bool = True
    """True if it applies to an operation; otherwise it transforms the whole function."""


_ALL = (
    Kind("tile", Numbers.SIZES, "Split loops into blocks of these sizes, using loops."),
    Kind("parallel", Numbers.SIZES, "Split loops into blocks, using one parallel `scf.forall`."),
    Kind("fuse", Numbers.SIZES, "Tile, and compute the producers inside the blocks."),
    Kind("interchange", Numbers.ORDER, "Change the order of the loops."),
    Kind("generalize", Numbers.NONE, "Convert a named operation to `linalg.generic`."),
    Kind("decompose", Numbers.NONE, "Replace an operation by simpler ones, such as a 2-D "
         "convolution of height 1 by a 1-D one."),
    Kind("im2col", Numbers.NONE, "Replace a convolution by a copy and a matrix product."),
    Kind("pad", Numbers.MULTIPLES, "Pad the operands, so that all blocks are full."),
    Kind("promote", Numbers.OPERAND, "Copy an operand's block to a separate buffer, outside some "
         "of the surrounding loops, like the packing in a matrix library."),
    Kind("pack", Numbers.SIZES, "Store the operands in blocks of these sizes."),
    Kind("unroll", Numbers.FACTOR, "Unroll the innermost loop around the operation."),
    Kind("vectorize", Numbers.MAYBE_SIZES, "Vectorise the operation, with masks for loops "
         "without a fixed length, and keep loop-carried values in registers."),
    Kind("hoist", Numbers.NONE, "Move invariant code out of loops.", of_operation=False),
    Kind("outerproduct", Numbers.NONE, "Lower vector contractions to outer products.",
         of_operation=False),
    Kind("dot", Numbers.NONE, "Lower vector contractions to dot products.", of_operation=False),
    Kind("parallelarith", Numbers.NONE, "Lower vector contractions to plain arithmetic.",
         of_operation=False),
)  # fmt: skip

KINDS: dict[str, Kind] = {kind.name: kind for kind in _ALL}
"""Every kind of transformation, by name."""


@dataclass(frozen=True, slots=True)
class Move:
    """One transformation with its operands.

    >>> parse_move("tile matmul0 8 32 4")
    Move(kind='tile', operation='matmul0', numbers=(8, 32, 4))
    >>> str(Move("hoist"))
    'hoist'
    """

    kind: str
    operation: str = ""
    numbers: tuple[int, ...] = ()

    def __str__(self) -> str:
        return " ".join([self.kind, *filter(None, [self.operation]), *map(str, self.numbers)])


def parse_move(text: str) -> Move:
    """Parse one move; raise `InvalidActionError` if `text` is not a move."""
    words = text.replace("[", " ").replace("]", " ").replace(",", " ").split()
    if not words or words[0] not in KINDS:
        raise InvalidActionError(
            f"no transformation {text.strip()[:80]!r}; use one of {', '.join(KINDS)}, as in "
            "'tile matmul0 8 32 4'"
        )
    kind = KINDS[words[0]]
    operation, numbers = (
        ("", words[1:]) if not kind.of_operation else (" ".join(words[1:2]), words[2:])
    )
    if kind.of_operation and (not operation or operation.isdecimal()):
        raise InvalidActionError(f"{text!r} names no operation: write {kind.name} TAG ...")
    if not all(word.isdecimal() and len(word) < 10 for word in numbers):
        raise InvalidActionError(f"{text!r}: write whole numbers after {operation}")
    if kind.numbers is Numbers.NONE and numbers:
        raise InvalidActionError(f"{text!r}: {kind.name} takes no numbers")
    return Move(kind.name, operation, tuple(map(int, numbers)))
