# SPDX-License-Identifier: MIT
"""A tree of states over one environment: to step adds a node, to go back is to look elsewhere.

A few states are kept as forked processes; others are reached again by forking the nearest of
them and repeating the actions between. So a worker that is lost loses nothing.
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
from compiler_gym.tools.explorer.problems import make_problem
from compiler_gym.tools.explorer.records import Node, Problem

__all__ = ["State", "Tree"]

_T = TypeVar("_T")
_KEPT_PROCESSES = 10
"""Number of states that are kept as processes beside the root."""
_MOST_NODES = 20_000


@dataclass(slots=True, eq=False)
class State:
    """One node, and what is known of its program."""

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
        found: list[State] = []
        state: State = self
        while state.parent is not None:
            found.append(state)
            state = state.parent
        return found[::-1]


class Tree:
    """What was tried on one program. One thread at a time."""

    def __init__(
        self, env: CompilerEnv, program: Benchmark, recovered: Callable[[int, Exception], None]
    ) -> None:
        self.env = env
        """The environment at the root."""
        self.program = program
        self.panes: Panes = env.panes
        """Set once the environment has a program: what it offers then."""
        self._recovered = recovered
        self._states: dict[int, State] = {}
        self._next = 0
        self._live = KeptForks[int](_KEPT_PROCESSES)
        self._by_hash: dict[Any, int] = {}
        self._stepping: CompilerEnv | None = None
        """What has an action of its own under way."""

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
        """The id of the next node that comes."""
        return self._next

    def state(self, id: int) -> State:
        """Return a state, or raise `ExplorerError`."""
        if id not in self._states:
            raise ExplorerError(f"there is no node {id}", status=404)
        return self._states[id]

    def node(self, state: State) -> Node:
        """Return what clients are told of a state."""
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
        """Return the state after `action`, which is made unless it is there."""
        if parent.error is not None or parent.ended:
            raise ExplorerError(
                f"no action can follow node {parent.id}: its episode ended there",
                status=409,
                next="go on from its parent",
            )
        # The space may depend on what was done.
        value = self.use(parent, lambda env: read_action(env.action_space, action))
        plain = to_plain(value)
        known = parent.children.get(repr(plain))
        if known is not None and known.error is None:
            return known
        if len(self._states) >= _MOST_NODES:
            raise ExplorerError(
                f"the tree has {_MOST_NODES} nodes: expected fewer",
                status=409,
                next="remove what is not needed, or open another session",
            )
        if known is not None:
            self.remove(known)
        return self._step_from(parent, value, plain)

    def remove(self, state: State) -> list[int]:
        """Take a state and all that follows out, and return their ids."""
        if state.parent is None:
            raise ExplorerError("the root stays: expected another node", status=409)
        state.parent.children = {
            key: child for key, child in state.parent.children.items() if child is not state
        }
        gone: list[int] = []
        left = [state]
        while left:
            one = left.pop()
            left += one.children.values()
            self._drop(one.id)
            self._states.pop(one.id, None)
            if self._by_hash.get(one.hash) == one.id:
                del self._by_hash[one.hash]
            gone.append(one.id)
        return gone

    def use(self, state: State, work: Callable[[CompilerEnv], _T]) -> _T:
        """Return what `work` makes of the environment in `state`.

        A worker that is lost is replaced once, and `recovered` is told.
        """
        if state.error is not None:
            raise ExplorerError(
                f"node {state.id} failed: it has no program",
                status=409,
                next="look at its parent",
            )
        for attempt in range(2):
            try:
                return work(self._env_at(state))
            except (WorkerTimeoutError, WorkerOutOfMemoryError):
                self._drop(state.id)
                raise
            except ServiceError as error:
                for lost in (0, *(one.id for one in state.path)):
                    self._drop(lost)
                if attempt:
                    raise
                self._recovered(state.id, error)
        raise AssertionError

    def fork(self, state: State) -> CompilerEnv:
        """Return an environment of the caller's own in `state`."""
        return self.use(state, lambda env: env.fork())

    def actions_to(self, state: State) -> list[Any]:
        """Return the actions from the root to `state`, as clients see them."""
        return [one.action for one in state.path]

    def interrupt(self) -> None:
        """End the processes that another thread may wait for; it gets an error. Any thread."""
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
        began = time.perf_counter()
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
            seconds=time.perf_counter() - began,
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
        """Return an environment in `state`: one that is kept, or one that is brought there."""
        if (kept := self._live.used(state.id)) is not None:
            return kept
        path = state.path
        found = self._live.fork_nearest(one.id for one in reversed(path))
        if found is None and not self.env.episode.has_program:
            self._reset()
        if not path:
            return self.env
        base, twin = found or (0, self.env.fork())
        for one in path:
            if one.id <= base:  # a child is made after its parent
                continue
            *_, info = twin.step(read_action(twin.action_space, one.action))
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
        self.env.multistep([])  # rewards count from here

    # -- what is known ------------------------------------------------------------------------

    def _names(self) -> list[str]:
        """Return what is seen at every step: the hash, and costs that take no time."""
        hash = self.env.state_observation
        first = [hash] if hash and hash in self.env.observation else []
        return list(dict.fromkeys([*first, *self._costs_at_once()]))

    def _costs_at_once(self) -> list[str]:
        offered = self.env.observation
        named = [one.observation for one in self.panes.costs if one.at_once]
        return [name for name in named if name in offered]

    def _note(self, state: State, values: Any) -> None:
        seen = dict(zip(self._names(), values, strict=True))
        hash = self.env.state_observation
        state.hash = seen.get(hash) if hash else None
        state.costs |= {name: float(seen[name]) for name in self._costs_at_once()}

    def _add(self, state: State) -> None:
        self._states[state.id] = state
        self._next = state.id + 1
        if state.hash is not None:
            self._by_hash.setdefault(state.hash, state.id)


def _reward_or_none(reward: Any) -> float | None:
    return None if reward is None else float(reward)
