# SPDX-License-Identifier: MIT
"""One transformation of one operation, as a record and as a line of text.

``tile matmul0 8 32 4`` names the kind, the operation by its tag, and numbers whose meaning the
kind says. Nothing of MLIR is loaded here.
"""

from dataclasses import dataclass
from enum import Enum

from compiler_gym.errors import InvalidActionError

__all__ = ["KINDS", "Kind", "Move", "Numbers", "parse_move"]


class Numbers(Enum):
    """What the numbers behind an operation's tag mean."""

    NONE = "none"
    SIZES = "a size for each loop, outermost first; 0 leaves the loop"
    MULTIPLES = "a number for each loop that its length is padded to a multiple of, 1 for none"
    ORDER = "the loops' numbers in their new order"
    MAYBE_SIZES = "nothing, or a length of the vector for each loop"
    OPERAND = "the number of an operand, and of how many loops around to place the copy outside"
    FACTOR = "how many iterations become one"


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of transformation."""

    name: str
    numbers: Numbers
    description: str
    of_operation: bool = True
    """True if it names an operation; else it changes the whole function."""


_ALL = (
    Kind("tile", Numbers.SIZES, "Split loops into blocks of these sizes, as loops."),
    Kind("parallel", Numbers.SIZES, "The same, as one parallel `scf.forall`."),
    Kind("fuse", Numbers.SIZES, "Tile, and compute the producers inside of the blocks."),
    Kind("interchange", Numbers.ORDER, "Change the order of the loops."),
    Kind("generalize", Numbers.NONE, "Write a named operation as `linalg.generic`."),
    Kind("decompose", Numbers.NONE, "Write an operation as simpler ones, a 2-D convolution of "
         "height 1 as a 1-D one."),
    Kind("im2col", Numbers.NONE, "Write a convolution as a copy and a matrix product."),
    Kind("pad", Numbers.MULTIPLES, "Pad the operands, so that blocks are whole."),
    Kind("promote", Numbers.OPERAND, "Copy an operand's block to a place of its own, outside of "
         "some of the loops around: the packing of a matrix library."),
    Kind("pack", Numbers.SIZES, "Lay the operands out in blocks of these sizes."),
    Kind("unroll", Numbers.FACTOR, "Unroll the innermost loop around the operation."),
    Kind("vectorize", Numbers.MAYBE_SIZES, "Write the operation in vectors, with masks where its "
         "loops have no fixed length, and keep what loops carry in registers."),
    Kind("hoist", Numbers.NONE, "Move what does not change out of loops.", of_operation=False),
    Kind("outerproduct", Numbers.NONE, "Lower vector contractions to outer products.",
         of_operation=False),
    Kind("dot", Numbers.NONE, "Lower vector contractions to dot products.", of_operation=False),
    Kind("parallelarith", Numbers.NONE, "Lower vector contractions to plain arithmetic.",
         of_operation=False),
)  # fmt: skip

KINDS: dict[str, Kind] = {kind.name: kind for kind in _ALL}
"""Every transformation, by its name."""


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
    """Return the move that `text` writes; raise `InvalidActionError` if it writes none."""
    words = text.replace("[", " ").replace("]", " ").replace(",", " ").split()
    if not words or words[0] not in KINDS:
        raise InvalidActionError(
            f"{text.strip()[:80]!r} is no transformation: expected one of {', '.join(KINDS)}, as "
            "in 'tile matmul0 8 32 4'"
        )
    kind = KINDS[words[0]]
    operation, rest = (
        ("", words[1:]) if not kind.of_operation else (" ".join(words[1:2]), words[2:])
    )
    if kind.of_operation and (not operation or operation.isdecimal()):
        raise InvalidActionError(f"{text!r} names no operation: expected {kind.name} TAG ...")
    if not all(word.isdecimal() and len(word) < 10 for word in rest):
        raise InvalidActionError(f"{text!r}: expected whole numbers behind {operation}")
    if kind.numbers is Numbers.NONE and rest:
        raise InvalidActionError(f"{text!r}: {kind.name} takes no numbers")
    return Move(kind.name, operation, tuple(map(int, rest)))
