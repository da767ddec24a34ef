# SPDX-License-Identifier: MIT
"""A tree of walked sequences knows the way to each of its nodes."""

from hypothesis import given
from hypothesis import strategies as st

from compiler_gym.search.tree import Node, Walk


def chain(actions: list[int], rewards: list[float] | None = None) -> list[Node]:
    nodes = [Node()]
    for place, action in enumerate(actions):
        reward = rewards[place] if rewards else 0.0
        nodes.append(Node(nodes[-1], action, reward=reward))
    return nodes


@given(st.lists(st.integers(0, 9), max_size=8))
def test_a_node_knows_the_actions_that_lead_to_it(actions: list[int]) -> None:
    nodes = chain(actions)
    last = nodes[-1]
    assert last.actions() == tuple(actions)
    assert last.depth == len(actions)
    assert last.path() == nodes[1:]
    assert list(last.lineage()) == nodes[::-1]


@given(st.lists(st.sampled_from((-1.0, 0.0, 1.0, 2.0)), max_size=6))
def test_the_best_of_a_walk_is_the_earliest_of_the_highest(rewards: list[float]) -> None:
    nodes = chain(list(range(len(rewards))), rewards)
    walk = Walk((), tuple(nodes), 0)
    top = max([0.0, *rewards])
    assert walk.best.reward == top
    assert all(node.reward < top for node in nodes[: walk.best.depth])
    assert walk.last is nodes[-1]


def test_a_root_has_no_action_and_no_parent() -> None:
    root = Node()
    assert (root.action, root.parent, root.depth, root.path()) == (-1, None, 0, [])
