# SPDX-License-Identifier: MIT
"""numpy's answer is right where numpy itself has a function for it."""

import numpy as np

from compiler_gym_loop_tool.state.descriptions import describe
from compiler_gym_loop_tool.state.reading import parse_program
from compiler_gym_loop_tool.state.reference import compare, random_inputs, reference_outputs


def answer(kind: str, words: str) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    program = parse_program(describe(kind, words))
    inputs = random_inputs(program)
    return inputs, reference_outputs(program, inputs)


def test_softmax() -> None:
    inputs, outputs = answer("softmax", "m=5,n=9")
    x = np.exp(inputs["X"].astype(float))
    np.testing.assert_allclose(outputs["Y"], x / x.sum(1, keepdims=True), rtol=1e-6)


def test_a_large_elementwise_program_is_computed_in_parts() -> None:
    inputs, outputs = answer("exp_sub", "m=3000,n=2000")
    wanted = np.exp(inputs["X"].astype(float) - inputs["H"][:, None])
    np.testing.assert_allclose(outputs["Y"], wanted, rtol=1e-6)


def test_convolution_with_a_stride() -> None:
    inputs, outputs = answer("conv2d_stride2", "y=3,x=4,f=2,r=3,s=3,c=2")
    x, w = inputs["X"].astype(float), inputs["W"].astype(float)
    for i in range(3):
        for j in range(4):
            window = x[0, 2 * i : 2 * i + 3, 2 * j : 2 * j + 3]
            wanted = np.einsum("rsc,rscf->f", window, w)
            np.testing.assert_allclose(outputs["Y"][0, i, j], wanted, rtol=1e-6)


def test_inputs_depend_on_the_seed_alone() -> None:
    program = parse_program(describe("sum", "m=4,k=4"))
    first, again, other = (random_inputs(program, seed)["X"] for seed in (0, 0, 1))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_nan_and_infinity_are_wrong_where_numpy_has_none() -> None:
    program = parse_program(describe("add", "a=3"))
    wanted = {"C": np.zeros(3)}
    for wrong in (np.nan, np.inf):
        found = {"C": np.array([0, wrong, 0], np.float32)}
        assert compare(program, wanted, found)[0].place == (1,)
