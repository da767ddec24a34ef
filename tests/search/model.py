# SPDX-License-Identifier: MIT
"""A program that is plain arithmetic: what algorithms propose is walked without a compiler."""

from collections.abc import Callable, Sequence

from compiler_gym.search.strategy import MoveSequence, Strategy
from compiler_gym.search.tree import Failure, Node, Walk

Earned = Callable[[MoveSequence], float]
NONE_FAILS = -1
"""No action fails unless one is named."""


def weights(*worth: float) -> Earned:
    """Return a reward: each action earns its worth once, and costs 1 when it is repeated."""

    def earned(actions: MoveSequence) -> float:
        repeated = len(actions) - len(set(actions))
        return sum(worth[action] for action in set(actions)) - repeated

    return earned


def walk(root: Node, sequence: Sequence[int], earned: Earned, *, fails: int = NONE_FAILS) -> Walk:
    """Return what comes of `sequence`; the tree below `root` remembers it."""
    node, nodes, new = root, [root], 0
    for action in sequence:
        if action not in node.children:
            new += 1
            there = (*node.actions(), action)
            node.children[action] = (
                Failure("WorkerCrashedError", "it crashed")
                if action == fails
                else Node(node, action, reward=earned(there))
            )
        found = node.children[action]
        if isinstance(found, Failure):
            return Walk(tuple(sequence), tuple(nodes), new, found)
        nodes.append(found)
        node = found
    return Walk(tuple(sequence), tuple(nodes), new)


def run(
    strategy: Strategy, earned: Earned, *, batches: int, root: Node | None = None
) -> list[Walk]:
    """Return every walk of `strategy` until it has no more to propose, or for `batches`."""
    root = Node() if root is None else root
    walks: list[Walk] = []
    for _ in range(batches):
        asked = strategy.ask()
        if not asked:
            break
        found = [walk(root, sequence, earned) for sequence in asked]
        strategy.tell(found)
        walks += found
    return walks


def best(walks: Sequence[Walk]) -> Node:
    """Return the best that was walked to."""
    return max((one.best for one in walks), key=lambda node: (node.reward, -node.depth))
