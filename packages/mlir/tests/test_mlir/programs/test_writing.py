# SPDX-License-Identifier: MIT
"""What a writer writes is a module that MLIR reads, of the shapes that it says."""

import pytest

from compiler_gym.errors import BenchmarkInitError
from compiler_gym_mlir.programs.writing import Writer, convolution, count_elements, out_size
from test_mlir.schedules import scheduled


def test_a_border_and_a_row_are_written() -> None:
    writer = Writer()
    framed = writer.pad(writer.argument(1, 3, 6, 8), (0, 0, 1, 2))
    assert writer.shapes[framed] == (1, 3, 8, 12)
    image = convolution(writer, framed, writer.argument(4, 3, 3, 3), 1)
    row = writer.reshape(image, 1, count_elements(writer.shapes[image]))
    assert writer.shapes[row] == (1, 4 * 6 * 10)
    program = scheduled(writer.text(row))
    assert "tensor.pad" in program.payload
    assert "tensor.collapse_shape" in program.payload


def test_windows_are_counted() -> None:
    assert out_size(8, 3, 2) == 3
    assert out_size(3, 3, 1) == 1
    with pytest.raises(BenchmarkInitError, match="smaller than its filter"):
        out_size(2, 3, 1)
