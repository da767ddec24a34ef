# SPDX-License-Identifier: MIT
"""A tree of states over one environment: a step adds a node, and any node can be revisited.

A few states are kept as forked processes. Other states are reconstructed by forking the nearest
kept state and replaying the actions, so nothing is lost if a worker dies.
"""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from compiler_gym.core import CompilerEnv, KeptForks, Panes
from compiler_gym.datasets import Benchmark
from compiler_gym.errors import (
    ExplorerError,
    ServiceError,
    WorkerOutOfMemoryError,
    WorkerTimeoutError,
)
from compiler_gym.spaces import action_name, read_action, to_plain
from compiler_gym_explorer.problems import make_problem
from compiler_gym_explorer.records import Node, Problem

__all__ = ["State", "Tree"]

_T = TypeVar("_T")
_KEPT_PROCESSES = 10
"""The number of states kept as processes, in addition to the root."""
_MOST_NODES = 20_000


@dataclass(slots=True, eq=False)
class State:
    """One node, with the known properties of its program."""

    id: int
    parent: "State | None"
    action: Any
    name: str
    reward: float | None
    total: float | None
    costs: dict[str, float]
    changed: bool = True
    ended: bool = False
    seconds: float = 0.0
    error: Problem | None = None
    hash: Any = None
    depth: int = 0
    children: "dict[str, State]" = field(default_factory=dict[str, "State"])

    @property
    def path(self) -> list["State"]:
        """The states from the root's child to this one."""
        states: list[State] = []
        state: State = self
        while state.parent is not None:
            states.append(state)
            state = state.parent
        return states[::-1]


class Tree:
    """The tree of states of one program, for one thread at a time."""

    def __init__(
        self, env: CompilerEnv, program: Benchmark, recovered: Callable[[int, Exception], None]
    ) -> None:
        self.env = env
        """The environment at the root."""
        self.program = program
        self.panes: Panes = env.panes
        """The environment's panes, updated when it has a program."""
        self._recovered = recovered
        self._states: dict[int, State] = {}
        self._next = 0
        self._live = KeptForks[int](_KEPT_PROCESSES)
        self._by_hash: dict[Any, int] = {}
        self._stepping: CompilerEnv | None = None
        """The environment that is executing an action, or None."""

    def start(self) -> State:
        """Reset the environment and return the root."""
        self._reset()
        root = State(
            id=0,
            parent=None,
            action=None,
            name="",
            reward=None if self.env.reward_space is None else 0.0,
            total=None if self.env.reward_space is None else 0.0,
            costs={},
            ended=not self.env.in_episode,
        )
        values = self.env.multistep([], observation_spaces=self._names())[0]
        self._note(root, values)
        self._add(root)
        return root

    # -- nodes --------------------------------------------------------------------------------

    @property
    def ids(self) -> Iterable[int]:
        """The ids of every node."""
        return self._states.keys()

    @property
    def next_id(self) -> int:
        """The id that the next node will get."""
        return self._next

    def state(self, id: int) -> State:
        """Return a state, or raise `ExplorerError`."""
        if id not in self._states:
            raise ExplorerError(f"there is no node {id}", status=404)
        return self._states[id]

    def node(self, state: State) -> Node:
        """Return the record of a state for clients."""
        same = self._by_hash.get(state.hash) if state.hash is not None else None
        return Node(
            id=state.id,
            parent=None if state.parent is None else state.parent.id,
            action=state.action,
            name=state.name,
            depth=state.depth,
            reward=state.reward,
            total=state.total,
            costs=dict(state.costs),
            changed=state.changed,
            same_as=None if same == state.id else same,
            ended=state.ended,
            seconds=state.seconds,
            error=state.error,
        )

    def nodes(self) -> list[Node]:
        """Return every node, each after its parent."""
        return [self.node(state) for state in self._states.values()]

    def step(self, parent: State, action: Any) -> State:
        """Return the state after `action`, creating it if necessary."""
        if parent.error is not None or parent.ended:
            raise ExplorerError(
                f"no action can follow node {parent.id}: its episode ended there",
                status=409,
                next="continue from its parent",
            )
        # The action space may depend on earlier actions.
        value = self.use(parent, lambda env: read_action(env.action_space, action))
        plain = to_plain(value)
        child = parent.children.get(repr(plain))
        if child is not None and child.error is None:
            return child
        if len(self._states) >= _MOST_NODES:
            raise ExplorerError(
                f"the tree has {_MOST_NODES} nodes, the maximum",
                status=409,
                next="remove nodes that you do not need, or open another session",
            )
        if child is not None:
            self.remove(child)
        return self._step_from(parent, value, plain)

    def remove(self, state: State) -> list[int]:
        """Remove a state with its descendants and return their ids."""
        if state.parent is None:
            raise ExplorerError("the root cannot be removed; choose another node", status=409)
        state.parent.children = {
            key: child for key, child in state.parent.children.items() if child is not state
        }
        ids: list[int] = []
        pending = [state]
        while pending:
            current = pending.pop()
            pending += current.children.values()
            self._drop(current.id)
            self._states.pop(current.id, None)
            if self._by_hash.get(current.hash) == current.id:
                del self._by_hash[current.hash]
            ids.append(current.id)
        return ids

    def use(self, state: State, work: Callable[[CompilerEnv], _T]) -> _T:
        """Return the result of `work` on the environment in `state`.

        A lost worker is replaced once, and `recovered` is called.
        """
        if state.error is not None:
            raise ExplorerError(
                f"the action of node {state.id} failed, so it has no program",
                status=409,
                next="use its parent instead",
            )
        for attempt in range(2):
            try:
                return work(self._env_at(state))
            except (WorkerTimeoutError, WorkerOutOfMemoryError):
                self._drop(state.id)
                raise
            except ServiceError as error:
                for id in (0, *(ancestor.id for ancestor in state.path)):
                    self._drop(id)
                if attempt:
                    raise
                self._recovered(state.id, error)
        raise AssertionError

    def fork(self, state: State) -> CompilerEnv:
        """Return a separate environment in `state`, which the caller closes."""
        return self.use(state, lambda env: env.fork())

    def actions_to(self, state: State) -> list[Any]:
        """Return the actions from the root to `state`, as plain values."""
        return [ancestor.action for ancestor in state.path]

    def interrupt(self) -> None:
        """End all processes, so that a thread that waits for one gets an error; thread-safe."""
        for env in (self._stepping, self.env, *self._live.values()):
            if env is not None:
                env.close()

    def close(self) -> None:
        """End every process."""
        self._live.close()
        self.env.close()

    # -- environments ---------------------------------------------------------------------------

    def _step_from(self, parent: State, value: Any, plain: Any) -> State:
        name = self.use(parent, lambda env: action_name(env.action_space, value))
        twin = self.fork(parent)
        started = time.perf_counter()
        self._stepping = twin
        try:
            values, reward, terminated, truncated, info = twin.step(value, self._names())
        finally:
            self._stepping = None
        state = State(
            id=self._next,
            parent=parent,
            action=plain,
            name=name,
            reward=_reward_or_none(reward),
            total=None,
            costs={},
            ended=terminated or truncated,
            depth=parent.depth + 1,
            seconds=time.perf_counter() - started,
        )
        if "error" in info:
            state.error, state.reward, state.changed = make_problem(info["error"]), None, False
            twin.close()
        else:
            if state.reward is not None:
                state.total = (parent.total or 0.0) + state.reward
            state.changed = not info["action_had_no_effect"]
            self._note(state, values)
            if state.hash is not None and state.hash == parent.hash:
                state.changed = False
            self._live.keep(state.id, twin)
        parent.children[repr(plain)] = state
        self._add(state)
        return state

    def _env_at(self, state: State) -> CompilerEnv:
        """Return an environment in `state`: a kept one, or one that replays the actions."""
        if (env := self._live.used(state.id)) is not None:
            return env
        path = state.path
        nearest = self._live.fork_nearest(ancestor.id for ancestor in reversed(path))
        if nearest is None and not self.env.episode.has_program:
            self._reset()
        if not path:
            return self.env
        base, twin = nearest or (0, self.env.fork())
        for ancestor in path:
            if ancestor.id <= base:  # ids increase along a path
                continue
            *_, info = twin.step(read_action(twin.action_space, ancestor.action))
            if "error" in info:
                twin.close()
                raise info["error"]
        self._live.keep(state.id, twin)
        return twin

    def _drop(self, id: int) -> None:
        if id == 0:
            self.env.episode.close()
        else:
            self._live.drop(id)

    def _reset(self) -> None:
        self.env.reset(benchmark=self.program)
        self.env.multistep([])  # rewards are counted from here

    # -- observations -------------------------------------------------------------------------

    def _names(self) -> list[str]:
        """Return the observations of every step: the hash, and costs that are fast to compute."""
        hash = self.env.state_observation
        first = [hash] if hash and hash in self.env.observation else []
        return list(dict.fromkeys([*first, *self._costs_at_once()]))

    def _costs_at_once(self) -> list[str]:
        available = self.env.observation
        names = [pane.observation for pane in self.panes.costs if pane.at_once]
        return [name for name in names if name in available]

    def _note(self, state: State, values: Any) -> None:
        by_name = dict(zip(self._names(), values, strict=True))
        hash = self.env.state_observation
        state.hash = by_name.get(hash) if hash else None
        state.costs |= {name: float(by_name[name]) for name in self._costs_at_once()}

    def _add(self, state: State) -> None:
        self._states[state.id] = state
        self._next = state.id + 1
        if state.hash is not None:
            self._by_hash.setdefault(state.hash, state.id)


def _reward_or_none(reward: Any) -> float | None:
    return None if reward is None else float(reward)
