# SPDX-License-Identifier: MIT
"""A seed means the same chain every time, and seeds differ."""

from compiler_gym_mlir.programs.random_chain import random_chain
from test_mlir.schedules import scheduled


def test_a_seed_is_a_program() -> None:
    assert random_chain(3) == random_chain(3)
    assert len({random_chain(seed) for seed in range(8)}) == 8
    for seed in range(5):
        assert scheduled(random_chain(seed)).operations
