# SPDX-License-Identifier: MIT
"""A random chain of operations: products, biases, sums and ReLUs."""

import random

from compiler_gym_mlir.programs.writing import Writer, add_bias, product, write_relu, write_sum

__all__ = ["random_chain"]

_WIDTHS = (16, 24, 32, 48, 64, 96, 128)
_LONGEST_CHAIN = 5


def random_chain(seed: int, element: str = "f32") -> str:
    """Return the module for `seed`, the same on every machine."""
    choose = random.Random(seed)
    writer = Writer(element)
    value = writer.argument(choose.choice(_WIDTHS), choose.choice(_WIDTHS))
    steps = [choose.choice(("product", "bias", "sum", "relu")) for _ in range(_LONGEST_CHAIN)]
    for step in ["product", *steps[: choose.randrange(1, _LONGEST_CHAIN)]]:
        rows, columns = writer.shapes[value]
        if step == "product":
            value = product(writer, value, writer.argument(columns, choose.choice(_WIDTHS)))
        elif step == "bias":
            value = add_bias(writer, value, writer.argument(columns), 1)
        elif step == "sum":
            value = write_sum(writer, value, writer.argument(rows, columns))
        else:
            value = write_relu(writer, value)
    return writer.text(value)
