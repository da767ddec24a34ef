# SPDX-License-Identifier: MIT
"""Payloads of the tests, and schedules of them."""

from compiler_gym_mlir.actions.moves import parse_move
from compiler_gym_mlir.programs.builders import build
from compiler_gym_mlir.state.program import Program

MATMUL = build("matmul", (32, 64, 16))


def scheduled(source: str, *moves: str) -> Program:
    """Return `source` after `moves`."""
    program = Program(source, "test")
    for move in moves:
        assert program.apply(parse_move(move), f'"{move}"'), move
    return program
