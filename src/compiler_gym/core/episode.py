# SPDX-License-Identifier: MIT
"""An episode: a connection to a session, the chosen spaces, and the history since the reset.

Single environments, vectors and pools all step programs through it. A failure of the compiler
during a step becomes the result of the step.
"""

import os
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from compiler_gym.core.arguments import require_seconds
from compiler_gym.core.pending import ResetPending, ResetResult, StepPending, StepResult
from compiler_gym.core.plan import ObservationPlan
from compiler_gym.core.replaying import History
from compiler_gym.core.selection import Ask, Selection
from compiler_gym.core.sessions import Sessions
from compiler_gym.datasets import Benchmark
from compiler_gym.errors import (
    BenchmarkInitError,
    CompilerError,
    CompilerGymError,
    InvalidParameterError,
    ObservationError,
    ServiceError,
    SessionNotFound,
    UnknownNameError,
    error_from_name,
)
from compiler_gym.sandbox import find_requested
from compiler_gym.service import Connection
from compiler_gym.service.messages import (
    Failed,
    Parameter,
    ParameterReply,
    Reply,
    Start,
    Started,
    Step,
    Stepped,
)
from compiler_gym.session import BenchmarkSpec
from compiler_gym.spaces import Reward


@dataclass(frozen=True, slots=True)
class EpisodeSnapshot:
    """Everything about an episode except its session, which a replay restores."""

    program: Benchmark | None
    history: History | None
    """The history; None if no episode is under way."""
    run_settings: Mapping[str, float]
    action_space: str
    observation_space: Any
    """The argument of `Selection.choose_spaces`."""
    reward_space: Any
    """The argument of `Selection.choose_spaces`."""
    rewards: Mapping[str, Reward]
    """Every reward by its name, with the numbers it has."""


class Episode:
    """The episodes of an environment, one after the other.

    It is used by one thread at a time; only `close` may be called by another. It owns its
    connection, and closes it when the episode is garbage collected.

    Args:
        sessions: Opens sessions.
        select: Makes the spaces, given the function that gets observations from the session.
        commandline: Returns the command that repeats the episode outside this library; it is
            reported when a step fails.
    """

    def __init__(
        self,
        sessions: Sessions,
        select: Callable[[Ask], Selection],
        commandline: Callable[[], str],
    ) -> None:
        self.sessions = sessions
        """Opens the next session."""
        self.selection = select(self.ask)
        """The spaces that exist, and those that are chosen."""
        self.selection.reward.is_at_reset = self._is_at_reset
        self.program: Benchmark | None = None
        """The program of the last reset."""
        self.history: History | None = None
        """The actions and the reward so far; None before the first reset and after `close`."""
        self.connection: Connection | None = None
        """The connection to the session; None before the first reset and after `close`."""
        self.closed_actions: tuple[Any, ...] = ()
        """The actions of the episode that `close` ended; empty after the next reset."""
        self.run_settings: dict[str, float] = {}
        """Settings for running programs, which are sent when a session starts."""
        self._commandline = commandline
        self._finalizer: weakref.finalize[..., Any] | None = None

    @property
    def in_progress(self) -> bool:
        """True if a step can be made."""
        history, connection = self.history, self.connection
        return (
            history is not None
            and history.running
            and connection is not None
            and connection.is_open
        )

    @property
    def has_program(self) -> bool:
        """True if there is a program to observe, even after the compiler ended the episode."""
        history, connection = self.history, self.connection
        return (
            history is not None
            and (history.running or history.concluded)
            and connection is not None
            and connection.is_open
        )

    def require(self) -> History:
        """Return the history, or raise `SessionNotFound` if there is no program to observe."""
        history = self.history
        if history is None or not self.has_program:
            raise self._refusal()
        return history

    def choose_rewards(self, value: Any) -> None:
        """Choose the rewards of a step. Another choice restarts the episode's sum at 0.

        Raises:
            UnknownNameError: A reward does not exist.
        """
        selection, history = self.selection, self.history
        before = selection.rewards.rewards
        selection.choose_spaces(rewards=value)
        rewards = selection.rewards.rewards
        if history is not None and not _same_objects(before, rewards):
            history.reward = 0.0 if rewards else None

    def can_enter(self, action: Any) -> bool:
        """Return whether `action` can begin a step without further checks.

        True if the episode is under way and `action` is a plain number of the action space.
        """
        history = self.history
        return (
            type(action) is int
            and 0 <= action < self.selection.action_count
            and history is not None
            and history.running
        )

    def step(
        self, action: Any, observation_spaces: Any, reward_spaces: Any, timeout: float | None
    ) -> StepResult:
        """Apply one action and return the five values of a step."""
        plan, connection = self.selection.plan, self.connection
        if (
            plan.is_bare
            and observation_spaces is None
            and reward_spaces is None
            and timeout is None
            and connection is not None
            and (apply := connection.apply) is not None
            and self.can_enter(action)
        ):
            # In this process, with nothing to observe: a request, its reply and a `StepPending`
            # would take longer than some passes.
            self.history.actions.append(action)  # type: ignore[union-attr]  # as in `begin`
            try:
                reply = apply(action)
            except (CompilerError, ServiceError) as error:
                return self.fail(error, plan)
            return self.conclude(reply, [action], plan)
        return self.begin([action], observation_spaces, reward_spaces, timeout).result()

    def begin(
        self,
        actions: list[Any],
        observation_spaces: Any = None,
        reward_spaces: Any = None,
        timeout: float | None = None,
    ) -> StepPending:
        """Begin a step of several actions: add them to the history, and send nothing yet.

        Args:
            actions: The actions, in order. Without any, the program is only observed.
            observation_spaces: Observations instead of the chosen space; None keeps the choice.
            reward_spaces: Rewards instead of the chosen ones; None keeps the choice.
            timeout: Seconds after which the worker is given up; None is the limit.

        Returns:
            The pending step; its result is that of all actions together.

        Raises:
            InvalidActionError: An action is not in the action space.
            UnknownNameError: A space does not exist.
            SessionNotFound: No episode is under way.
        """
        require_seconds(timeout)
        history, connection, selection = self.history, self.connection, self.selection
        only_observes = history is not None and history.concluded and not actions
        if history is None or connection is None or not (history.running or only_observes):
            raise self._refusal()
        plain = selection.plain(actions)
        plan = selection.plan
        if observation_spaces is not None or reward_spaces is not None:
            plan = selection.plan_for(observation_spaces, reward_spaces)
        history.actions.extend(plain)
        return StepPending(self, connection, Step(plain, plan.names), actions, plan, timeout)

    def begin_reset(self, program: Benchmark, timeout: float | None = None) -> ResetPending:
        """End the last episode and begin a reset to `program`; nothing is sent yet.

        Args:
            program: The program of the next episode.
            timeout: Seconds after which the worker is given up; None is the limit.

        Returns:
            The pending reset; its result is the observation and the info.
        """
        require_seconds(timeout)
        self.history = None
        self.closed_actions = ()
        selection = self.selection
        names = selection.plan.first_names
        return self._starting(program, selection.action_space_name, names, timeout)

    def connect(self) -> tuple[Connection, bool]:
        """Return an open connection to a session, and whether it is new."""
        connection = self.connection
        if connection is not None and connection.is_open:
            return connection, False
        lost, connection = connection, self.sessions.open()
        self._hold(connection)
        if lost is not None:  # a stored exception may keep it alive for long
            lost.close()
        return connection, True

    def start_episode(self, reply: Reply, program: Benchmark) -> ResetResult:
        """Begin the episode on `program` that the session replied to, and return the result.

        Raises:
            BenchmarkInitError, ObservationError, UnknownNameError: The reply is an error.
        """
        selection, uri = self.selection, str(program.uri)
        self._require_started(reply, uri)
        assert isinstance(reply, Started)
        self.program = program
        history = self.history = History(selection.action_space_name, uri)
        if reply.action_space is not None:
            selection.replace_actions(reply.action_space)
        plan, view = selection.plan, selection.observation
        selection.reward.reset(uri, view)
        plan.start(reply.observations, view)
        if plan.rewards.rewards:
            history.reward = 0.0
        return plan.observe(reply.observations), {"benchmark": uri}

    def conclude(
        self, reply: Reply | bool, actions: list[Any], plan: ObservationPlan
    ) -> StepResult:
        """Return the result of a step, given the session's reply to it.

        Args:
            reply: The reply. True or False means only that the actions had no effect, or some.
            actions: The actions of the step, which are in the history.
            plan: The observations and rewards of the step.
        """
        if reply is True or reply is False:
            info = {"action_had_no_effect": reply, "new_action_space": False}
            return StepResult(None, None, False, False, info)
        if type(reply) is not Stepped:
            assert isinstance(reply, Failed)
            if self.history is not None:
                history = self.history.actions
                del history[len(history) - len(actions) + reply.applied + 1 :]
            return self.fail(error_from_name(reply.kind, reply.message), plan)
        if reply.failure is not None:
            return self.fail(error_from_name(*reply.failure), plan)
        new_space, end = reply.action_space, reply.end
        info = {
            "action_had_no_effect": reply.no_effect,
            "new_action_space": new_space is not None,
        }
        if end or new_space is not None or reply.applied < len(actions):
            self._follow(reply, len(actions))
        if plan.is_bare:
            return StepResult(None, None, end, False, info)
        return self._compute_values(reply, actions, plan, info)

    def fail(self, error: CompilerGymError, plan: ObservationPlan) -> StepResult:
        """End the episode and return the result of the step that failed with `error`."""
        history = self.history
        if history is None:  # closed by another thread
            raise error
        history.running = history.concluded = False
        error.reproducer = self._reproducer()
        reward = plan.reward_on_error(history.reward or 0.0)
        if plan is self.selection.plan:
            history.earn(reward)
        info = {
            "action_had_no_effect": False,
            "new_action_space": False,
            "error": error,
            "error_type": type(error).__name__,
            "error_details": str(error),
            "reproducer": error.reproducer,
        }
        return StepResult(plan.observations.defaults(), reward, False, True, info)

    def ask(self, names: list[str]) -> list[Any]:
        """Return observations as the session sends them.

        Raises:
            SessionNotFound: There is no program to observe.
            CompilerError, ServiceError: The observation failed.
        """
        reply = self._call(Step([], names))
        assert isinstance(reply, Stepped)
        if reply.failure is not None:
            raise error_from_name(*reply.failure)
        return reply.observations

    def send_parameter(self, key: str, value: str) -> str:
        """Send a parameter to the session and return its reply.

        Raises:
            InvalidParameterError: The session has no parameter called `key`.
        """
        reply = self._call(Parameter(key, value))
        assert isinstance(reply, ParameterReply)
        if reply.value is None:
            raise InvalidParameterError(f"the session has no parameter {key!r}")
        return reply.value

    def fork(self, commandline: Callable[[], str]) -> "Episode":
        """Return an episode in exactly the same state, in a copy of the session's process.

        A session that cannot be copied is replaced by a new one, which replays the actions.

        Args:
            commandline: The same as for the constructor.

        Raises:
            ServiceError: The worker was lost; the next step reports the end of the episode.
        """
        twin = self.restart(commandline)
        if self.has_program:
            assert self.connection is not None
            assert self.history is not None
            twin.history = self.history.copy()
            forked = self.connection.fork()
            if forked is None:
                twin._replay()
            else:
                twin._hold(forked)
        return twin

    def restart(self, commandline: Callable[[], str]) -> "Episode":
        """Return an episode with the same spaces and settings, before its first reset."""
        twin = Episode(self.sessions, self.selection.copy, commandline)
        twin.program = self.program
        twin.run_settings = dict(self.run_settings)
        return twin

    def snapshot(self) -> EpisodeSnapshot:
        """Return a record with which another process can continue this episode."""
        selection = self.selection
        return EpisodeSnapshot(
            program=self.program,
            history=self.history.copy() if self.history and self.has_program else None,
            run_settings=dict(self.run_settings),
            action_space=selection.action_space_name,
            observation_space=selection.observations.names,
            reward_space=selection.rewards.names,
            rewards=selection.reward.spaces,
        )

    def restore(self, snapshot: EpisodeSnapshot) -> None:
        """Continue the episode of `snapshot`: its actions are replayed in a new session.

        Spaces that were added after the environment was made are lost, except for rewards in use.
        """
        selection = self.selection
        self.program = snapshot.program
        self.run_settings = dict(snapshot.run_settings)
        selection.choose_actions(snapshot.action_space)
        selection.choose_spaces(observations=snapshot.observation_space)
        rewards = snapshot.reward_space
        in_use = {rewards} if isinstance(rewards, str) else set(rewards or ())
        for name, reward in snapshot.rewards.items():
            if name in selection.reward or name in in_use:
                selection.reward.add_space(reward)
        selection.choose_spaces(rewards=rewards)
        self.history = snapshot.history
        if self.history is not None:
            self._replay()

    def close(self) -> None:
        """End the session, also during a request of another thread."""
        connection, self.connection = self.connection, None
        history, self.history = self.history, None
        if history is not None:
            self.closed_actions = tuple(history.actions)
        if connection is not None:
            connection.abandon()

    def _refusal(self) -> SessionNotFound:
        if self.history is None:
            return SessionNotFound("no episode is running: call reset() first")
        return SessionNotFound("the episode has ended: call reset() to start another")

    def _starting(
        self, program: Benchmark, action_space: str, names: list[str], timeout: float | None = None
    ) -> ResetPending:
        benchmark = BenchmarkSpec(
            str(program.uri), program.contents, dict(program.parameters), program.encode_run()
        )
        limits = self.sessions.limits
        settings = {"growth": limits.growth, "growth_floor": float(limits.growth_floor)}
        sandbox = find_requested(limits.sandbox)
        if sandbox is not None:
            settings["sandbox"] = float(sandbox.strength)
        settings |= {key: float(number) for key, number in self.run_settings.items()}
        request = Start(benchmark, action_space, names, settings)
        return ResetPending(self, program, request, timeout)

    def _require_started(self, reply: Reply, uri: str) -> None:
        if isinstance(reply, Failed):
            error = error_from_name(reply.kind, reply.message)
            if isinstance(error, (BenchmarkInitError, ObservationError, UnknownNameError)):
                raise error
            raise BenchmarkInitError(f"cannot start on {uri}: {reply.message}") from error

    def _replay(self) -> None:
        """Start a session and apply the actions of the history, which is not changed."""
        history, program = self.history, self.program
        assert history is not None
        assert program is not None
        reply = self._starting(program, history.action_space, []).reply()
        self._require_started(reply, history.benchmark)
        assert isinstance(reply, Started)
        listed = reply.action_space
        if history.actions:
            replayed = self._call(Step(list(history.actions), []))
            assert isinstance(replayed, Stepped)
            # The session sends no action space if the one it listed at the start is still valid.
            listed = replayed.action_space or listed
        if listed is not None:
            self.selection.replace_actions(listed)

    def _follow(self, reply: Stepped, count: int) -> None:
        """Note which actions were applied, the new action space and the end of the episode."""
        history = self.history
        if history is None:  # closed by another thread
            return
        if reply.applied < count:
            del history.actions[reply.applied - count :]
        if reply.action_space is not None:
            self.selection.replace_actions(reply.action_space)
        if reply.end:
            history.running, history.concluded = False, True

    def _compute_values(
        self, reply: Stepped, actions: list[Any], plan: ObservationPlan, info: dict[str, Any]
    ) -> StepResult:
        view = self.selection.observation
        try:
            if self._is_at_reset():
                plan.start(reply.observations, view)
            reward = plan.reward(actions, reply.observations, view)
            observation = plan.observe(reply.observations)
        except (CompilerError, ServiceError) as error:
            return self.fail(error, plan)
        if plan.rewards is self.selection.rewards and self.history is not None:
            self.history.earn(reward)
        return StepResult(observation, reward, reply.end, False, info)

    def _is_at_reset(self) -> bool:
        return self.history is not None and not self.history.actions

    def _call(self, request: Step | Parameter) -> Reply:
        history = self.require()
        assert self.connection is not None
        # A worker that is lost here closes its connection: the next step reports the end.
        reply = self.connection.call(request)
        if isinstance(reply, Failed):
            if not reply.recoverable:
                history.running = history.concluded = False
            raise error_from_name(reply.kind, reply.message)
        return reply

    def _hold(self, connection: Connection) -> None:
        """Use `connection` from now on, and close it when this episode is garbage collected."""
        self.connection = connection
        if self._finalizer is not None:
            self._finalizer.detach()
        self._finalizer = weakref.finalize(self, _close_if_owner, connection, os.getpid())

    def _reproducer(self) -> str | None:
        """Return the command that repeats the episode outside this library."""
        try:
            return self._commandline()
        except (AttributeError, CompilerGymError):
            return None


def _same_objects(first: Sequence[object], second: Sequence[object]) -> bool:
    """Return whether two lists hold the same objects in the same order."""
    return len(first) == len(second) and all(a is b for a, b in zip(first, second, strict=True))


def _close_if_owner(connection: Connection, owner: int) -> None:
    if os.getpid() == owner:
        connection.close()
