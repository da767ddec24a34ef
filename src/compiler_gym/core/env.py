# SPDX-License-Identifier: MIT
"""The one Gymnasium environment over a compiler session.

It names no compiler. A plug-in says which session to run and which rewards,
derived observations and datasets to offer; everything else is here.
"""

import warnings
from collections.abc import Iterable
from enum import Enum
from typing import Any, ClassVar, Literal, Self

from compiler_gym.caching import TranspositionCache
from compiler_gym.core.copies import Copies
from compiler_gym.core.requests import StepResult
from compiler_gym.core.state import CompilerEnvState, StateVersionWarning
from compiler_gym.core.views import DerivedObservation
from compiler_gym.datasets import Benchmark, BenchmarkUri, Dataset, Datasets
from compiler_gym.errors import (
    CompilerError,
    InvalidActionError,
    InvalidParameterError,
    ServiceError,
    UnknownNameError,
)
from compiler_gym.service import Limits, LocalConnection, SessionSource, describe_source
from compiler_gym.service.messages import Parameter, ParameterReply
from compiler_gym.spaces import Reward
from compiler_gym.version import __version__

__all__ = ["CompilerEnv", "OptionalArgumentValue"]


class OptionalArgumentValue(Enum):
    """Tells "leave it as it is" from None, which takes a space away."""

    UNCHANGED = 1


_UNCHANGED = OptionalArgumentValue.UNCHANGED


class CompilerEnv(Copies):
    """Optimise a program one action at a time.

    Actions, observations and rewards are those of the compiler's plug-in; see
    ``compiler-gym describe ENV``. `step` never raises for a failure of the
    compiler: the episode is truncated, the observation is the space's default,
    the reward is the reward space's value on error, and ``info["error"]`` holds
    the typed error. The next `reset` starts afresh.

    An environment is used by one thread at a time and belongs to the process
    that made it; a forked child must call `reset` before anything else.
    """

    metadata: dict[str, Any] = {"render_modes": ["human", "ansi"], "render_fps": 1}  # noqa: RUF012 - Gymnasium's own type
    default_benchmark: ClassVar[str | None] = None
    """The program of a reset that was given none."""
    shown_rewards: ClassVar[tuple[str, ...] | None] = None
    """The rewards that a report on one run shows by default; None for every sure one."""
    state_observation: ClassVar[str | None] = None
    """An observation that is equal only where the program is, and all that can be done with it:
    a hash."""

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
        cache: TranspositionCache | None = None,
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
        self.cache = cache
        self.datasets = Datasets(datasets)
        """The programs this environment can start from."""
        self._source = source
        self._start_without_episode()
        self._offer(
            describe_source(source, in_process=isolation == "in-process"),
            derived_observation_spaces,
            rewards,
        )
        if cache is not None and self.state_observation not in self.observation:
            raise InvalidParameterError(
                f"{type(self).__name__} cannot use a cache: it names no hash of its program"
            )
        self._next_benchmark = benchmark or self.default_benchmark
        if isinstance(self._next_benchmark, str):
            BenchmarkUri.from_string(self._next_benchmark)
        self._set_action_space(action_space)
        self.observation_space = observation_space
        self.reward_space = reward_space

    @property
    def version(self) -> str:
        """The version of this library."""
        return __version__

    @property
    def compiler_version(self) -> str:
        """The version of the compiler."""
        return self._compiler_version

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
            reward_space=None if self.reward_space is None else self.reward_space.name,
            environment=None if self.spec is None else self.spec.id,
            goal=self._goal(),
            version=self.version,
            compiler_version=self.compiler_version,
            state_hash=self._state_hash(),
        )

    def commandline_to_actions(self, commandline: str) -> list[Any]:
        """Return the actions that `commandline` stands for."""
        return self._action_space.from_string(commandline)  # type: ignore[attr-defined]  # ours has it

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
        program, timeout = self._prepare_reset(
            seed, options, benchmark, action_space, observation_space, reward_space, timeout
        )
        plain = self._begin(program, timeout)
        return self._plan.observe(plain), {"benchmark": str(program.uri)}

    def _prepare_reset(
        self,
        seed: int | None = None,
        options: dict[str, Any] | None = None,
        benchmark: str | Benchmark | None = None,
        action_space: Any = None,
        observation_space: Any = _UNCHANGED,
        reward_space: Any = _UNCHANGED,
        timeout: float | None = None,
    ) -> tuple[Benchmark, float | None]:
        """Take the arguments of a reset; return the program to start on and the deadline."""
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
        return self._choose_benchmark(benchmark), timeout

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
        connection, episode, plan = self._connection, self._episode, self._plan
        if (
            type(connection) is not LocalConnection
            or not plan.is_bare
            or observation_spaces is not None
            or reward_spaces is not None
            or type(action) is not int
            or not 0 <= action < self._plain_action_count
            or episode is None
            or not episode.running
        ):
            return self._apply([action], observation_spaces, reward_spaces, timeout)
        # In this process, with nothing to be seen: a request and a reply, and every call on
        # the way, would cost more than some passes.
        episode.actions.append(action)
        try:
            reply = connection.apply(action)
        except (CompilerError, ServiceError) as error:
            return self._failed_step(error, plan)
        if type(reply) is bool:
            info = {"action_had_no_effect": reply, "new_action_space": False}
            return None, None, False, False, info
        return self._conclude(reply, [action], [action], plan)

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
        return self._apply(list(actions), observation_spaces, reward_spaces, timeout)

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
        """End the session and its process, also in the middle of a step that another thread waits
        for, which then raises `ServiceIsClosed`. Calling it twice is fine."""
        connection, self._connection = self._connection, None
        self._episode = None
        if connection is not None:
            connection.abandon()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *args: Any) -> None:  # type: ignore[override]  # it never swallows
        self.close()

    def apply(self, state: CompilerEnvState) -> None:
        """Reset to the program of `state` and apply its command line.

        Without an action space in the state, the current one is tried first and
        then the others. A state of another version of the compiler is replayed
        with a `StateVersionWarning`. Raises `InvalidActionError` or
        `UnknownNameError` when the command line belongs to no action space, and
        the typed error when the compiler fails on the way.
        """
        self._warn_of_another_compiler(state)
        actions = self.actions_of(state)
        at_hand = self._benchmark is not None and str(self._benchmark.uri) == state.benchmark
        self.reset(benchmark=self._benchmark if at_hand else state.benchmark)
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

    def actions_of(self, state: CompilerEnvState) -> list[Any]:
        """Choose the action space of `state` and return its actions."""
        if state.action_space is not None:
            if state.action_space != self._action_space_name:
                self._set_action_space(state.action_space)
            return self.commandline_to_actions(state.commandline)
        current = self._action_space_name
        try:
            return self.commandline_to_actions(state.commandline)
        except InvalidActionError as refused:
            for name in self._action_specs:
                self._set_action_space(name)
                try:
                    return self.commandline_to_actions(state.commandline)
                except (AttributeError, InvalidActionError):
                    continue
            self._set_action_space(current)
            raise refused

    def _warn_of_another_compiler(self, state: CompilerEnvState) -> None:
        if state.compiler_version in (None, self.compiler_version):
            return
        warnings.warn(
            f"this state was recorded with version {state.compiler_version} of the compiler and is "
            f"replayed with {self.compiler_version}: expect another program and another reward",
            StateVersionWarning,
            stacklevel=3,
        )

    def _goal(self) -> str | None:
        """Return what the program is optimised for, where the plug-in knows goals."""
        return None

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
