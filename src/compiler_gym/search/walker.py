# SPDX-License-Identifier: MIT
"""Walks sequences of actions in one environment, and tries nothing twice.

What is known of a program is not run again, whichever sequence led to it. To go on from
a state, the cheapest of three ways is taken: on from where the environment stands, a
fork of a kept environment, or a reset and a replay. Which one changes the time, never
the result.
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
from compiler_gym.spaces.rewards import CostReward

__all__ = ["SearchedProgram", "Walker", "find_masks"]


class _TimeIsUp(Exception):
    """The search was stopped in the middle of a walk."""


@dataclass(slots=True)
class SearchedProgram:
    """A program that is searched, and what is known of it."""

    benchmark: Any
    """What ``reset(benchmark=...)`` takes; None takes the environment's own."""
    root: Node = field(default_factory=Node)
    states: dict[Hashable, State] = field(default_factory=dict[Hashable, State])
    """Every program that sequences led to, by its key, where equal ones can be told."""
    lock: threading.Lock = field(default_factory=threading.Lock)
    """Held while the tree grows, so that a step that two threads try counts once."""
    reset_seconds: float = 0.002
    fork_seconds: float = 0.003
    weight: Weight = field(default_factory=Weight)


class Walker:
    """One environment and the thread that uses it."""

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
        # What such a reward has earned depends on the program alone, not on the way to it.
        self._merges = type(reward).update is CostReward.update
        self._asks_later = self._merges and reward.platform_dependent
        """Whether the reward is asked for only where the program is new: it is measured by
        running the program, or by generating code for it."""

    def close(self) -> None:
        """Close the environment."""
        self._env.close()

    def walk(self, program: SearchedProgram, sequence: Sequence[int]) -> Walk:
        """Return what comes of `sequence`, or of its beginning when time is up."""
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
                    tried = Arrival(node.known) if is_masked else self._try(program, node, move)
                except _TimeIsUp:
                    break
                with program.lock:  # another thread may have been first
                    new_steps += not is_masked and move not in node.known.outcomes
                    node.known.outcomes.setdefault(move, tried)
                following = node.follow(move)
                assert following is not None
            if isinstance(following, Failure):
                return Walk(tuple(sequence), tuple(nodes), new_steps, following)
            if following is not node:
                node = following
                nodes.append(node)
        return Walk(tuple(sequence), tuple(nodes), new_steps)

    def replay(self, program: SearchedProgram, sequence: Sequence[int]) -> float | None:
        """Return the reward of `sequence` from a fresh start, or None if it fails."""
        self._reset(program)
        if not sequence:
            return 0.0
        self._at = None
        _, reward, _, truncated, _ = self._env.multistep(self._moves.actions(sequence))
        return None if truncated else float(reward)

    def _is_masked(self, program: SearchedProgram, node: Node, move: int) -> bool:
        """Return whether the environment says that `move` means nothing at `node`."""
        if self._masks is None:
            return False
        state = node.known
        if state.masks is None:
            self._timeout()
            stands_here = self._stands_in(program) and self._at is state
            if not stands_here and self._replay_from(self._start(program, node), node) is not None:
                return False  # it is replayed again, and the failure told
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
        found = self._recall(program, key, terminated)
        if found is None and self._asks_later and not truncated:
            _, reward, _, truncated, info = self._env.multistep(
                [], reward_spaces=self._reward_name, timeout=timeout
            )
        if truncated:
            self._at = None
            return self._failure(info, move)
        if found is None:
            found = State(
                _key(key, terminated), reward=self._add_reward(node, reward), terminal=terminated
            )
            found = self._remember(program, found)
        self._at = found
        taken = len(self._env.actions) - before  # an episode may end before the last of them
        return Arrival(found, seconds, taken)

    def _apply(self, actions: list[Any], timeout: float) -> StepTuple:
        """Step; a reward that is dear is not asked for yet."""
        rewards: list[str] | None = [] if self._asks_later else None
        if len(actions) == 1:
            return self._env.step(actions[0], reward_spaces=rewards, timeout=timeout)
        return self._env.multistep(actions, reward_spaces=rewards, timeout=timeout)

    def _recall(self, program: SearchedProgram, key: Any, terminal: bool) -> State | None:
        known = _key(key, terminal)
        return program.states.get(known) if self._merges and known is not None else None

    def _remember(self, program: SearchedProgram, found: State) -> State:
        """Return the state that is equal to `found`: itself unless another thread was first."""
        if not self._merges or found.key is None:
            return found
        return program.states.setdefault(found.key, found)

    def _add_reward(self, node: Node, reward: float) -> float:
        """Return the sum of the rewards after a step from `node` that earned `reward`."""
        space = self._env.reward_space
        if not self._merges or not isinstance(space, CostReward):
            return node.reward + float(reward)
        # Not what its steps add up to: that depends on the way, by a rounding error.
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
        if not (self._stands_in(program) and self._at is state):
            failure = self._replay_from(self._start(program, node), node)
        if failure is None and (state.expected > 0 or state.visits >= 2):
            self._keep(program, node)
        return failure

    def _start(self, program: SearchedProgram, node: Node) -> Node:
        """Bring the environment to where it is quickest to get to `node` from."""
        while True:
            seconds, start, is_kept = self._from_afar(program, node)
            if self._stands_in(program):
                at = next((one for one in node.lineage() if one.known is self._at), None)
                if at is not None and node.seconds - at.seconds <= seconds:
                    return at
            if not is_kept:
                self._reset(program)
                return start
            if self._fork(program, start.known):
                return start

    def _from_afar(self, program: SearchedProgram, node: Node) -> tuple[float, Node, bool]:
        """Return the seconds to `node` from where it is quickest, wherever this environment is.

        And where that is, and whether by a fork of a kept process; otherwise it is by a reset.
        """
        from_root = program.reset_seconds + node.seconds, program.root, False
        kept = next((one for one in node.lineage() if one.known in self._kept), None)
        if kept is None:
            return from_root
        from_kept = program.fork_seconds + node.seconds - kept.seconds, kept, True
        return min(from_root, from_kept, key=lambda choice: choice[0])

    def _stands_in(self, program: SearchedProgram) -> bool:
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
        """Keep a process at `node`, if to come back without one takes longer than a fork."""
        if node.known in self._kept or not self._kept.has_room:
            return
        if self._from_afar(program, node)[0] < 2 * program.fork_seconds:
            return
        try:
            self._kept.keep(node.known, self._env.fork(), program.weight)
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
        count = max(len(self._moves.flat(moves)), 1)
        seconds = self._step_seconds * count + has_level * self._level_seconds
        return min(seconds, left + (1.0 if count > 1 else 0.1))


def find_masks(env: CompilerEnv) -> Callable[[CompilerEnv], Sequence[bool]] | None:
    """Return what asks an environment like `env` which actions mean something, if it can say.

    Settings can always be chosen, so nobody is asked about them.
    """
    space: gymnasium.Space[Any] = env.action_space
    if not hasattr(env, "action_masks") or not isinstance(space, gymnasium.spaces.Discrete):
        return None
    if int(space.start) or getattr(space, "sets", ()):
        return None
    return lambda one: one.action_masks()  # type: ignore[attr-defined]  # asked above


def _key(observation: Any, terminal: bool = False) -> Hashable:
    """Return what equal programs have in common, if the environment says it.

    One that an episode ends at is another, because nothing goes on from there.
    """
    if not isinstance(observation, (str, bytes, int)):
        return None
    return (observation, "end") if terminal else observation


def _average(old: float, new: float) -> float:
    return 0.8 * old + 0.2 * new
