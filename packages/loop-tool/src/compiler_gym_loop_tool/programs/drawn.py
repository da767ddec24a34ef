# SPDX-License-Identifier: MIT
"""Random programs: the same seed gives the same text on any machine.

Only `random.Random` is used, whose sequence for a seed is the same in every Python 3.
"""

import random

__all__ = ["draw"]

_DIMENSIONS = (1, 3, 4, 7, 8, 12, 16, 24, 32, 33, 48, 56, 64, 96, 100, 128)
_DIMS = "mnkpq"
_MOST_POINTS = 2**22


def draw(seed: int) -> str:
    """Return the program of `seed` as text: one to three statements of up to 4M points."""
    choose = random.Random(f"loop nests, version 0: {seed}")
    dims = list(_DIMS[: choose.randrange(1, len(_DIMS) + 1)])
    sizes = {dim: choose.choice(_DIMENSIONS) for dim in dims}
    while _points(sizes) > _MOST_POINTS:
        largest = max(sizes, key=lambda dim: sizes[dim])
        sizes[largest] = max(1, sizes[largest] // 2)
    lines = [f"dim {dim} {size}" for dim, size in sizes.items()]
    value, axes = _operand(choose, "A", dims, lines)
    for name in "BC"[: choose.randrange(3)]:
        operand, operand_axes = _operand(choose, name, dims, lines)
        lines.append(f"x{name} = {choose.choice(('add', 'mul', 'mul', 'max'))} {value} {operand}")
        value, axes = f"x{name}", [dim for dim in dims if dim in {*axes, *operand_axes}]
    if choose.random() < 0.75:
        over = sorted(choose.sample(axes, choose.randrange(1, len(axes) + 1)), key=dims.index)
        lines.append(
            f"s = {choose.choice(('sum', 'sum', 'sum', 'max'))} {value} [{', '.join(over)}]"
        )
        value, axes = "s", [dim for dim in axes if dim not in over]
        if choose.random() < 0.4:
            operand, operand_axes = _operand(choose, "D", dims, lines)
            lines.append(f"y = {choose.choice(('add', 'mul'))} s {operand}")
            value, axes = "y", [dim for dim in dims if dim in {*axes, *operand_axes}]
            if choose.random() < 0.5:
                lines.append("z = max y 0")
                value = "z"
    choose.shuffle(axes)
    lines.append(f"write {value} Y[{', '.join(axes)}]")
    return "\n".join(lines)


def _operand(
    choose: random.Random, name: str, dims: list[str], lines: list[str]
) -> tuple[str, list[str]]:
    """Read a tensor of random dimensions in random order; return its name and dimensions."""
    used = choose.sample(dims, choose.randrange(1, len(dims) + 1))
    lines.append(f"v{name} = read {name}[{', '.join(used)}]")
    return f"v{name}", [dim for dim in dims if dim in used]


def _points(sizes: dict[str, int]) -> int:
    points = 1
    for size in sizes.values():
        points *= size
    return points
