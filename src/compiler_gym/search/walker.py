# SPDX-License-Identifier: MIT
"""Walks sequences of actions in one environment, and tries nothing twice.

What a tree already holds is not run again. To go on from a state, the cheapest of
three ways is taken: on from where the environment stands, a fork of a kept
environment, or a reset and a replay. Which one changes the time, never the result.
"""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from compiler_gym.core import CompilerEnv
from compiler_gym.errors import CompilerGymError, InvalidActionError
from compiler_gym.search.moves import Moves
from compiler_gym.search.snapshots import Snapshots
from compiler_gym.search.tree import Failure, Node, Walk

__all__ = ["Program", "Walker"]


class _TimeIsUp(Exception):
    """The search was stopped in the middle of a walk."""


@dataclass(slots=True)
class Program:
    """A program that is searched, and what is known of it."""

    benchmark: Any
    """What ``reset(benchmark=...)`` takes; None takes the environment's own."""
    root: Node = field(default_factory=Node)
    lock: threading.Lock = field(default_factory=threading.Lock)
    """Held while the tree grows, so that a step that two threads try counts once."""
    reset_seconds: float = 0.002
    fork_seconds: float = 0.003


class Walker:
    """One environment and the thread that uses it."""

    def __init__(
        self,
        env: CompilerEnv,
        moves: Moves,
        snapshots: Snapshots,
        *,
        step_seconds: float,
        seconds_left: Callable[[], float],
        level_seconds: float = 300.0,
    ) -> None:
        self._env = env
        self._moves = moves
        self._snapshots = snapshots
        self._step_seconds = step_seconds
        self._level_seconds = max(level_seconds, step_seconds)
        self._seconds_left = seconds_left
        self._program: Program | None = None
        self._at: Node | None = None

    def close(self) -> None:
        """Close the environment."""
        self._env.close()

    def walk(self, program: Program, sequence: Sequence[int]) -> Walk:
        """Return what comes of `sequence`, or of its beginning when time is up."""
        node = program.root
        nodes = [node]
        new_steps = 0
        for move in sequence:
            if node.terminal:
                break
            following = node.children.get(move)
            if following is None:
                try:
                    tried = self._try(program, node, move)
                except _TimeIsUp:
                    break
                with program.lock:
                    new_steps += move not in node.children
                    following = node.children.setdefault(move, tried)
                if self._at is tried and isinstance(following, Node):
                    self._at = following  # another thread was first
            if isinstance(following, Failure):
                return Walk(tuple(sequence), tuple(nodes), new_steps, following)
            if following is not node:
                node = following
                nodes.append(node)
        return Walk(tuple(sequence), tuple(nodes), new_steps)

    def replay(self, program: Program, sequence: Sequence[int]) -> float | None:
        """Return the reward of `sequence` from a fresh start, or None if it fails."""
        self._reset(program)
        if not sequence:
            return 0.0
        self._at = None
        _, reward, _, truncated, _ = self._env.multistep(self._moves.actions(sequence))
        return None if truncated else float(reward)

    def _try(self, program: Program, node: Node, move: int) -> Node | Failure:
        failure = self._place(program, node)
        if failure is not None:
            return failure
        started = time.monotonic()
        actions, timeout = self._moves.actions([move]), self._timeout([move])
        try:
            state, reward, terminated, truncated, info = (
                self._env.step(actions[0], timeout=timeout)
                if len(actions) == 1
                else self._env.multistep(actions, timeout=timeout)
            )
        except InvalidActionError as error:  # a space that changed during the episode
            return Failure(type(error).__name__, str(error), move)
        if truncated:
            self._at = None
            return self._failure(info, move)
        if info.get("action_had_no_effect") and not terminated:
            return node
        self._at = Node(
            node,
            move,
            reward=node.reward + float(reward),
            seconds=node.seconds + time.monotonic() - started,
            state=state if isinstance(state, (str, bytes, int)) else None,
            terminal=terminated,
            count=len(actions),
        )
        return self._at

    def _place(self, program: Program, node: Node) -> Failure | None:
        """Bring the environment to `node`."""
        self._timeout()
        node.departures += 1
        if self._program is program and self._at is node and self._env.in_episode:
            return None
        start, cost = self._cheapest_start(program, node)
        is_kept = start is not self._at and start is not program.root
        if is_kept and not self._fork(program, start):
            start, cost = program.root, node.seconds
        if start is program.root:
            self._reset(program)
        failure = self._replay_from(start, node)
        if failure is None and cost > program.fork_seconds and node.departures >= 2:
            self._keep(program, node)
        return failure

    def _cheapest_start(self, program: Program, node: Node) -> tuple[Node, float]:
        """Return where to start from to get to `node`, and the seconds of replay from there."""
        choices = [(program.reset_seconds + node.seconds, program.root)]
        kept = self._snapshots.nearest(node)
        if kept is not None:
            choices.append((program.fork_seconds + node.seconds - kept.seconds, kept))
        at = self._at if self._program is program and self._env.in_episode else None
        if at is not None and at in node.lineage():
            choices.append((node.seconds - at.seconds, at))
        _, start = min(choices, key=lambda choice: choice[0])
        return start, node.seconds - start.seconds

    def _reset(self, program: Program) -> None:
        started = time.monotonic()
        self._at = None
        self._env.reset(benchmark=program.benchmark)
        program.reset_seconds = _average(program.reset_seconds, time.monotonic() - started)
        self._program, self._at = program, program.root

    def _fork(self, program: Program, node: Node) -> bool:
        started = time.monotonic()
        forked = self._snapshots.fork(node)
        if forked is None:
            return False
        self._env.close()
        self._env = forked
        program.fork_seconds = _average(program.fork_seconds, time.monotonic() - started)
        self._program, self._at = program, node
        return True

    def _replay_from(self, start: Node, node: Node) -> Failure | None:
        moves = [step.action for step in node.path()[start.depth :]]
        if not moves:
            return None
        timeout = self._timeout(moves)
        self._at = None
        _, _, _, truncated, info = self._env.multistep(self._moves.actions(moves), timeout=timeout)
        if truncated:
            return self._failure(info, -1)
        self._at = node
        return None

    def _keep(self, program: Program, node: Node) -> None:
        if node in self._snapshots:
            return
        try:
            self._snapshots.keep(node, self._env.fork())
        except (CompilerGymError, OSError):
            self._at = None  # no process to spare is no failure of the program

    def _failure(self, info: dict[str, Any], move: int) -> Failure:
        if self._seconds_left() <= 0 and move not in self._moves.levels:
            raise _TimeIsUp
        return Failure(
            str(info.get("error_type", "truncated")),
            str(info.get("error_details", "the episode was truncated")),
            move,
        )

    def _timeout(self, moves: Sequence[int] = ()) -> float:
        """Return how long `moves` may take; raise `_TimeIsUp` if nothing may begin any more.

        A level that has begun may end after the search would: it is what no result may be
        worse than, and takes as long as all of a compiler.
        """
        left = self._seconds_left()
        if left <= 0:
            raise _TimeIsUp
        if len(moves) == 1 and moves[0] in self._moves.levels:
            return self._level_seconds
        has_level = not self._moves.levels.isdisjoint(self._moves.flat(moves))
        seconds = self._step_seconds * max(len(moves), 1) + has_level * self._level_seconds
        return min(seconds, left + (1.0 if len(moves) > 1 else 0.1))


def _average(old: float, new: float) -> float:
    return 0.8 * old + 0.2 * new
