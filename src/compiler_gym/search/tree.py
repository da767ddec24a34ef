# SPDX-License-Identifier: MIT
"""The search tree of one program: every sequence walked so far.

A node is the program after a sequence of actions, each of which changed it; an action that
changes nothing leads back to its own node. Nodes with the same program share its state, so
results are reused no matter which sequence led there. Nothing here talks to a compiler. Several
threads may add to one tree.
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Failure:
    """An action that the compiler could not apply."""

    type: str
    """The name of the error class."""
    details: str
    move: int = -1
    """The number of the action; -1 if it was one of several applied together."""


class State:
    """A program and its known results, shared by all sequences that lead to it."""

    __slots__ = ("expected", "key", "masks", "outcomes", "reward", "terminal", "visits")

    def __init__(
        self, key: Hashable = None, *, reward: float = 0.0, terminal: bool = False
    ) -> None:
        self.key = key
        """Equal for equal programs if the environment has such an observation."""
        self.reward = reward
        """The sum of the rewards from the root."""
        self.terminal = terminal
        """True if an episode ends here."""
        self.outcomes: dict[int, Arrival | Failure] = {}
        """The result of each action tried here."""
        self.visits = 0
        """Number of walks that had to bring an environment here to continue."""
        self.expected = 0
        """Number of waiting sequences that continue from here."""
        self.masks: Sequence[bool] | None = None
        """The action mask of this program, once the environment has reported it."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """The result of an action: the state it leads to, or a failure."""

    state: State
    seconds: float = 0.0
    """Duration of the action."""
    count: int = 1
    """Number of environment actions in it."""


class Node:
    """The program after a sequence of actions."""

    __slots__ = ("action", "children", "depth", "known", "length", "parent", "reward", "seconds")

    def __init__(
        self,
        parent: "Node | None" = None,
        action: int = -1,
        *,
        reward: float = 0.0,
        seconds: float = 0.0,
        state: Hashable = None,
        count: int = 1,
        known: State | None = None,
    ) -> None:
        self.parent = parent
        self.action = action
        """The action that leads here from the parent."""
        self.known = State(state, reward=reward) if known is None else known
        """The program here, shared by all nodes with the same program."""
        self.reward = self.known.reward
        """The sum of the rewards from the root."""
        self.seconds = seconds
        """Time for the environment to get here from the root."""
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.length: int = 0 if parent is None else parent.length + count
        """Number of environment actions that lead here: a move may consist of several."""
        self.children: dict[int, Node | Failure] = {}

    @property
    def state(self) -> Hashable:
        """Equal for equal programs if the environment has such an observation."""
        return self.known.key

    def follow(self, action: int) -> "Node | Failure | None":
        """Return the result of `action`, or None if it was not tried on this program."""
        child = self.children.get(action)
        outcome = self.known.outcomes.get(action)
        if child is not None or outcome is None:
            return child
        return self.children.setdefault(action, self._child(action, outcome))

    def departure(self, actions: "Sequence[int]") -> "Node | None":
        """Return the last known node along `actions`; None if all are known."""
        node = self
        for action in actions:
            following = node.follow(action)
            if following is None:
                return node
            if isinstance(following, Failure) or following.known.terminal:
                return None
            node = following
        return None

    def _child(self, action: int, outcome: Arrival | Failure) -> "Node | Failure":
        if isinstance(outcome, Failure):
            return outcome
        if outcome.state is self.known:
            return self
        return Node(
            self,
            action,
            seconds=self.seconds + outcome.seconds,
            count=outcome.count,
            known=outcome.state,
        )

    def path(self) -> "list[Node]":
        """Return the nodes from the root's child to this one."""
        nodes: list[Node] = []
        node = self
        while node.parent is not None:
            nodes.append(node)
            node = node.parent
        return nodes[::-1]

    def actions(self) -> tuple[int, ...]:
        """Return the actions that lead here."""
        return tuple(node.action for node in self.path())

    def lineage(self) -> "Iterator[Node]":
        """Yield this node, its parent, and so on to the root."""
        node: Node | None = self
        while node is not None:
            yield node
            node = node.parent


@dataclass(frozen=True, slots=True)
class Walk:
    """The result of walking one sequence of actions."""

    requested: tuple[int, ...]
    """The sequence that was requested."""
    nodes: tuple[Node, ...]
    """The root, then the program after each action that changed it."""
    new_steps: int
    """Number of actions tried for the first time on their program."""
    failure: Failure | None = None
    """The failure that ended the walk before the end of the sequence, or None."""

    @property
    def best(self) -> Node:
        """The earliest of the nodes with the highest reward."""
        return max(self.nodes, key=lambda node: (node.reward, -node.depth))

    @property
    def last(self) -> Node:
        """The node at which the walk ended."""
        return self.nodes[-1]
