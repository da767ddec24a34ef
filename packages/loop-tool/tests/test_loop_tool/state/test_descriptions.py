# SPDX-License-Identifier: MIT
"""One line becomes a program, einsum strings as numpy means them."""

import numpy as np
import pytest

from compiler_gym.errors import BenchmarkInitError, UnknownNameError
from compiler_gym_loop_tool.state.descriptions import KINDS, describe, einsum
from compiler_gym_loop_tool.state.reading import parse_program
from compiler_gym_loop_tool.state.reference import random_inputs, reference_outputs


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_a_program_of_its_sizes(kind: str) -> None:
    program = parse_program(describe(kind, ""))
    assert dict(program.dims) == dict(KINDS[kind].sizes)
    assert set(program.dims) == {dim for s in program.statements for dim in s.dims}


@pytest.mark.parametrize(
    "text",
    ["mk,kn->mn", "bij,bjk->bik", "ij->ji", "ij->", "i,j->ij", "ii,->i", "ii", "iij,j->i", "mk,kn"],
)
def test_an_einsum_string_means_what_numpy_means(text: str) -> None:
    letters = dict.fromkeys(text.replace(",", "").replace("->", ""))
    sizes = {letter: 3 + at for at, letter in enumerate(letters)}
    program = parse_program(einsum(text, sizes))
    inputs = random_inputs(program)
    wanted = np.einsum(text, *inputs.values())
    np.testing.assert_allclose(
        reference_outputs(program, inputs)["Y"], wanted, rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize(
    ("kind", "words", "error", "message"),
    [
        ("matmull", "", UnknownNameError, "did you mean matmul"),
        ("matmul", "z=4", BenchmarkInitError, "no dimension 'z'"),
        ("matmul", "m=4,m=5", BenchmarkInitError, "is repeated"),
        ("matmul", "m=x", BenchmarkInitError, "write DIMENSION=SIZE"),
        ("einsum", "mk,k.n->mn/m=4", BenchmarkInitError, "not an einsum string"),
        ("einsum", "", BenchmarkInitError, "not an einsum string"),
        ("einsum", "mk->mm/m=4,k=4", BenchmarkInitError, "result 'mm' repeats a letter"),
        ("matmul", "m=\u0664", BenchmarkInitError, "write DIMENSION=SIZE"),
        ("einsum", "mk,kn/m=4", BenchmarkInitError, "give one for each"),
        (
            "einsum",
            "mk->m/m=4",
            BenchmarkInitError,
            "sizes are those of m; give one for each of m, k",
        ),
        ("einsum", "mk->z/m=4,k=4", BenchmarkInitError, "no operand has the dimension 'z'"),
    ],
)
def test_a_line_that_says_nothing_is_refused(
    kind: str, words: str, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        describe(kind, words)
