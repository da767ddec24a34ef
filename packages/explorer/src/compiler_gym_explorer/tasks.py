# SPDX-License-Identifier: MIT
"""Background tasks: trying every action at a node, and searches.

A task has its own thread, its own fork or environments, and a log that can be streamed.
"""

import secrets
import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from compiler_gym.core import CompilerEnv
from compiler_gym.errors import CompilerGymError, ExplorerError
from compiler_gym.search import ALGORITHMS, Budget, Improvement, SearchProgress, run_search
from compiler_gym.spaces import action_name, action_names, read_action, to_plain
from compiler_gym_explorer import records
from compiler_gym_explorer.explored import Explored
from compiler_gym_explorer.log import Log
from compiler_gym_explorer.problems import make_problem
from compiler_gym_explorer.tree import Tree

__all__ = ["METHODS", "Searching", "TryingAll", "Working"]

METHODS = tuple(
    records.SearchMethod(
        name=name,
        description=" ".join((maker.__doc__ or "").strip().partition("\n\n")[0].split()),
    )
    for name, maker in ALGORITHMS.items()
)
"""The search methods."""


class Working(ABC):
    """A background task: started once, and cancellable from any thread."""

    kind = ""

    def __init__(self, session: Explored, node: int) -> None:
        self.id = secrets.token_urlsafe(6)
        self.log = Log()
        self.session = session
        self.node = node
        self.done = 0
        self.total: int | None = None
        self.status = "running"
        self.problem: records.Problem | None = None
        self.tried: list[records.Tried] = []
        self.cancelled = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"{self.kind} {self.id}")

    @property
    def is_running(self) -> bool:
        """True while the task is running."""
        return self.status == "running"

    def record(self) -> records.Task:
        """Return the description of the task for clients."""
        return records.Task(
            id=self.id, kind=self.kind, node=self.node, total=self.total, done=self.done,
            status=self.status,
        )  # fmt: skip

    def start(self) -> None:
        """Start the task's thread."""
        self.session.tasks[self.id] = self
        self._thread.start()

    def cancel(self) -> None:
        """Request the task to end."""
        self.cancelled.set()

    def join(self, seconds: float) -> None:
        """Wait at most `seconds` for the task to end."""
        self._thread.join(seconds)

    @abstractmethod
    def work(self) -> None:
        """Do the work, checking `cancelled` often."""

    def _run(self) -> None:
        try:
            self._log_task()
            self.work()
            self.status = "cancelled" if self.cancelled.is_set() else "done"
        except CompilerGymError as error:
            is_gone = self.session.is_closed or self.cancelled.is_set()
            self.status = "cancelled" if is_gone else "failed"
            self.problem = None if is_gone else make_problem(error)
        except Exception as error:
            self.status, self.problem = "failed", make_problem(error)
            raise
        finally:
            self._log_task()
            self.log.end()
            self.session.touch()

    def _log_task(self) -> None:
        event = records.Event(kind="task", task=self.record(), problem=self.problem)
        self.log.add(event)
        self.session.log.add(event)


class TryingAll(Working):
    """Tries actions at a node, each on a fork, and reports their rewards."""

    kind = "try-all"

    def __init__(self, session: Explored, asked: records.NewTryAll) -> None:
        super().__init__(session, asked.node)
        self._costs = list(dict.fromkeys(asked.costs))

        def begin(tree: Tree, _: Any) -> tuple[CompilerEnv, float | None]:
            state = tree.state(asked.node)
            return tree.fork(state), state.total

        self._env, _ = session.work(begin)
        try:
            self._actions = _actions_to_try(self._env.action_space, asked.actions)
            for name in self._costs:
                self._env.observation.spec(name)
        except CompilerGymError:
            self._env.close()
            raise
        self.total = len(self._actions)

    def work(self) -> None:
        """Try the actions one after another."""
        try:
            for action in self._actions:
                if self.cancelled.is_set():
                    return
                result = self._try_action(action)
                self.tried.append(result)
                self.done += 1
                self.log.add(records.Event(kind="tried", tried=[result]))
        finally:
            self._env.close()

    def _try_action(self, action: Any) -> records.Tried:
        name = action_name(self._env.action_space, action)
        with self._env.fork() as fork:
            values, reward, _, _, info = fork.step(action, self._costs)
        failure: Exception | None = info.get("error")
        return records.Tried(
            action=to_plain(action),
            name=name,
            reward=None if failure is not None or reward is None else float(reward),
            changed=failure is None and not info["action_had_no_effect"],
            costs={} if failure is not None else _costs_by_name(self._costs, values),
            error=None if failure is None else make_problem(failure),
        )


class Searching(Working):
    """Searches for a better sequence than a node's, and adds the best to the tree."""

    kind = "search"

    def __init__(self, session: Explored, asked: records.NewSearch) -> None:
        super().__init__(session, asked.node)
        if asked.method not in ALGORITHMS:
            raise ExplorerError(
                f"unknown search method {asked.method!r}: use one of {', '.join(ALGORITHMS)}"
            )
        self._asked = asked
        self._budget = Budget(seconds=asked.seconds)
        self._most = 0
        self._space, path = session.work(
            lambda tree, _: (tree.env.action_space, tree.actions_to(tree.state(asked.node)))
        )
        self._starts = _starts(path)
        if session.record(whole=False).reward is None:
            raise ExplorerError("a search needs a reward, but this session has none")

    def work(self) -> None:
        """Search until the time is up or the task is cancelled."""
        (result,) = run_search(
            self.session.make_env,
            [self.session.program],
            algorithm=self._asked.method,
            budget=self._budget,
            jobs=1,
            seed=self._asked.seed,
            starts=self._starts,
            watcher=self,
        )
        nodes = self.session.add(0, [to_plain(action) for action in result.actions])
        self.log.add(
            records.Event(
                kind="improved",
                nodes=nodes,
                reward=result.reward,
                length=len(result.actions),
                steps=result.steps,
                seconds=result.seconds,
                actions=list(result.action_names),
                node=nodes[-1].id if nodes else 0,
            )
        )

    def improved(self, improvement: Improvement) -> None:
        """Report a better sequence."""
        self.log.add(
            records.Event(
                kind="improved",
                reward=improvement.reward,
                length=len(improvement.actions),
                steps=improvement.steps,
                seconds=improvement.seconds,
                actions=self._names(improvement.actions),
            )
        )

    def tick(self, seconds: float, programs: Sequence[SearchProgress]) -> None:
        """Report progress once a second, and end the search if the task was cancelled."""
        if self.cancelled.is_set():
            raise KeyboardInterrupt
        if int(seconds) > self.done:
            self.done = int(seconds)
            (program,) = programs
            self.log.add(
                records.Event(
                    kind="progress",
                    reward=program.reward,
                    length=program.length,
                    steps=program.steps,
                    seconds=seconds,
                )
            )

    def _names(self, moves: Sequence[int]) -> list[str]:
        names = action_names(self._space)
        return [names[move] if move < len(names) else str(move) for move in moves]


def _actions_to_try(space: Any, asked: list[Any] | None) -> list[Any]:
    """Return the requested actions, or all actions."""
    if asked is not None:
        return [read_action(space, action) for action in asked]
    count = getattr(space, "n", None)
    if count is None:
        raise ExplorerError(
            "the actions of this space cannot be listed",
            next="give those to try as `actions`, or choose another action space",
        )
    start = int(getattr(space, "start", 0))
    return [action for action in range(start, start + int(count)) if action in space]


def _starts(path: list[Any]) -> list[list[int]] | None:
    """Return the sequence to start the search from, if the search can use it."""
    return [path] if path and all(isinstance(action, int) for action in path) else None


def _costs_by_name(names: Sequence[str], values: Sequence[Any]) -> dict[str, float]:
    return {name: float(value) for name, value in zip(names, values, strict=True)}
