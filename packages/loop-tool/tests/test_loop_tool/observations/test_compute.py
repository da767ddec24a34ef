# SPDX-License-Identifier: MIT
"""Every row has what computes it; a hash tells states apart and nothing else."""

from compiler_gym_loop_tool.actions import changes
from compiler_gym_loop_tool.observations import TABLE, TIMED
from compiler_gym_loop_tool.observations.compute import COMPUTE
from compiler_gym_loop_tool.state.cursor import Cursor
from compiler_gym_loop_tool.state.descriptions import describe
from compiler_gym_loop_tool.state.reading import parse_program
from compiler_gym_loop_tool.state.tree import initial_tree
from compiler_gym_loop_tool.toolchain.measuring import Bench


def start(words: str = "m=4,n=4,k=4") -> Cursor:
    return Cursor(initial_tree(parse_program(describe("matmul", words))))


def test_every_observation_is_computed() -> None:
    assert list(COMPUTE) == [row.name for row in TABLE.observations]
    assert set(TIMED) <= set(COMPUTE)


def test_the_hash_is_of_the_tree_the_cursor_and_the_past() -> None:
    cursor = start()
    bench = Bench(cursor.tree)
    changed = cursor.change_loop(changes.toggle_unroll)
    states = (
        cursor,
        start("m=4,n=4,k=5"),
        cursor.move_by(1, around=False),
        cursor.toggle(),
        changed,
        changed.change_loop(changes.toggle_unroll),
    )
    assert len({str(COMPUTE["tree_hash"](state, bench)) for state in states}) == len(states)
    assert COMPUTE["tree_hash"](start(), bench) == COMPUTE["tree_hash"](cursor, bench)
    assert COMPUTE["tree_hash"](changed.undo(), bench) == COMPUTE["tree_hash"](cursor, bench)


def test_the_action_state_is_cursor_size_and_tail() -> None:
    cursor = start("m=10,n=4,k=4").change_loop(lambda tree, path: changes.split(tree, path, 4))
    assert COMPUTE["action_state"](cursor, Bench(cursor.tree)) == [0, 2, 2]
