# SPDX-License-Identifier: MIT
"""Whatever is done to a payload, it computes the same, and MLIR's own tool does the same to it."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compiler_gym.errors import CompilerDiagnosticError
from compiler_gym_mlir.actions.menu import MENU, Loops
from compiler_gym_mlir.actions.moves import Move
from compiler_gym_mlir.programs.builders import build
from compiler_gym_mlir.state.program import Program
from compiler_gym_mlir.toolchain.measuring import Bench
from test_mlir.state.test_program import replayed

SOURCES = [
    build(name, sizes)
    for name, sizes in (
        ("matmul", (6, 16, 4)), ("conv2d_nhwc", (1, 6, 6, 2, 4, 3, 1)), ("reduce", (8, 12)),
        ("maxpool", (1, 2, 6, 6, 2, 2)), ("layernorm", (4, 8)), ("attention", (1, 4, 8, 4)),
        ("mlp", (4, 8, 4, 8)),
    )
]  # fmt: skip


def legal_moves(program: Program, tag: str) -> list[Move]:
    """Return what the list of actions offers for an operation, one of each kind first."""
    loops = Loops(tag, program.operations[tag].iterators, program.limits(tag))
    found = [move for resolve in MENU.values() if (move := resolve(loops)) is not None]
    kinds: dict[str, list[Move]] = {}
    for move in found:
        if program.why_not(move) is None:
            kinds.setdefault(move.kind, []).append(move)
    return [move for moves in kinds.values() for move in moves[:4]]


@pytest.mark.timeout(120)
@settings(
    max_examples=8,
    derandomize=True,  # a schedule that MLIR compiles for minutes, or aborts on, would end the run
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(st.sampled_from(SOURCES), st.data())
def test_a_random_schedule_computes_the_same_and_is_replayed_by_the_tool(
    source: str, data: st.DataObject
) -> None:
    program = Program(source, "random")
    for _ in range(data.draw(st.integers(1, 4))):
        if not program.operations:
            break
        moves = legal_moves(program, data.draw(st.sampled_from(list(program.operations))))
        before = (program.text, program.script)
        try:
            program.apply(data.draw(st.sampled_from(moves)), "0")
        except CompilerDiagnosticError:
            assert (program.text, program.script) == before
    with TemporaryDirectory() as folder:
        assert replayed(program, Path(folder)).strip() == program.text.strip()
    bench = Bench(source)
    bench.compile_checked(program.text)
