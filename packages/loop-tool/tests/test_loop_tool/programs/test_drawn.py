# SPDX-License-Identifier: MIT
"""Random programs are programs, of every sort, and the same for a seed."""

import hashlib

from compiler_gym_loop_tool.programs.drawn import draw
from compiler_gym_loop_tool.state.reading import parse_program


def test_a_seed_always_writes_the_same_text() -> None:
    texts = "\n\n".join(draw(seed) for seed in range(50))
    digest = hashlib.sha256(texts.encode()).hexdigest()
    assert digest[:16] == "07164c397b6bf857"


def test_every_seed_is_a_program_and_there_are_all_sorts() -> None:
    programs = [parse_program(draw(seed)) for seed in range(300)]
    reductions = {s.reduction for p in programs for s in p.statements}
    assert reductions == {"", "sum", "max"}
    assert {len(p.statements) for p in programs} >= {1, 2}
    assert max(p.points(s) for p in programs for s in p.statements) <= 2**22
