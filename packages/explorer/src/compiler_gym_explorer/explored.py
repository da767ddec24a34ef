# SPDX-License-Identifier: MIT
"""One session: a tree over one environment, with its texts, events and running tasks.

Requests come from several threads, and one at a time has access to the tree. Tasks work on
separate forks and lock the tree only to add results.
"""

import secrets
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from compiler_gym.core import CompilerEnv, TextPane, runs_program
from compiler_gym.datasets import Benchmark
from compiler_gym.errors import CompilerGymError, ExplorerError, ServiceIsClosed
from compiler_gym_explorer import records
from compiler_gym_explorer.log import Log
from compiler_gym_explorer.problems import make_problem
from compiler_gym_explorer.texts import Listings
from compiler_gym_explorer.tree import State, Tree

__all__ = ["Explored"]

_T = TypeVar("_T")


class Explored:
    """A session. `close` can be called by any thread, even during a request."""

    def __init__(
        self,
        environment: str,
        make_env: Callable[[], CompilerEnv],
        env: CompilerEnv,
        program: Benchmark,
        source: records.Source | None,
        *,
        may_run: bool,
    ) -> None:
        self.id = secrets.token_urlsafe(9)
        self.environment = environment
        self.make_env = make_env
        """Creates another environment with the same arguments, for a search."""
        self.program = program
        self.source = source
        self.may_run = may_run
        self.log = Log()
        self.tasks: dict[str, Any] = {}
        """The tasks by id; see `tasks.Working`."""
        self.at = 0
        self._lock = threading.RLock()
        self._tree = Tree(env, program, self._note_recovery)
        self._listings = Listings(self._tree)
        self._used = time.monotonic()
        self._busy = 0
        self.is_closed = False

    # -- the tree ---------------------------------------------------------------------------

    def start(self, actions: Sequence[Any] = ()) -> None:
        """Reset the environment and apply `actions`, up to the first that fails."""
        with self._lock:
            state = self._tree.start()
            for action in actions:
                state = self._tree.step(state, action)
                if state.error is not None:
                    break
            self.at = state.id

    def work(self, call: Callable[[Tree, Listings], _T]) -> _T:
        """Return the result of `call` on the tree, with exclusive access."""
        with self._lock:
            if self.is_closed:
                raise ExplorerError("this session is closed", status=404, next="open another")
            self._busy += 1
            try:
                return call(self._tree, self._listings)
            except ServiceIsClosed as error:
                if self.is_closed:
                    raise ExplorerError("this session was closed", status=404) from error
                raise
            finally:
                self._busy -= 1
                self.touch()

    def record(self, *, whole: bool = True) -> records.Session:
        """Return the description of the session for clients."""

        def describe_session(tree: Tree, _: Listings) -> records.Session:
            reward = tree.env.reward_space
            nodes = tree.nodes() if whole else [tree.node(tree.state(0))]
            return records.Session(
                id=self.id,
                environment=self.environment,
                benchmark=str(self.program.uri),
                action_space=tree.env.episode.selection.action_space_name,
                reward=None if reward is None else reward.name,
                nodes=nodes,
                at=self.at,
                idle_seconds=self.idle_seconds,
                runs_allowed=self.may_run,
            )

        idle = self.idle_seconds
        record = self.work(describe_session)
        if not whole:  # listing sessions does not count as using them
            self._used = time.monotonic() - idle
        return record

    def add(self, parent: int, actions: Sequence[Any]) -> list[records.Node]:
        """Apply actions from a node and return the resulting nodes."""
        new_nodes: list[records.Node] = []

        def add_nodes(tree: Tree, _: Listings) -> list[records.Node]:
            state, states = tree.state(parent), list[State]()
            for action in actions:
                next_id = tree.next_id
                state = tree.step(state, action)
                states.append(state)
                if state.id >= next_id:
                    new_nodes.append(tree.node(state))
                if state.error is not None:
                    break
            return [tree.node(state) for state in states]

        try:
            return self.work(add_nodes)
        finally:
            if new_nodes:
                self.log.add(records.Event(kind="nodes", nodes=new_nodes))

    def remove(self, node: int) -> None:
        """Remove a node and its descendants."""

        def remove_nodes(tree: Tree, listings: Listings) -> None:
            for id in tree.remove(tree.state(node)):
                listings.forget(id)
                self.log.add(records.Event(kind="removed", node=id))

        self.work(remove_nodes)

    def measure(self, ids: Sequence[int], names: Sequence[str]) -> list[records.CostValues]:
        """Return costs of nodes; those measured before are not measured again."""
        return [self._measure(id, names) for id in ids]

    def text_pane(self, which: str) -> TextPane:
        """Return the pane of ``text`` or ``assembly``; raise `ExplorerError` if there is none."""

        def find_pane(tree: Tree, _: Listings) -> TextPane:
            pane: TextPane | None = getattr(tree.panes, which)
            if pane is None or pane.observation not in tree.env.observation:
                raise ExplorerError(f"{self.environment} has no {which} to show", status=404)
            return pane

        return self.work(find_pane)

    def require_allowed(self, names: Sequence[str], *, run: bool) -> None:
        """Raise `ExplorerError` if an observation runs the program and that is not permitted."""

        def check(tree: Tree, _: Listings) -> None:
            for name in names:
                tree.env.observation.spec(name)
                if not (run or self.may_run) and runs_program(tree.env, name):
                    raise ExplorerError(
                        f"{name} runs the program, which needs run=true",
                        status=403,
                        next="send the request again with run=true",
                    )

        self.work(check)

    # -- lifetime -----------------------------------------------------------------------------

    @property
    def idle_seconds(self) -> float:
        """The seconds since its last use; 0 during a request or task."""
        is_used = self._busy or any(task.is_running for task in self.tasks.values())
        return 0.0 if is_used else time.monotonic() - self._used

    def touch(self) -> None:
        """Reset the idle time."""
        self._used = time.monotonic()

    def close(self) -> None:
        """End its tasks and processes; requests in progress fail."""
        if self.is_closed:
            return
        self.is_closed = True
        for task in list(self.tasks.values()):
            task.cancel()
        self.log.add(records.Event(kind="closed"))
        self.log.end()
        if self._lock.acquire(timeout=0.2):
            try:
                self._tree.close()
            finally:
                self._lock.release()
            return
        self._tree.interrupt()
        with self._lock:
            self._tree.close()

    # -- helpers ----------------------------------------------------------------------------

    def _measure(self, id: int, names: Sequence[str]) -> records.CostValues:
        errors: dict[str, records.Problem] = {}

        def measure_names(tree: Tree, _: Listings) -> dict[str, float | None]:
            state = tree.state(id)
            costs: dict[str, float | None] = {}
            for name in names:
                if name not in state.costs:
                    try:
                        state.costs[name] = float(
                            tree.use(state, lambda env, name=name: env.observation[name])
                        )
                    except CompilerGymError as error:
                        errors[name] = make_problem(error)
                    except (TypeError, ValueError):
                        raise ExplorerError(
                            f"{name} is not a number; choose one of the environment's costs"
                        ) from None
                costs[name] = state.costs.get(name)
            return costs

        costs = self.work(measure_names)
        return records.CostValues(node=id, costs=costs, errors=errors)

    def _note_recovery(self, node: int, error: Exception) -> None:
        self.log.add(records.Event(kind="recovered", node=node, problem=make_problem(error)))
