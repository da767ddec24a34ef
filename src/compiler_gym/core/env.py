# SPDX-License-Identifier: MIT
"""The one Gymnasium environment over a compiler session.

It names no compiler. A plug-in says which session to run and which rewards,
derived observations and datasets to offer; everything else is here.
"""

import copy
import os
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from typing import Any, ClassVar, Literal

import gymnasium
import numpy as np

from compiler_gym.core.describe import plain_from_value, space_from_spec
from compiler_gym.core.episode import Episode
from compiler_gym.core.plan import ObservationChoice, Plan, RewardChoice
from compiler_gym.core.state import CompilerEnvState
from compiler_gym.core.views import (
    DerivedObservation,
    ObservationSpaceSpec,
    ObservationView,
    RewardView,
)
from compiler_gym.datasets import Benchmark, BenchmarkUri, Dataset, Datasets
from compiler_gym.errors import (
    BenchmarkInitError,
    CompilerError,
    CompilerGymError,
    InvalidActionError,
    InvalidParameterError,
    ObservationError,
    ServiceError,
    SessionNotFound,
    UnknownNameError,
    error_from_name,
)
from compiler_gym.service import (
    Connection,
    Limits,
    LocalConnection,
    SessionSource,
    WorkerConnection,
    describe_source,
)
from compiler_gym.service.messages import (
    Failed,
    Parameter,
    ParameterReply,
    Start,
    Started,
    Step,
    Stepped,
)
from compiler_gym.session import ActionSpaceSpec, BenchmarkSpec, CommandlineSpec
from compiler_gym.spaces import Reward
from compiler_gym.version import __version__

__all__ = ["CompilerEnv", "OptionalArgumentValue"]


class OptionalArgumentValue(Enum):
    """Tells "leave it as it is" from None, which takes a space away."""

    UNCHANGED = 1


_UNCHANGED = OptionalArgumentValue.UNCHANGED
StepResult = tuple[Any, Any, bool, bool, dict[str, Any]]


class CompilerEnv(gymnasium.Env[Any, Any]):
    """Optimise a program one action at a time.

    Actions, observations and rewards are those of the compiler's plug-in; see
    ``compiler-gym describe ENV``. `step` never raises for a failure of the
    compiler: the episode is truncated, the observation is the space's default,
    the reward is the reward space's value on error, and ``info["error"]`` holds
    the typed error. The next `reset` starts afresh.

    An environment is used by one thread at a time and belongs to the process
    that made it; a forked child must call `reset` before anything else.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["human", "ansi"], "render_fps": 1}
    command_line_styles: ClassVar[Mapping[str, Callable[..., gymnasium.Space[Any]]]] = {}
    """How a plug-in's command lines are written, by the style its session names."""
    default_benchmark: ClassVar[str | None] = None
    """The program of a reset that was given none."""

    def __init__(
        self,
        source: SessionSource,
        *,
        benchmark: str | Benchmark | None = None,
        observation_space: Any = None,
        reward_space: Any = None,
        action_space: str | None = None,
        derived_observation_spaces: Iterable[DerivedObservation] = (),
        rewards: Iterable[Reward] = (),
        datasets: Iterable[Dataset] = (),
        isolation: Literal["process", "in-process"] = "process",
        limits: Limits | None = None,
        render_mode: str | None = None,
    ) -> None:
        if isolation not in ("process", "in-process"):
            raise InvalidParameterError(
                f"isolation is {isolation!r}: expected 'process' or 'in-process'"
            )
        if render_mode not in (None, "human", "ansi"):
            raise InvalidParameterError(f"render_mode is {render_mode!r}: expected human or ansi")
        self.render_mode = render_mode
        self.limits = limits or Limits()
        """The bounds of this environment's worker."""
        self.isolation = isolation
        self.datasets = Datasets(datasets)
        """The programs this environment can start from."""
        self._source = source
        self._connection: Connection | None = None
        self._episode: Episode | None = None
        self._closed = False
        description = describe_source(source, in_process=isolation == "in-process")
        self._compiler_version = description.compiler_version
        self._action_specs = {spec.name: spec for spec in description.action_spaces}
        self._built_action_spaces: dict[str, gymnasium.Space[Any]] = {}
        self.observation = ObservationView(
            self._ask, map(ObservationSpaceSpec.from_plain, description.observation_spaces)
        )
        """Every observation, on demand: ``env.observation["Autophase"]``."""
        for derived in derived_observation_spaces:
            self.observation.spaces[derived.id] = self.observation.spec(derived.base_id).derive(
                derived
            )
        self.reward = RewardView(rewards, self.observation)
        """Every reward since it was last asked for: ``env.reward["..."]``."""
        self._benchmark: Benchmark | None = None
        self._next_benchmark: str | Benchmark | None = benchmark or self.default_benchmark
        if isinstance(self._next_benchmark, str):
            BenchmarkUri.from_string(self._next_benchmark)
        self._set_action_space(action_space)
        self._observations = ObservationChoice.named(None, self.observation)
        self._rewards = RewardChoice.named(None, self.reward.spec)
        self._replan()
        self.observation_space = observation_space
        self.reward_space = reward_space
        self._finalizer: weakref.finalize[..., Any] | None = None

    # -- what this environment is ------------------------------------------------------------

    @property
    def version(self) -> str:
        """The version of this library."""
        return __version__

    @property
    def compiler_version(self) -> str:
        """The version of the compiler."""
        return self._compiler_version

    @property
    def action_spaces(self) -> list[gymnasium.Space[Any]]:
        """Every action space; set `action_space` to one of them or to its name."""
        return [self._action_space_named(name) for name in self._action_specs]

    @property
    def action_space(self) -> gymnasium.Space[Any]:
        """The actions of the next `step`. Setting it takes effect at the next reset."""
        return self._action_space

    @action_space.setter
    def action_space(self, value: Any) -> None:
        self._set_action_space(value)

    @property
    def observation_space(self) -> gymnasium.Space[Any] | None:  # type: ignore[override]  # None: none is set
        """The space of the observation that `step` returns, or None.

        Set it to a name, to a list of names (a dictionary of them) or to None.
        """
        return self._observation_space

    @observation_space.setter
    def observation_space(self, value: Any) -> None:
        self._observations = ObservationChoice.named(value, self.observation)
        self._observation_space = self._observations.space()
        self._replan()

    @property
    def observation_space_spec(self) -> ObservationSpaceSpec | None:
        """The spec of the observation space, if one is set."""
        specs = self._observations.specs
        return specs[0] if self._observations.shape == "one" else None

    @property
    def reward_space(self) -> Reward | None:
        """The reward that `step` returns, or None. Set it to a name, a `Reward` or None."""
        return self._rewards.rewards[0] if self._rewards.rewards else None

    @reward_space.setter
    def reward_space(self, value: Any) -> None:
        if isinstance(value, Reward):
            self.reward.add_space(value)
        self._rewards = RewardChoice.named(value, self.reward.spec)
        self._replan()

    @property
    def reward_space_spec(self) -> Reward | None:
        """The reward space, under the name it had in CompilerGym 0.2.5."""
        return self.reward_space

    @property
    def reward_range(self) -> tuple[float, float]:
        """The bounds of the reward space."""
        space = self.reward_space
        return (float("-inf"), float("inf")) if space is None else space.range

    # -- the episode -------------------------------------------------------------------------

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

    @property
    def state(self) -> CompilerEnvState:
        """The episode so far, as a record that replays it."""
        episode = self._need_episode()
        return CompilerEnvState(
            benchmark=episode.benchmark,
            commandline=self.commandline(),
            walltime=episode.walltime,
            reward=episode.reward,
            action_space=episode.action_space,
            version=self.version,
            compiler_version=self.compiler_version,
            state_hash=self._state_hash(),
        )

    def commandline(self) -> str:
        """Return the actions of the episode as the compiler's command line."""
        return self._action_space.to_string(self.actions)  # type: ignore[attr-defined]  # ours has it

    def commandline_to_actions(self, commandline: str) -> list[Any]:
        """Return the actions that `commandline` stands for."""
        return self._action_space.from_string(commandline)  # type: ignore[attr-defined]  # ours has it

    # -- Gymnasium ---------------------------------------------------------------------------

    def reset(
        self,
        *,
        seed: int | None = None,
        options: dict[str, Any] | None = None,
        benchmark: str | Benchmark | None = None,
        action_space: Any = None,
        observation_space: Any = _UNCHANGED,
        reward_space: Any = _UNCHANGED,
        timeout: float | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode and return ``(observation, info)``.

        `options` may hold any of the other arguments by name. `seed` also seeds
        the action space and the choice of random programs. Raises
        `BenchmarkInitError` when the program cannot be read.
        """
        if self._closed:
            self._closed = False
        super().reset(seed=seed)
        if seed is not None:
            self._action_space.seed(seed)
        chosen = dict(options or {})
        benchmark = chosen.get("benchmark", benchmark)
        timeout = chosen.get("timeout", timeout)
        action_space = chosen.get("action_space", action_space)
        observation_space = chosen.get("observation_space", observation_space)
        reward_space = chosen.get("reward_space", reward_space)
        self.datasets.generator = self.np_random
        if action_space is not None:
            self._set_action_space(action_space)
            if seed is not None:
                self._action_space.seed(seed)
        if observation_space is not _UNCHANGED:
            self.observation_space = observation_space
        if reward_space is not _UNCHANGED:
            self.reward_space = reward_space
        self._restore_action_space()
        program = self._choose_benchmark(benchmark)
        self._begin(program, timeout)
        plan = self._plan
        plain = self._last_plain
        observation = plan.observe(plain)
        return observation, {"benchmark": str(program.uri)}

    def step(
        self,
        action: Any,
        observation_spaces: Any = None,
        reward_spaces: Any = None,
        *,
        timeout: float | None = None,
    ) -> StepResult:
        """Apply `action` and return ``(observation, reward, terminated, truncated, info)``.

        `observation_spaces` and `reward_spaces` replace the environment's own
        for this step: a name gives a value, a list of names a list of values.
        Raises `InvalidActionError` for an action outside the space and
        `SessionNotFound` without an episode; never for a failing compiler.
        """
        if not self._action_space.contains(action):
            raise self._invalid(action)
        return self._apply([action], observation_spaces, reward_spaces, timeout)

    def multistep(
        self,
        actions: Iterable[Any],
        observation_spaces: Any = None,
        reward_spaces: Any = None,
        *,
        timeout: float | None = None,
    ) -> StepResult:
        """Apply `actions` in one request; the result is that of the last, as of `step`.

        The reward is for all of them together. No actions is a pure observation.
        """
        checked = list(actions)
        contains = self._action_space.contains
        for action in checked:
            if not contains(action):
                raise self._invalid(action)
        return self._apply(checked, observation_spaces, reward_spaces, timeout)

    def render(self, mode: str | None = None) -> str | None:
        """Print the program as it is now, or return it as text in mode ``ansi``."""
        mode = mode or self.render_mode or "human"
        if mode not in ("human", "ansi"):
            raise InvalidParameterError(f"render mode is {mode!r}: expected human or ansi")
        text = self._render_text()
        if mode == "ansi":
            return text
        print(text)
        return None

    def close(self) -> None:
        """End the session and its process. Calling it twice is fine."""
        connection, self._connection = self._connection, None
        self._episode = None
        self._closed = True
        if connection is not None:
            connection.close()

    def __enter__(self) -> "CompilerEnv":
        return self

    def __exit__(self, *args: Any) -> bool:
        self.close()
        return False

    # -- copies ------------------------------------------------------------------------------

    def fork(self) -> "CompilerEnv":
        """Return an independent environment in exactly the same state.

        Its process is a copy of this one's. It has its own random generators,
        which continue as these would.
        """
        twin = self._twin()
        if self.in_episode:
            assert self._connection is not None and self._episode is not None
            twin._episode = self._episode.fork()
            try:
                forked = self._connection.fork()
            except ServiceError:
                if not self._connection.is_open:
                    self._episode.running = False
                raise
            if forked is None:
                twin._replay(self._episode.actions)
            else:
                twin._connection = forked
                twin._watch(forked)
        return twin

    def __copy__(self) -> "CompilerEnv":
        raise TypeError("an environment has a process: use copy.deepcopy() or fork()")

    def __deepcopy__(self, memo: dict[int, Any]) -> "CompilerEnv":
        return self.fork()

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """Remember the arguments, so that another process can make the same environment."""
        self = super().__new__(cls)
        self._made_with = (args, kwargs)
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what makes this environment and where its episode stands.

        Unpickling replays the episode in a new worker. Spaces that were added
        after the environment was made are not part of it.
        """
        args, kwargs = self._made_with
        snapshot = {
            "spec": self.spec,
            "benchmark": self._benchmark,
            "next_benchmark": self._next_benchmark,
            "action_space": self._action_space_name,
            "observation_space": self._observations.names,
            "reward_space": self._rewards.names,
            "rewards": {name: r.__dict__ for name, r in self.reward.spaces.items()},
            "episode": self._episode.fork() if self._episode and self.in_episode else None,
            "np_random": self._np_random,
            "np_random_seed": self._np_random_seed,
        }
        return _remake, (type(self), args, kwargs, snapshot)

    def _restore(self, snapshot: dict[str, Any]) -> None:
        self.spec = snapshot["spec"]
        self._benchmark = snapshot["benchmark"]
        self._next_benchmark = snapshot["next_benchmark"]
        self._set_action_space(snapshot["action_space"])
        self.observation_space = snapshot["observation_space"]
        self.reward_space = snapshot["reward_space"]
        self._np_random = snapshot["np_random"]
        self._np_random_seed = snapshot["np_random_seed"]
        for name, numbers in snapshot["rewards"].items():
            if name in self.reward.spaces:
                self.reward.spaces[name].__dict__.update(numbers)
        self._episode = snapshot["episode"]
        if self._episode is not None:
            self._replay(self._episode.actions)

    # -- states ------------------------------------------------------------------------------

    def apply(self, state: CompilerEnvState) -> None:
        """Reset to the program of `state` and apply its command line.

        Raises `InvalidActionError` or `UnknownNameError` when the command line
        does not belong to the action space, and the typed error when the compiler fails on the way.
        """
        if state.action_space is not None and state.action_space != self._action_space_name:
            self._set_action_space(state.action_space)
        self.reset(benchmark=state.benchmark)
        actions = self.commandline_to_actions(state.commandline)
        if not actions:
            return
        _, _, _, truncated, info = self.multistep(actions)
        if truncated and "error" in info:
            raise info["error"]

    def validate(self, state: CompilerEnvState | None = None) -> Any:
        """Replay `state` (default: the current one) and return a `ValidationResult`."""
        raise UnknownNameError(f"{type(self).__name__} has no validator")

    def send_param(self, key: str, value: str) -> str:
        """Hand one parameter to the session and return its reply."""
        return self.send_params((key, value))[0]

    def send_params(self, *parameters: tuple[str, str]) -> list[str]:
        """Hand parameters to the session, in order, and return its replies.

        Raises `InvalidParameterError` for a key that the session does not know.
        """
        replies: list[str] = []
        for key, value in parameters:
            reply = self._call(Parameter(str(key), str(value)))
            assert isinstance(reply, ParameterReply)
            if reply.value is None:
                raise InvalidParameterError(f"the session knows no parameter {key!r}")
            replies.append(reply.value)
        return replies

    # -- the request path --------------------------------------------------------------------

    def _apply(
        self, actions: list[Any], observation_spaces: Any, reward_spaces: Any, timeout: float | None
    ) -> StepResult:
        episode, connection = self._episode, self._connection
        if episode is None or not episode.running or connection is None:
            self._need_episode()
        if self._plain_actions:
            plain: list[Any] = [int(action) for action in actions]
        else:
            plain = [plain_from_value(self._action_space, action) for action in actions]
        if observation_spaces is None and reward_spaces is None:
            plan = self._plan
        else:
            plan = self._plan_for(observation_spaces, reward_spaces)
        episode.actions.extend(plain)  # type: ignore[union-attr]  # checked above
        try:
            reply = connection.call(Step(plain, plan.names), timeout)  # type: ignore[union-attr]  # checked above
        except (CompilerError, ServiceError) as error:
            return self._failed_step(error, plan)
        if type(reply) is Stepped and reply.failure is None:
            return self._stepped(reply, actions, plan)
        if type(reply) is Stepped:
            assert reply.failure is not None
            return self._failed_step(error_from_name(*reply.failure), plan)
        assert isinstance(reply, Failed)
        del episode.actions[len(episode.actions) - len(plain) + reply.applied + 1 :]  # type: ignore[union-attr]  # checked above
        return self._failed_step(error_from_name(reply.kind, reply.message), plan)

    def _stepped(self, reply: Stepped, actions: list[Any], plan: Plan) -> StepResult:
        episode = self._episode
        assert episode is not None
        info: dict[str, Any] = {
            "action_had_no_effect": reply.no_effect,
            "new_action_space": reply.action_space is not None,
        }
        if reply.applied < len(actions):
            del episode.actions[reply.applied - len(actions) :]
        if reply.action_space is not None:
            self._replace_action_space(reply.action_space)
        if reply.end:
            episode.running = False
        if plan.is_bare:
            return None, None, reply.end, False, info
        try:
            reward = plan.reward(actions, reply.observations, self.observation)
            observation = plan.observe(reply.observations)
        except (CompilerError, ServiceError) as error:
            return self._failed_step(error, plan)
        if plan is self._plan and reward is not None:
            earned = reward if type(reward) is float else sum(reward)
            episode.reward = earned + (episode.reward or 0.0)
        return observation, reward, reply.end, False, info

    def _failed_step(self, error: CompilerGymError, plan: Plan) -> StepResult:
        episode = self._episode
        assert episode is not None
        episode.running = False
        error.reproducer = self._reproducer()
        reward = plan.reward_on_error(episode.reward or 0.0)
        if plan is self._plan and reward is not None:
            earned = reward if type(reward) is float else sum(reward)
            episode.reward = earned + (episode.reward or 0.0)
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
        try:
            reply = self._connection.call(request)
        except ServiceError:
            episode.running = False
            raise
        if isinstance(reply, Failed):
            if not reply.recoverable:
                episode.running = False
            raise error_from_name(reply.kind, reply.message)
        return reply

    def _begin(self, program: Benchmark, timeout: float | None) -> None:
        self._episode = None
        plan = self._plan
        uri = program.uri
        benchmark = BenchmarkSpec(str(uri), program.contents, dict(program.parameters))
        limits = {"growth": self.limits.growth, "growth_floor": float(self.limits.growth_floor)}
        request = Start(benchmark, self._action_space_name, plan.names, limits)
        for is_last_attempt in (False, True):
            connection = self._connect()
            fresh = self._connection_is_fresh
            try:
                reply = connection.call(request, timeout)
                break
            except ServiceError as error:
                if fresh or is_last_attempt:
                    raise BenchmarkInitError(f"cannot start on {uri}: {error}") from error
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
        self._last_plain = reply.observations
        self.reward.reset(str(uri), self.observation)
        plan.start(reply.observations, self.observation)
        if plan.rewards.rewards:
            self._episode.reward = 0.0

    def _connect(self) -> Connection:
        connection = self._connection
        self._connection_is_fresh = connection is None or not connection.is_open
        if connection is not None and connection.is_open:
            return connection
        if self.isolation == "in-process":
            connection = LocalConnection(self._source)
        else:
            connection = WorkerConnection.open(self._source, self.limits)
        self._connection = connection
        self._watch(connection)
        return connection

    def _watch(self, connection: Connection) -> None:
        if self._finalizer is not None:
            self._finalizer.detach()
        self._finalizer = weakref.finalize(self, _close_if_owner, connection, os.getpid())

    # -- choices -----------------------------------------------------------------------------

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

    def _set_action_space(self, value: Any) -> None:
        name = next(iter(self._action_specs)) if value is None else getattr(value, "name", value)
        self._action_space_name: str = name
        self._use_action_space(self._action_space_named(name), self._action_specs[name])

    def _action_space_named(self, name: Any) -> gymnasium.Space[Any]:
        if not isinstance(name, str) or name not in self._action_specs:
            raise UnknownNameError(
                f"no action space {name!r}; there are {', '.join(self._action_specs)}"
            )
        if name not in self._built_action_spaces:
            self._built_action_spaces[name] = self._build(self._action_specs[name])
        return self._built_action_spaces[name]

    def _build(self, spec: ActionSpaceSpec) -> gymnasium.Space[Any]:
        if isinstance(spec.space, CommandlineSpec):
            return space_from_spec(spec.space, spec.name, styles=self.command_line_styles)
        return space_from_spec(spec.space, spec.name)

    def _use_action_space(self, space: gymnasium.Space[Any], spec: ActionSpaceSpec) -> None:
        self._action_space = space
        self._plain_actions = isinstance(space, gymnasium.spaces.Discrete)

    def _replace_action_space(self, spec: ActionSpaceSpec) -> None:
        self._use_action_space(self._build(spec), spec)

    def _restore_action_space(self) -> None:
        """Undo a change of the action space that the last episode made."""
        name = self._action_space_name
        if self._action_space is not self._built_action_spaces[name]:
            self._use_action_space(self._built_action_spaces[name], self._action_specs[name])

    def _replan(self) -> None:
        self._plan = Plan(self._observations, self._rewards, self.observation)

    def _plan_for(self, observation_spaces: Any, reward_spaces: Any) -> Plan:
        observations = (
            self._observations
            if observation_spaces is None
            else ObservationChoice.requested(observation_spaces, self.observation)
        )
        rewards = (
            self._rewards
            if reward_spaces is None
            else RewardChoice.named(reward_spaces, self.reward.spec)
        )
        return Plan(observations, rewards, self.observation)

    # -- small helpers -----------------------------------------------------------------------

    def _need_episode(self) -> Episode:
        if self._episode is None:
            raise SessionNotFound("no episode is running: call reset() first")
        if not self.in_episode:
            raise SessionNotFound("the episode has ended: call reset() to start another")
        return self._episode

    def _invalid(self, action: Any) -> InvalidActionError:
        return InvalidActionError(
            f"{action!r} ({type(action).__name__}) is not an action of {self._action_space!r}"
        )

    def _render_text(self) -> str:
        names = list(self.observation)
        episode = self._need_episode()
        lines = [f"{episode.benchmark} after {len(episode.actions)} actions"]
        if names:
            spec = self.observation.spec(names[0])
            lines.append(spec.to_string(self.observation[names[0]]))
        return "\n".join(lines)

    def _state_hash(self) -> str | None:
        """Return a hash of the program now; a plug-in with one says it."""
        return None

    def _reproducer(self) -> str | None:
        """Return the command that repeats the episode outside this library."""
        try:
            return self.commandline()
        except (AttributeError, CompilerGymError):
            return None

    def _twin(self) -> "CompilerEnv":
        twin = type(self).__new__(type(self), *self._made_with[0], **self._made_with[1])
        twin.__dict__.update(self._copied_attributes())
        twin._connection = None
        twin._episode = None
        twin._finalizer = None
        twin._rebind()
        return twin

    def _copied_attributes(self) -> dict[str, Any]:
        """Return the attributes of a copy; what has a process or a binding is left out."""
        left_out = ("_connection", "_finalizer", "observation", "reward", "_plan")
        attributes = {k: v for k, v in self.__dict__.items() if k not in left_out}
        attributes["_observation_specs"] = list(self.observation.spaces.values())
        attributes["_reward_spaces"] = copy.deepcopy(list(self.reward.spaces.values()))
        attributes["_built_action_spaces"] = copy.deepcopy(self._built_action_spaces)
        attributes["_action_space"] = copy.deepcopy(self._action_space)
        attributes["_np_random"] = copy.deepcopy(self._np_random)
        attributes["datasets"] = self.datasets.copy()
        return attributes

    def _rebind(self) -> None:
        """Rebuild what refers to this object after its attributes were copied."""
        attributes = self.__dict__
        self.observation = ObservationView(self._ask, attributes.pop("_observation_specs"))
        self.reward = RewardView(attributes.pop("_reward_spaces"), self.observation)
        name = self._action_space_name
        if self._action_space == self._built_action_spaces.get(name):
            self._built_action_spaces[name] = self._action_space
        shape = self._rewards.shape
        self._rewards = RewardChoice(
            [self.reward.spec(reward.name) for reward in self._rewards.rewards], shape
        )
        self._replan()

    def _replay(self, actions: Sequence[Any]) -> None:
        """Bring a fresh session to where `actions` lead, keeping the episode's numbers."""
        kept, numbers = self._episode, self._reward_numbers()
        assert self._benchmark is not None
        self._begin(self._benchmark, None)
        if actions:
            reply = self._call(Step(list(actions), []))
            assert isinstance(reply, Stepped)
            if reply.action_space is not None:
                self._replace_action_space(reply.action_space)
        for reward, state in numbers:
            reward.__dict__.update(state)
        self._episode = kept

    def _reward_numbers(self) -> list[tuple[Reward, dict[str, Any]]]:
        return [(reward, dict(reward.__dict__)) for reward in self.reward.spaces.values()]


def _remake(
    cls: type[CompilerEnv], args: tuple[Any, ...], kwargs: dict[str, Any], snapshot: dict[str, Any]
) -> CompilerEnv:
    env = cls(*args, **kwargs)
    env._restore(snapshot)
    return env


def _close_if_owner(connection: Connection, owner: int) -> None:
    if os.getpid() == owner:
        connection.close()
