# SPDX-License-Identifier: MIT
"""Convert an action of CompilerGym 0.2.5's ``mlir-v0`` to moves: tilings of a matrix product.

Options without a meaning in the current lowering are ignored: affine loops, the splitting of
transfers, and the separate promotion of full tiles.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from compiler_gym.errors import InvalidActionError
from compiler_gym_mlir.actions.moves import Move

__all__ = ["LOWERINGS", "tilings", "vectors"]

LOWERINGS = ("dot", "parallelarith", "outerproduct")
"""The lowerings that ``dot``, ``matmul`` and ``outer_product`` stand for."""
_LOOPS = 3


def tilings(options: Mapping[str, Any], tag: str, limits: Sequence[int]) -> list[Move]:
    """Return the moves of one ``tile_options``: a loop for each size below its limit, in the
    order of the interchange vector."""
    sizes, order = list(options["tile_sizes"]), list(options["interchange_vector"])
    if len(sizes) != _LOOPS or min(sizes) < 1:
        raise InvalidActionError(f"tile_sizes must be three sizes of at least 1 (got {sizes})")
    if sorted(order) != list(range(_LOOPS)):
        raise InvalidActionError(f"interchange_vector must be an order of 0, 1, 2 (got {order})")
    moves: list[Move] = []
    for loop in order:
        if sizes[loop] < limits[loop]:
            tile = [sizes[loop] if at == loop else 0 for at in range(_LOOPS)]
            moves.append(Move("tile", tag, tuple(tile)))
    if options["promote"]:
        moves += [Move("promote", tag, (operand, 0)) for operand in range(2)]
    return moves


def vectors(options: Mapping[str, Any], tag: str) -> list[Move]:
    """Return the moves of one ``vectorize_options``."""
    number = options["vectorize_to"]
    if type(number) is not int or not 0 <= number < len(LOWERINGS):
        raise InvalidActionError(f"vectorize_to must be 0, 1 or 2 (got {number!r})")
    return [Move("vectorize", tag), Move(LOWERINGS[number])]
