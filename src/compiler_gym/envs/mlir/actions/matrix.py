# SPDX-License-Identifier: MIT
"""The action of CompilerGym 0.2.5's ``mlir-v0`` as moves: tilings of a matrix product, and vectors.

What has no meaning in today's lowering is read and left aside: how affine a loop is called, how
transfers are split, and whether full tiles are promoted apart.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from compiler_gym.envs.mlir.actions.moves import Move
from compiler_gym.errors import InvalidActionError

__all__ = ["LOWERINGS", "tilings", "vectors"]

LOWERINGS = ("dot", "parallelarith", "outerproduct")
"""What ``dot``, ``matmul`` and ``outer_product`` become."""
_LOOPS = 3


def tilings(options: Mapping[str, Any], tag: str, limits: Sequence[int]) -> list[Move]:
    """Return the moves of one ``tile_options``: a loop for each size that is below its limit,
    in the order of the interchange vector."""
    sizes, order = list(options["tile_sizes"]), list(options["interchange_vector"])
    if len(sizes) != _LOOPS or min(sizes) < 1:
        raise InvalidActionError(f"tile_sizes {sizes}: expected three sizes of at least 1")
    if sorted(order) != list(range(_LOOPS)):
        raise InvalidActionError(f"interchange_vector {order}: expected an order of 0, 1 and 2")
    moves: list[Move] = []
    for loop in order:
        if sizes[loop] < limits[loop]:
            one = [sizes[loop] if at == loop else 0 for at in range(_LOOPS)]
            moves.append(Move("tile", tag, tuple(one)))
    if options["promote"]:
        moves += [Move("promote", tag, (operand, 0)) for operand in range(2)]
    return moves


def vectors(options: Mapping[str, Any], tag: str) -> list[Move]:
    """Return the moves of one ``vectorize_options``."""
    number = options["vectorize_to"]
    if type(number) is not int or not 0 <= number < len(LOWERINGS):
        raise InvalidActionError(f"vectorize_to {number!r}: expected a number of 0 to 2")
    return [Move("vectorize", tag), Move(LOWERINGS[number])]
