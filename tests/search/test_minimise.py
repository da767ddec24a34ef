# SPDX-License-Identifier: MIT
from collections.abc import Callable

import pytest

from compiler_gym.search.minimise import Minimiser
from compiler_gym.search.tree import Node, Walk


def walk(actions: tuple[int, ...], earn: Callable[[tuple[int, ...]], float]) -> Walk:
    node = Node()
    nodes = [node]
    for i, action in enumerate(actions):
        node = Node(node, action, reward=earn(actions[: i + 1]))
        nodes.append(node)
    return Walk(actions, tuple(nodes), len(actions))


def minimised(actions: tuple[int, ...], earn: Callable[[tuple[int, ...]], float]) -> Node:
    minimiser = Minimiser(walk(actions, earn).last)
    asked = 0
    while batch := minimiser.ask():
        asked += len(batch)
        assert asked < 2000
        minimiser.tell([walk(tuple(sequence), earn) for sequence in batch])
    return minimiser.node


@pytest.mark.parametrize("needed", [(), (5,), (0, 19), (3, 4, 5, 11), tuple(range(20))])
def test_only_needed_actions_are_left(needed: tuple[int, ...]) -> None:
    def earn(actions: tuple[int, ...]) -> float:
        return sum(action in actions for action in needed)

    assert minimised(tuple(range(20)), earn).actions() == needed


def test_order_matters_and_is_kept() -> None:
    def earn(actions: tuple[int, ...]) -> float:
        return 1.0 if 7 in actions and 2 in actions[actions.index(7) :] else 0.0

    assert minimised((1, 7, 3, 9, 2, 5), earn).actions() == (7, 2)


def test_a_shorter_sequence_may_earn_more_but_never_less() -> None:
    def earn(actions: tuple[int, ...]) -> float:
        return (1 in actions) - 0.5 * (2 in actions)

    node = minimised((2, 1, 3), earn)
    assert node.actions() == (1,)
    assert node.reward == 1.0
