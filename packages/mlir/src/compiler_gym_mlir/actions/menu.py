# SPDX-License-Identifier: MIT
"""The flat list of moves: the same for every payload, applied to the operation at the cursor.

An entry becomes a move, or None if it does not apply to the operation, which defines the mask.
"""

from collections.abc import Callable
from dataclasses import dataclass

from compiler_gym_mlir.actions.moves import Move

__all__ = ["LONGEST_NEST", "MENU", "NEXT", "STOP", "Loops", "compose_move"]

LONGEST_NEST = 7
"""The largest number of loops that entries address: those of a 2-D convolution."""
NEXT, STOP = "next-operation", "stop"
_TILES = (1, 2, 4, 8, 16, 32, 64, 128)
_ROW_TILES = (1, 4, 6, 8, 12, 16)
_COLUMN_TILES = (8, 16, 32, 64)
_DEPTHS = (1, 4, 8)


@dataclass(frozen=True, slots=True)
class Loops:
    """The properties of an operation that the menu needs."""

    tag: str
    iterators: tuple[str, ...]
    limits: tuple[int, ...]

    def of_kind(self, kind: str) -> list[int]:
        """Return the indices of the loops of one kind."""
        return [loop for loop, iterator in enumerate(self.iterators) if iterator == kind]


Resolve = Callable[[Loops], "Move | None"]


def _tile(loop: int, size: int) -> Resolve:
    def resolve(loops: Loops) -> Move | None:
        if loop >= len(loops.limits) or not size < loops.limits[loop]:
            return None
        sizes = [size if at == loop else 0 for at in range(len(loops.limits))]
        return Move("tile", loops.tag, tuple(sizes))

    return resolve


def _block_tiling(kind: str, rows: int, columns: int, depth: int) -> Resolve:
    """Tile the last two parallel loops and the last reduction, and all others with size 1."""

    def resolve(loops: Loops) -> Move | None:
        parallel, reductions = loops.of_kind("parallel"), loops.of_kind("reduction")
        if not parallel or (rows > 1 and len(parallel) < 2) or (depth > 1 and not reductions):
            return None
        sizes = [1] * len(loops.limits)
        sizes[parallel[-1]] = columns
        if len(parallel) > 1:
            sizes[parallel[-2]] = rows
        if kind == "tile":
            if reductions:
                sizes[reductions[-1]] = depth
        else:
            for loop in reductions:
                sizes[loop] = 0
        if any(size > limit for size, limit in zip(sizes, loops.limits, strict=True)):
            return None
        return Move(kind, loops.tag, tuple(sizes))

    return resolve


def _pack_choice(rows: int, columns: int, depth: int) -> Resolve:
    def resolve(loops: Loops) -> Move | None:
        if list(loops.iterators) != ["parallel", "parallel", "reduction"]:
            return None
        return Move("pack", loops.tag, (rows, columns, depth))

    return resolve


def _swap(loop: int) -> Resolve:
    def resolve(loops: Loops) -> Move | None:
        order = list(range(len(loops.limits)))
        if loop + 1 >= len(order):
            return None
        order[loop : loop + 2] = [loop + 1, loop]
        return Move("interchange", loops.tag, tuple(order))

    return resolve


def _move_of_kind(kind: str, *numbers: int) -> Resolve:
    return lambda loops: Move(kind, loops.tag, numbers)


def _pad(loops: Loops) -> Move | None:
    return Move("pad", loops.tag, loops.limits) if min(loops.limits, default=0) > 0 else None


def _on_function(kind: str) -> Resolve:
    return lambda _: Move(kind)


def _entries() -> dict[str, Resolve]:
    entries: dict[str, Resolve] = {}
    for rows in _ROW_TILES:
        for columns in _COLUMN_TILES:
            for depth in _DEPTHS:
                entries[f"block-{rows}x{columns}x{depth}"] = _block_tiling(
                    "tile", rows, columns, depth
                )
    for loop in range(LONGEST_NEST):
        for size in _TILES:
            entries[f"tile-{loop}-{size}"] = _tile(loop, size)
    for rows, columns in ((4, 16), (8, 32), (16, 64), (64, 64)):
        entries[f"fuse-{rows}x{columns}"] = _block_tiling("fuse", rows, columns, 1)
        entries[f"parallel-{rows}x{columns}"] = _block_tiling("parallel", rows, columns, 1)
    for operand in range(2):
        for loops in range(4):
            entries[f"promote-{operand}-{loops}"] = _move_of_kind("promote", operand, loops)
    for sizes in ((8, 32, 4), (8, 32, 64), (16, 16, 16)):
        entries[f"pack-{'x'.join(map(str, sizes))}"] = _pack_choice(*sizes)
    for loop in range(LONGEST_NEST - 1):
        entries[f"interchange-{loop}"] = _swap(loop)
    for factor in (2, 4, 8):
        entries[f"unroll-{factor}"] = _move_of_kind("unroll", factor)
    entries["pad-blocks"] = _pad
    for kind in ("vectorize", "generalize", "decompose", "im2col"):
        entries[f"{kind}-operation"] = _move_of_kind(kind)
    for kind in ("hoist", "outerproduct", "dot", "parallelarith"):
        entries[f"{kind}-all"] = _on_function(kind)
    return entries


MENU: dict[str, Resolve] = _entries()
"""Every entry except `NEXT` and `STOP`, with the function that makes its move."""


def compose_move(
    kind: str, tag: str, numbers: tuple[int, ...], order: tuple[int, ...], loops: int
) -> Move:
    """Return the move of the composite action space, with the numbers that `kind` takes."""
    numbers_by_kind = {
        "tile": numbers[:loops], "parallel": numbers[:loops], "fuse": numbers[:loops],
        "pack": numbers[:loops], "interchange": tuple(at for at in order if at < loops),
        "pad": tuple(max(1, size) for size in numbers[:loops]), "promote": numbers[:2],
        "unroll": numbers[:1],
    }  # fmt: skip
    return Move(kind, tag, numbers_by_kind.get(kind, ()))
