# SPDX-License-Identifier: MIT
"""Walk sequences of actions in one environment without trying anything twice.

Known results of a program are reused, no matter which sequence led to it. To continue from a
state, the walker chooses the cheapest of three ways: the environment in its current state, a
fork of a kept environment, or a reset and a replay. The choice affects the time, never the
result.
"""

import math
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import gymnasium

from compiler_gym.core import CompilerEnv, KeptForks, StepTuple, Weight
from compiler_gym.errors import CompilerGymError, InvalidActionError
from compiler_gym.options import SearchOptions
from compiler_gym.search.moves import Moves
from compiler_gym.search.tree import Arrival, Failure, Node, State, Walk
from compiler_gym.spaces import CostReward


class _TimeIsUp(Exception):
    """The search was stopped in the middle of a walk."""


@dataclass(slots=True)
class SearchedProgram:
    """A program under search and its known states."""

    benchmark: Any
    """The argument of ``reset(benchmark=...)``; None for the environment's default."""
    root: Node = field(default_factory=Node)
    states: dict[Hashable, State] = field(default_factory=dict[Hashable, State])
    """Every program that sequences led to, by its key, if equal programs can be recognised."""
    lock: threading.Lock = field(default_factory=threading.Lock)
    """Held while the tree grows, so that a step tried by two threads counts once."""
    reset_seconds: float = 0.002
    fork_seconds: float = 0.003
    weight: Weight = field(default_factory=Weight)


class Walker:
    """One environment, used by one thread."""

    def __init__(
        self,
        env: CompilerEnv,
        moves: Moves,
        kept: KeptForks[State],
        options: SearchOptions,
        seconds_left: Callable[[], float] = lambda: math.inf,
    ) -> None:
        self._env = env
        self._moves = moves
        self._kept = kept
        self._step_seconds = options.step_seconds
        self._level_seconds = max(options.level_seconds, self._step_seconds)
        self._seconds_left = seconds_left
        self._program: SearchedProgram | None = None
        self._at: State | None = None
        self._masks = find_masks(env)
        reward = env.reward_space
        assert reward is not None
        self._reward_name = reward.name
        # The total of such a reward depends on the program alone, not on the actions before.
        self._merges = type(reward).update is CostReward.update
        self._asks_later = self._merges and reward.platform_dependent
        """True to compute the reward only for new programs, because it is measured by running
        the program or by generating code for it."""

    def close(self) -> None:
        """Close the environment."""
        self._env.close()

    def walk(self, program: SearchedProgram, sequence: Sequence[int]) -> Walk:
        """Return the walk along `sequence`, or along its beginning if time runs out."""
        node = program.root
        nodes = [node]
        new_steps = 0
        for move in sequence:
            if node.known.terminal:
                break
            following = node.follow(move)
            if following is None:
                try:
                    is_masked = self._is_masked(program, node, move)
                    outcome = Arrival(node.known) if is_masked else self._try(program, node, move)
                except _TimeIsUp:
                    break
                with program.lock:  # another thread may have been first
                    new_steps += not is_masked and move not in node.known.outcomes
                    node.known.outcomes.setdefault(move, outcome)
                following = node.follow(move)
                assert following is not None
            if isinstance(following, Failure):
                return Walk(tuple(sequence), tuple(nodes), new_steps, following)
            if following is not node:
                node = following
                nodes.append(node)
        return Walk(tuple(sequence), tuple(nodes), new_steps)

    def replay(self, program: SearchedProgram, sequence: Sequence[int]) -> float | None:
        """Return the reward of `sequence` after a reset, or None if it fails."""
        self._reset(program)
        if not sequence:
            return 0.0
        self._at = None
        _, reward, _, truncated, _ = self._env.multistep(self._moves.actions(sequence))
        return None if truncated else float(reward)

    def _is_masked(self, program: SearchedProgram, node: Node, move: int) -> bool:
        """Return True if the environment's mask excludes `move` at `node`."""
        if self._masks is None:
            return False
        state = node.known
        if state.masks is None:
            self._timeout()
            stands_here = self._is_in(program) and self._at is state
            if not stands_here and self._replay_from(self._start(program, node), node) is not None:
                return False  # the next replay reports the failure
            try:
                state.masks = [bool(mark) for mark in self._masks(self._env)]
            except CompilerGymError:
                self._at = None
                return False
        return move < len(state.masks) and not state.masks[move]

    def _try(self, program: SearchedProgram, node: Node, move: int) -> Arrival | Failure:
        failure = self._place(program, node)
        if failure is not None:
            return failure
        started, before = time.monotonic(), len(self._env.actions)
        actions, timeout = self._moves.actions([move]), self._timeout([move])
        try:
            key, reward, terminated, truncated, info = self._apply(actions, timeout)
        except InvalidActionError as error:  # a space that changed during the episode
            return Failure(type(error).__name__, str(error), move)
        seconds = time.monotonic() - started
        if not truncated and info["action_had_no_effect"] and not terminated:
            return Arrival(node.known, seconds)
        state = self._recall(program, key, terminated)
        if state is None and self._asks_later and not truncated:
            _, reward, _, truncated, info = self._env.multistep(
                [], reward_spaces=self._reward_name, timeout=timeout
            )
        if truncated:
            self._at = None
            return self._failure(info, move)
        if state is None:
            state = State(
                _key(key, terminated), reward=self._add_reward(node, reward), terminal=terminated
            )
            state = self._remember(program, state)
        self._at = state
        count = len(self._env.actions) - before  # an episode may end before the last of them
        return Arrival(state, seconds, count)

    def _apply(self, actions: list[Any], timeout: float) -> StepTuple:
        """Step, leaving an expensive reward for later."""
        rewards: list[str] | None = [] if self._asks_later else None
        if len(actions) == 1:
            return self._env.step(actions[0], reward_spaces=rewards, timeout=timeout)
        return self._env.multistep(actions, reward_spaces=rewards, timeout=timeout)

    def _recall(self, program: SearchedProgram, key: Any, terminal: bool) -> State | None:
        state_key = _key(key, terminal)
        return program.states.get(state_key) if self._merges and state_key is not None else None

    def _remember(self, program: SearchedProgram, state: State) -> State:
        """Return the stored state equal to `found`: `found` itself unless a thread was faster."""
        if not self._merges or state.key is None:
            return state
        return program.states.setdefault(state.key, state)

    def _add_reward(self, node: Node, reward: float) -> float:
        """Return the sum of the rewards after a step from `node` that earned `reward`."""
        space = self._env.reward_space
        if not self._merges or not isinstance(space, CostReward):
            return node.reward + float(reward)
        # The sum of the steps would depend on their order through rounding errors.
        origin, cost, scale = space.origin, space.previous, space.scale
        assert origin is not None
        assert cost is not None
        assert scale is not None
        return (origin - cost) / scale

    def _place(self, program: SearchedProgram, node: Node) -> Failure | None:
        """Bring the environment to `node`."""
        self._timeout()
        state = node.known
        state.visits += 1
        state.expected = max(state.expected - 1, 0)
        failure = None
        if not (self._is_in(program) and self._at is state):
            failure = self._replay_from(self._start(program, node), node)
        if failure is None and (state.expected > 0 or state.visits >= 2):
            self._keep(program, node)
        return failure

    def _start(self, program: SearchedProgram, node: Node) -> Node:
        """Bring the environment to the state from which `node` is reached fastest."""
        while True:
            seconds, start, is_kept = self._find_start(program, node)
            if self._is_in(program):
                at = next((step for step in node.lineage() if step.known is self._at), None)
                if at is not None and node.seconds - at.seconds <= seconds:
                    return at
            if not is_kept:
                self._reset(program)
                return start
            if self._fork(program, start.known):
                return start

    def _find_start(self, program: SearchedProgram, node: Node) -> tuple[float, Node, bool]:
        """Return the shortest time to `node` from the root or a kept process, in seconds.

        Also return the node to start from, and True to fork a kept process there.
        """
        from_root = program.reset_seconds + node.seconds, program.root, False
        nearest = next((step for step in node.lineage() if step.known in self._kept), None)
        if nearest is None:
            return from_root
        from_kept = program.fork_seconds + node.seconds - nearest.seconds, nearest, True
        return min(from_root, from_kept, key=lambda choice: choice[0])

    def _is_in(self, program: SearchedProgram) -> bool:
        return self._program is program and self._at is not None and self._env.in_episode

    def _reset(self, program: SearchedProgram) -> None:
        started = time.monotonic()
        self._at = None
        key, _ = self._env.reset(benchmark=program.benchmark)
        program.reset_seconds = _average(program.reset_seconds, time.monotonic() - started)
        program.root.known.key = _key(key)
        self._program, self._at = program, self._remember(program, program.root.known)

    def _fork(self, program: SearchedProgram, state: State) -> bool:
        started = time.monotonic()
        forked = self._kept.fork(state)
        if forked is None:
            return False
        self._env.close()
        self._env = forked
        program.fork_seconds = _average(program.fork_seconds, time.monotonic() - started)
        self._program, self._at = program, state
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
        self._at = node.known
        return None

    def _keep(self, program: SearchedProgram, node: Node) -> None:
        """Keep a process at `node` if returning without one takes longer than a fork."""
        if node.known in self._kept or not self._kept.has_room:
            return
        if self._find_start(program, node)[0] < 2 * program.fork_seconds:
            return
        try:
            self._kept.keep(node.known, self._env.fork(), program.weight)
        except (CompilerGymError, OSError):
            self._at = None  # a lack of processes is not the program's failure

    def _failure(self, info: dict[str, Any], move: int) -> Failure:
        if self._seconds_left() <= 0 and move not in self._moves.levels:
            raise _TimeIsUp
        return Failure(
            str(info.get("error_type", "truncated")),
            str(info.get("error_details", "the episode was truncated")),
            move,
        )

    def _timeout(self, moves: Sequence[int] = ()) -> float:
        """Return the time limit of `moves`; raise `_TimeIsUp` if the search has no time left.

        A level may finish after the search would end: it is the baseline of every result, and
        takes as long as a whole compilation.
        """
        seconds_left = self._seconds_left()
        if seconds_left <= 0:
            raise _TimeIsUp
        if len(moves) == 1 and moves[0] in self._moves.levels:
            return self._level_seconds
        has_level = not self._moves.levels.isdisjoint(self._moves.flat(moves))
        count = max(len(self._moves.flat(moves)), 1)
        seconds = self._step_seconds * count + has_level * self._level_seconds
        return min(seconds, seconds_left + (1.0 if count > 1 else 0.1))


def find_masks(env: CompilerEnv) -> Callable[[CompilerEnv], Sequence[bool]] | None:
    """Return a function that reads the action mask of an environment like `env`, if it has one.

    Settings can always be chosen, so they need no mask.
    """
    space: gymnasium.Space[Any] = env.action_space
    if not hasattr(env, "action_masks") or not isinstance(space, gymnasium.spaces.Discrete):
        return None
    if int(space.start) or getattr(space, "sets", ()):
        return None
    return lambda same_env: same_env.action_masks()  # type: ignore[attr-defined]  # checked above


def _key(observation: Any, terminal: bool = False) -> Hashable:
    """Return a key that equal programs share, if the environment provides one.

    A program at the end of an episode has a different key, because no action can follow.
    """
    if not isinstance(observation, (str, bytes, int)):
        return None
    return (observation, "end") if terminal else observation


def _average(old: float, new: float) -> float:
    return 0.8 * old + 0.2 * new
