# SPDX-License-Identifier: MIT
"""The search for tails."""

from compiler_gym.tools.learn.tails.llvm import engine
from compiler_gym.tools.learn.tails.llvm.mining import mine

from .test_engine import PASSES, load


def test_mined_tails_leave_what_the_search_states():
    base = load("stringsearch2")
    mined = mine(base, PASSES, 2_000, 0)
    assert mined == mine(base, PASSES, 2_000, 0)
    found = [(function, tail) for function in mined for tail in function.tails]
    assert found
    for function, tail in found:
        described, left = engine.label(base, [tail], [function.name])
        assert described.names == [function.name]
        assert left.tolist() == [[function.tails[tail]]]
        assert function.tails[tail] < function.instructions
