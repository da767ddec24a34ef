# SPDX-License-Identifier: MIT
"""The request path: from an action to a session and back, failures included.

This part of the environment holds the episode and the line to its session. It
turns every failure of a compiler into the result of a step.
"""

import os
import weakref
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

from compiler_gym.caching import CachingConnection, TranspositionCache
from compiler_gym.core.choices import Choices
from compiler_gym.core.describe import plain_from_value
from compiler_gym.core.episode import Episode
from compiler_gym.core.plan import Plan
from compiler_gym.datasets import Benchmark, BenchmarkUri, Datasets
from compiler_gym.errors import (
    BenchmarkInitError,
    CompilerError,
    CompilerGymError,
    InvalidActionError,
    ObservationError,
    ServiceError,
    ServiceIsClosed,
    SessionNotFound,
    UnknownNameError,
    WorkerTimeoutError,
    error_from_name,
)
from compiler_gym.service import (
    Connection,
    Limits,
    LocalConnection,
    SessionSource,
    WorkerConnection,
)
from compiler_gym.service.messages import Failed, Parameter, Reply, Start, Started, Step, Stepped
from compiler_gym.session import BenchmarkSpec
from compiler_gym.version import __version__

__all__ = ["Requests", "StepResult"]

StepResult = tuple[Any, Any, bool, bool, dict[str, Any]]
"""Observation, reward, terminated, truncated, info."""


class Requests(Choices):
    """An episode and the session that runs it."""

    datasets: Datasets
    """The programs this environment can start from."""
    limits: Limits
    """The bounds of this environment's worker."""
    isolation: str
    cache: TranspositionCache | None
    """What is known of actions already, if anything is to be remembered."""
    state_observation: ClassVar[str | None]
    _source: SessionSource
    _next_benchmark: str | Benchmark | None

    def _start_without_episode(self) -> None:
        self._connection: Connection | None = None
        self._connection_is_fresh = True
        self._episode: Episode | None = None
        self._benchmark: Benchmark | None = None
        self._finalizer: weakref.finalize[..., Any] | None = None

    def commandline(self) -> str:
        """Return the actions of the episode as the compiler's command line."""
        return self._action_space.to_string(self.actions)  # type: ignore[attr-defined]  # ours has it

    @property
    def in_episode(self) -> bool:
        """Whether `step` can be called."""
        episode, connection = self._episode, self._connection
        return (
            episode is not None
            and episode.running
            and connection is not None
            and connection.is_open
        )

    @property
    def benchmark(self) -> Benchmark | None:
        """The program of the episode, or of the next one. Setting it takes effect at reset."""
        if self._next_benchmark is not None and not self.in_episode:
            return self._resolve(self._next_benchmark)
        return self._benchmark

    @benchmark.setter
    def benchmark(self, value: str | Benchmark) -> None:
        self._next_benchmark = self._resolve(value)

    @property
    def actions(self) -> list[Any]:
        """The actions of the episode, in order."""
        return [] if self._episode is None else list(self._episode.actions)

    @property
    def episode_reward(self) -> float | None:
        """The sum of the episode's rewards, or None without a reward space."""
        return None if self._episode is None else self._episode.reward

    @property
    def episode_walltime(self) -> float:
        """Seconds since the last reset."""
        return 0.0 if self._episode is None else self._episode.walltime

    def _apply(
        self, actions: list[Any], observation_spaces: Any, reward_spaces: Any, timeout: float | None
    ) -> StepResult:
        plain, plan = self._prepare(actions, observation_spaces, reward_spaces)
        try:
            reply = self._connection.call(Step(plain, plan.names), timeout)  # type: ignore[union-attr]  # checked by _prepare
        except (CompilerError, ServiceError) as error:
            return self._failed_step(error, plan)
        return self._conclude(reply, actions, plain, plan)

    def _prepare(
        self, actions: list[Any], observation_spaces: Any = None, reward_spaces: Any = None
    ) -> tuple[list[Any], Plan]:
        """Enter `actions` in the episode; return them as the session takes them, and the plan.

        Raises `InvalidActionError` if one is not in the action space.
        """
        episode, connection = self._episode, self._connection
        if episode is None or not episode.running or connection is None:
            episode = self._need_episode()
        count, plain = self._plain_action_count, actions
        for action in actions:
            if type(action) is not int or not 0 <= action < count:
                plain = self._plain_from(actions)
                break
        if observation_spaces is None and reward_spaces is None:
            plan = self._plan
        else:
            plan = self._plan_for(observation_spaces, reward_spaces)
        episode.actions.extend(plain)
        return plain, plan

    def _conclude(
        self, reply: Reply, actions: list[Any], plain: list[Any], plan: Plan
    ) -> StepResult:
        """Return what a reply means for the user."""
        if type(reply) is not Stepped:
            assert isinstance(reply, Failed)
            taken = self._episode.actions  # type: ignore[union-attr]  # checked by _prepare
            del taken[len(taken) - len(plain) + reply.applied + 1 :]
            return self._failed_step(error_from_name(reply.kind, reply.message), plan)
        if reply.failure is not None:
            return self._failed_step(error_from_name(*reply.failure), plan)
        new_space, end = reply.action_space, reply.end
        info: dict[str, Any] = {
            "action_had_no_effect": reply.no_effect,
            "new_action_space": new_space is not None,
        }
        if end or new_space is not None or reply.applied < len(actions):
            self._follow(reply, len(actions))
        if plan.is_bare:
            return None, None, end, False, info
        return self._valued(reply, actions, plan, info)

    def _follow(self, reply: Stepped, count: int) -> None:
        """Take over what a reply says of the episode, besides its observations."""
        episode = self._episode
        assert episode is not None
        if reply.applied < count:
            del episode.actions[reply.applied - count :]
        if reply.action_space is not None:
            self._replace_action_space(reply.action_space)
        if reply.end:
            episode.running = False

    def _valued(
        self, reply: Stepped, actions: list[Any], plan: Plan, info: dict[str, Any]
    ) -> StepResult:
        try:
            reward = plan.reward(actions, reply.observations, self.observation)
            observation = plan.observe(reply.observations)
        except (CompilerError, ServiceError) as error:
            return self._failed_step(error, plan)
        if plan is self._plan:
            self._episode.earn(reward)  # type: ignore[union-attr]  # checked by _prepare
        return observation, reward, reply.end, False, info

    def _plain_from(self, actions: list[Any]) -> list[Any]:
        space = self._action_space
        for action in actions:
            if not space.contains(action):
                raise InvalidActionError(
                    f"{action!r} ({type(action).__name__}) is not an action of {space!r}"
                )
        if self._plain_action_count:
            return list(map(int, actions))
        return [plain_from_value(space, action) for action in actions]

    def _failed_step(self, error: CompilerGymError, plan: Plan) -> StepResult:
        episode = self._episode
        if episode is None:  # closed by another thread
            raise error
        episode.running = False
        error.reproducer = self._reproducer()
        reward = plan.reward_on_error(episode.reward or 0.0)
        if plan is self._plan:
            episode.earn(reward)
        info = {
            "action_had_no_effect": False,
            "new_action_space": False,
            "error": error,
            "error_type": type(error).__name__,
            "error_details": str(error),
            "reproducer": error.reproducer,
        }
        return plan.observations.defaults(), reward, False, True, info

    def _ask(self, names: list[str]) -> list[Any]:
        """Return plain observations of the running episode, or raise."""
        self._need_episode()
        reply = self._call(Step([], names))
        assert isinstance(reply, Stepped)
        if reply.failure is not None:
            raise error_from_name(*reply.failure)
        return reply.observations

    def _call(self, request: Step | Parameter) -> Any:
        episode = self._need_episode()
        assert self._connection is not None
        # A worker that is lost here closes its connection: the next step reports the end.
        reply = self._connection.call(request)
        if isinstance(reply, Failed):
            if not reply.recoverable:
                episode.running = False
            raise error_from_name(reply.kind, reply.message)
        return reply

    def _begin(self, program: Benchmark, timeout: float | None) -> list[Any]:
        """Start an episode on `program` and return the plain observations of the plan."""
        reply = self._request_start(self._start_request(program), timeout)
        return self._begun(reply, program)

    def _start_request(self, program: Benchmark) -> Start:
        """Forget the last episode and return the request that starts one on `program`."""
        self._episode = None
        benchmark = BenchmarkSpec(
            str(program.uri), program.contents, dict(program.parameters), program.packed_run()
        )
        limits = {"growth": self.limits.growth, "growth_floor": float(self.limits.growth_floor)}
        return Start(benchmark, self._action_space_name, self._plan.names, limits)

    def _begun(self, reply: Reply, program: Benchmark) -> list[Any]:
        """Take the reply to a start and return the plain observations of the plan."""
        plan, uri = self._plan, program.uri
        if isinstance(reply, Failed):
            error = error_from_name(reply.kind, reply.message)
            if isinstance(error, (BenchmarkInitError, ObservationError, UnknownNameError)):
                raise error
            raise BenchmarkInitError(f"cannot start on {uri}: {reply.message}") from error
        assert isinstance(reply, Started)
        self._benchmark = program
        self._episode = Episode(self._action_space_name, str(uri))
        if reply.action_space is not None:
            self._replace_action_space(reply.action_space)
        self.reward.reset(str(uri), self.observation)
        plan.start(reply.observations, self.observation)
        if plan.rewards.rewards:
            self._episode.reward = 0.0
        return reply.observations

    def _request_start(self, request: Start, timeout: float | None) -> Reply:
        """Return the reply to `request`; a worker that was lost since is replaced once."""
        while True:
            connection = self._connect()
            fresh = self._connection_is_fresh
            try:
                return connection.call(request, timeout)
            except ServiceError as error:
                if self._connection is None:
                    raise ServiceIsClosed("the environment was closed during its reset") from error
                if fresh or isinstance(error, WorkerTimeoutError):
                    uri = request.benchmark.uri
                    raise BenchmarkInitError(f"cannot start on {uri}: {error}") from error

    def _connect(self) -> Connection:
        connection = self._connection
        self._connection_is_fresh = connection is None or not connection.is_open
        if connection is not None and connection.is_open:
            return connection
        connection = self._opener()() if self.cache is None else self._cached(self.cache)
        self._connection = connection
        self._watch(connection)
        return connection

    def _opener(self) -> Callable[[], Connection]:
        """Return what opens a session; it must not keep this environment alive."""
        if self.isolation == "in-process":
            return partial(LocalConnection, self._source)
        return partial(WorkerConnection.open, self._source, self.limits)

    def _cached(self, cache: TranspositionCache) -> Connection:
        specs = self.observation.spaces.values()
        assert self.state_observation is not None
        return CachingConnection(
            self._opener(),
            cache,
            key=self.state_observation,
            steady=[s.id for s in specs if s.deterministic and s.id == s.base_id],
            version=f"{__version__} {self._compiler_version} {self._source}",
        )

    def _watch(self, connection: Connection) -> None:
        if self._finalizer is not None:
            self._finalizer.detach()
        self._finalizer = weakref.finalize(self, _close_if_owner, connection, os.getpid())

    def _choose_benchmark(self, benchmark: str | Benchmark | None) -> Benchmark:
        if benchmark is not None:
            self._next_benchmark = None
            return self._resolve(benchmark)
        if self._next_benchmark is not None:
            program = self._resolve(self._next_benchmark)
            self._next_benchmark = None
            return program
        if self._benchmark is not None:
            return self._benchmark
        raise BenchmarkInitError(
            "no benchmark is set: expected reset(benchmark=...) with a URI or a Benchmark"
        )

    def _resolve(self, benchmark: Any) -> Benchmark:
        if isinstance(benchmark, Benchmark):
            return benchmark
        if isinstance(benchmark, (str, BenchmarkUri)):
            return self.datasets.benchmark(str(benchmark))
        raise BenchmarkInitError(
            f"a benchmark is a URI or a Benchmark, found {type(benchmark).__name__}"
        )

    def _need_episode(self) -> Episode:
        if self._episode is None:
            raise SessionNotFound("no episode is running: call reset() first")
        if not self.in_episode:
            raise SessionNotFound("the episode has ended: call reset() to start another")
        return self._episode

    def _reproducer(self) -> str | None:
        """Return the command that repeats the episode outside this library."""
        try:
            return self.commandline()
        except (AttributeError, CompilerGymError):
            return None


def _close_if_owner(connection: Connection, owner: int) -> None:
    if os.getpid() == owner:
        connection.close()
