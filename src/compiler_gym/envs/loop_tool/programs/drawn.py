# SPDX-License-Identifier: MIT
"""Random programs: the same seed always writes the same text, on any machine.

Only `random.Random` draws here, whose sequence of a seed is the same in every Python 3.
"""

import random

__all__ = ["draw"]

_DIMENSIONS = (1, 3, 4, 7, 8, 12, 16, 24, 32, 33, 48, 56, 64, 96, 100, 128)
_DIMS = "mnkpq"
_MOST_POINTS = 2**22


def draw(seed: int) -> str:
    """Return the text of the program of `seed`: one to three statements of up to 4M points."""
    choose = random.Random(f"loop nests, version 0: {seed}")
    dims = list(_DIMS[: choose.randrange(1, len(_DIMS) + 1)])
    sizes = {dim: choose.choice(_DIMENSIONS) for dim in dims}
    while _points(sizes) > _MOST_POINTS:
        largest = max(sizes, key=lambda dim: sizes[dim])
        sizes[largest] = max(1, sizes[largest] // 2)
    lines = [f"dim {dim} {size}" for dim, size in sizes.items()]
    value, shown = _operand(choose, "A", dims, lines)
    for name in "BC"[: choose.randrange(3)]:
        other, more = _operand(choose, name, dims, lines)
        lines.append(f"x{name} = {choose.choice(('add', 'mul', 'mul', 'max'))} {value} {other}")
        value, shown = f"x{name}", [dim for dim in dims if dim in {*shown, *more}]
    if choose.random() < 0.75:
        over = sorted(choose.sample(shown, choose.randrange(1, len(shown) + 1)), key=dims.index)
        lines.append(
            f"s = {choose.choice(('sum', 'sum', 'sum', 'max'))} {value} [{', '.join(over)}]"
        )
        value, shown = "s", [dim for dim in shown if dim not in over]
        if choose.random() < 0.4:
            other, more = _operand(choose, "D", dims, lines)
            lines.append(f"y = {choose.choice(('add', 'mul'))} s {other}")
            value, shown = "y", [dim for dim in dims if dim in {*shown, *more}]
            if choose.random() < 0.5:
                lines.append("z = max y 0")
                value = "z"
    choose.shuffle(shown)
    lines.append(f"write {value} Y[{', '.join(shown)}]")
    return "\n".join(lines)


def _operand(
    choose: random.Random, name: str, dims: list[str], lines: list[str]
) -> tuple[str, list[str]]:
    """Read a tensor of some dimensions in some order; return its name and the dimensions."""
    used = choose.sample(dims, choose.randrange(1, len(dims) + 1))
    lines.append(f"v{name} = read {name}[{', '.join(used)}]")
    return f"v{name}", [dim for dim in dims if dim in used]


def _points(sizes: dict[str, int]) -> int:
    points = 1
    for size in sizes.values():
        points *= size
    return points
