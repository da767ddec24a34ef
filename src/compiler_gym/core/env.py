# SPDX-License-Identifier: MIT
"""The Gymnasium environment over a compiler session, as users see it.

It names no compiler: a plug-in says which session to run, and which rewards, derived
observations and datasets to offer. It delegates: an `Episode` steps and holds the session, its
`Selection` holds the spaces, `Programs` the choice of programs.
"""

import copy
import inspect
import logging
from abc import ABC
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache, partial
from typing import Any, ClassVar, Self

import gymnasium

from compiler_gym.core import rendering, replaying
from compiler_gym.core.arguments import OptionalArgumentValue, ResetArguments
from compiler_gym.core.episode import Episode, EpisodeSnapshot
from compiler_gym.core.panes import Panes, panes_from_spaces
from compiler_gym.core.pending import Act, Obs, ResetPending, StepResult
from compiler_gym.core.programs import Programs
from compiler_gym.core.rendering import RENDER_MODES, Listing
from compiler_gym.core.selection import Selection
from compiler_gym.core.sessions import Isolation, Sessions
from compiler_gym.core.state import CompilerEnvState
from compiler_gym.core.views import (
    DerivedObservation,
    ObservationSpaceSpec,
    ObservationView,
    RewardView,
)
from compiler_gym.datasets import Benchmark, Dataset, Datasets
from compiler_gym.errors import (
    CompilerGymWarning,
    InvalidActionError,
    InvalidParameterError,
    SessionNotFound,
    UnknownNameError,
    warn_of_the_caller,
)
from compiler_gym.errors.nearest import unknown_name
from compiler_gym.lazy import load_named
from compiler_gym.options import Limits
from compiler_gym.sandbox import choose_tier
from compiler_gym.service import Connection, SessionSource
from compiler_gym.service.caching import TranspositionCache
from compiler_gym.spaces import Reward
from compiler_gym.version import __version__

_log = logging.getLogger(__name__)
_UNCHANGED = OptionalArgumentValue.UNCHANGED
_PICKLED = ("spec", "_np_random", "_np_random_seed", "renders_unasked")
"""Attributes that a pickle keeps, besides the chosen program and the episode."""


class CompilerEnv(gymnasium.Env[Obs, Act], ABC):
    """Optimise a program one action at a time.

    Actions, observations and rewards are those of the compiler's plug-in; see
    ``compiler-gym describe llvm-v0``. An environment is used by one thread at a time and belongs to
    the process that made it; a forked child must call `reset` before anything else.

    For type checkers, ``CompilerEnv[Obs, Act]`` names the types of observations and actions; both
    are `Any` if you leave them out.

    Args:
        source: The session class to run.
        benchmark: The program of the first reset, or its address.
        observation_space: The observation that `step` returns: a name, a list of names, or None.
        reward_space: The reward that `step` returns: a name, a `Reward`, a list, or None. A
            `Reward` is copied, here and in `rewards`, because it stores state of its episode;
            several environments can use the same object.
        action_space: The name of the action space; None is the first one.
        derived_observation_spaces: Observations that are functions of the session's.
        rewards: The rewards that are offered.
        datasets: The datasets in which programs are looked up.
        isolation: ``"process"`` runs the session in a worker process, ``"in-process"`` here.
        limits: The limits of time and memory of the worker.
        cache: Stores the results of actions; None stores nothing.
        render_mode: The default mode of `render`.
        connection_settings: Not supported: raises an error that explains what replaced it.
        **unknown: Anything else: raises an error that names the nearest argument.

    Raises:
        InvalidParameterError: An argument has a value that is not allowed.
        UnknownNameError: A space does not exist.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 1}  # noqa: RUF012 - Gymnasium's own type
    command_line_styles: ClassVar[Mapping[str, Callable[..., gymnasium.Space[Any]]]] = {}
    """Makes the action spaces that write command lines, by the style that the session names."""
    listing: ClassVar[Listing] = Listing()
    """The syntax of the text that `render` shows."""
    default_benchmark: ClassVar[str | None] = None
    """The program of the first reset if none is given."""
    shown_rewards: ClassVar[tuple[str, ...] | None] = None
    """The rewards that a report on one run shows; None shows every deterministic one."""
    state_observation: ClassVar[str | None] = None
    """An observation that identifies the state of the program, such as a hash: equal only where
    the program and everything that can be done with it are equal."""
    pipeline_parameter: ClassVar[str | None] = None
    """The session parameter that applies a pipeline in the compiler's own syntax."""
    uri_keys: ClassVar[tuple[str, ...] | None] = None
    """The keys that an address may have after its ``?``, besides those of its dataset; None
    allows any."""
    _made_with: tuple[tuple[Any, ...], dict[str, Any]]
    """The arguments of the constructor."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Remember the arguments of the constructor, for pickles."""
        self = super().__new__(cls)
        self._made_with = args, kwargs
        return self

    def __init__(
        self,
        source: SessionSource,
        *,
        benchmark: str | Benchmark | None = None,
        observation_space: Any = None,
        reward_space: Any = None,
        action_space: str | None = None,
        derived_observation_spaces: Iterable[DerivedObservation | Mapping[str, Any]] = (),
        rewards: Iterable[Reward] = (),
        datasets: Iterable[Dataset] = (),
        isolation: Isolation = "process",
        limits: Limits | None = None,
        cache: TranspositionCache | None = None,
        render_mode: str | None = None,
        connection_settings: Any = None,
        **unknown: Any,
    ) -> None:
        if unknown:
            name, names = next(iter(unknown)), _constructor_arguments(type(self))
            owner = type(self).__name__
            raise InvalidParameterError(unknown_name("argument", name, names, where=owner))
        if connection_settings is not None:
            load_named("compiler_gym.compat.old_names:explain")(connection_settings)
        if render_mode is not None:
            rendering.require_mode(render_mode)
        self.render_mode = render_mode
        self.renders_unasked: bool | None = None
        """True if `render` prints if no mode was chosen, as CompilerGym 0.2.5 does and Gymnasium's
        convention forbids; None prints unless `gymnasium.make` made this environment."""
        self._programs = Programs(
            Datasets(datasets, self.uri_keys), benchmark or self.default_benchmark
        )
        sessions = Sessions(source, isolation, limits or Limits(), cache, self.state_observation)
        select = partial(
            Selection,
            sessions.description,
            list(map(DerivedObservation.of, derived_observation_spaces)),
            _copies(list(rewards)),
            self.command_line_styles,
        )
        self._episode = Episode(sessions, select, self.commandline)
        if cache is not None and self.state_observation not in self.observation:
            raise InvalidParameterError(
                f"{type(self).__name__} cannot use a cache: no observation identifies its state"
            )
        selection = self._episode.selection
        selection.choose_actions(action_space)
        selection.choose_spaces(observation_space, _copies(reward_space))

    @property
    def episode(self) -> Episode:
        """The session, its history, and the chosen spaces."""
        return self._episode

    @property
    def service(self) -> Connection | None:
        """The connection to the session: None before the first reset and after `close`."""
        return self.episode.connection

    @property
    def version(self) -> str:
        """The version of this library."""
        return __version__

    @property
    def compiler_version(self) -> str:
        """The version of the compiler."""
        return self.episode.sessions.description.compiler_version

    @property
    def datasets(self) -> Datasets:
        """The programs this environment can start from."""
        return self._programs.datasets

    @property
    def isolation(self) -> Isolation:
        """``"process"`` if the session runs in a separate process, otherwise ``"in-process"``."""
        return self.episode.sessions.isolation

    @property
    def cache(self) -> TranspositionCache | None:
        """The cache of results of actions, if there is one."""
        return self.episode.sessions.cache

    @property
    def limits(self) -> Limits:
        """The limits of the worker. Setting them takes effect when the next worker starts."""
        return self.episode.sessions.limits

    @limits.setter
    def limits(self, value: Limits) -> None:
        self.episode.sessions = replace(self.episode.sessions, limits=value)

    @property
    def sandbox(self) -> str:
        """The name of the `Sandbox` in which observations run programs."""
        return choose_tier(self.limits.sandbox).value

    @property
    def observation(self) -> ObservationView:
        """Every observation, computed when read: ``env.observation["Autophase"]``."""
        return self.episode.selection.observation

    @property
    def panes(self) -> Panes:
        """The texts, costs and graphs of a program that the explorer shows. Unless a plug-in lists
        them, they follow from the observation spaces."""
        return panes_from_spaces(self.observation, self.reward.spaces.values())

    @property
    def reward(self) -> RewardView:
        """Every reward, earned since it was last read: ``env.reward["..."]``."""
        return self.episode.selection.reward

    @property
    def action_spaces(self) -> list[Any]:
        """Every action space. Set `action_space` to one of them, or to its name."""
        selection = self.episode.selection
        return [selection.action_space_named(name) for name in selection.action_specs]

    @property
    def action_space(self) -> Any:  # the type depends on the compiler
        """The actions that `step` takes. Setting it takes effect at the next reset."""
        return self.episode.selection.action_space

    @action_space.setter
    def action_space(self, value: Any) -> None:  # type: ignore[override]  # an attribute there
        self.episode.selection.choose_actions(value)

    @property
    def observation_space(self) -> gymnasium.Space[Any] | None:  # type: ignore[override]  # or None
        """The space of the observation that `step` returns, or None.

        Set it to a name, to a list of names for a dictionary of observations, or to None.
        """
        return self.episode.selection.observation_space

    @observation_space.setter
    def observation_space(self, value: Any) -> None:  # type: ignore[override]  # an attribute there
        self.episode.selection.choose_spaces(observations=value)

    @property
    def observation_space_spec(self) -> ObservationSpaceSpec | None:
        """The spec of the observation space, if one is set. Setting it sets the space."""
        return self.episode.selection.observations.lone

    @observation_space_spec.setter
    def observation_space_spec(self, value: Any) -> None:
        self.observation_space = value  # type: ignore[override]  # an attribute there

    @property
    def reward_space(self) -> Reward | None:
        """The reward that `step` returns, or None. Set it to a name, a `Reward` or None."""
        rewards = self.episode.selection.rewards.rewards
        return rewards[0] if rewards else None

    @reward_space.setter
    def reward_space(self, value: Any) -> None:
        self.episode.choose_rewards(value)

    @property
    def reward_space_spec(self) -> Reward | None:
        """The reward space, under the name it had in CompilerGym 0.2.5."""
        return self.reward_space

    @reward_space_spec.setter
    def reward_space_spec(self, value: Any) -> None:
        self.reward_space = value

    @property
    def reward_range(self) -> tuple[float, float]:
        """The lowest and the highest reward of a step."""
        space = self.reward_space
        return (float("-inf"), float("inf")) if space is None else space.range

    @property
    def in_episode(self) -> bool:
        """True if `step` can be called."""
        return self.episode.in_progress

    @property
    def benchmark(self) -> Benchmark | None:
        """The program of the episode, or of the next one. Setting it takes effect at reset."""
        programs = self._programs
        if programs.upcoming is not None and not self.in_episode:
            return programs.find(programs.upcoming)
        return self.episode.program

    @benchmark.setter
    def benchmark(self, value: str | Benchmark) -> None:
        self._programs.upcoming = self._programs.find(value)
        if self.in_episode:
            warn_of_the_caller(
                "Changing the benchmark has no effect until reset() is called: use "
                "reset(benchmark=...) to change it now",
                CompilerGymWarning,
            )

    @property
    def actions(self) -> list[Any]:
        """The actions of the episode, in order."""
        history = self.episode.history
        return list(self.episode.closed_actions if history is None else history.actions)

    @property
    def episode_reward(self) -> float | None:
        """The sum of the episode's rewards, or None without a reward space.

        It is 0 after a reset, and after another reward space is set during an episode. Setting it
        before the first reset raises `SessionNotFound`.
        """
        history = self.episode.history
        return None if history is None else history.reward

    @episode_reward.setter
    def episode_reward(self, value: float | None) -> None:
        history = self.episode.history
        if history is None:
            raise SessionNotFound("there is no episode to set the reward of: call reset() first")
        history.reward = None if value is None else float(value)

    @property
    def episode_walltime(self) -> float:
        """Seconds since the last reset."""
        history = self.episode.history
        return 0.0 if history is None else history.walltime

    @property
    def state(self) -> CompilerEnvState:
        """The episode so far, as a record that `apply` replays."""
        history = self.episode.require()
        return CompilerEnvState(
            benchmark=history.benchmark,
            commandline=self.commandline(),
            walltime=history.walltime,
            reward=history.reward,
            action_space=history.action_space,
            reward_space=None if self.reward_space is None else self.reward_space.name,
            environment=None if self.spec is None else self.spec.id,
            goal=self._goal(),
            version=self.version,
            compiler_version=self.compiler_version,
            state_hash=self._state_hash(),
            varying_actions=self.episode.selection.varying_among(history.actions) or None,
        )

    def commandline(self) -> str:
        """Return the actions of the episode as the compiler's command line."""
        return self.action_space.to_string(self.actions)  # type: ignore[attr-defined]  # ours has it

    def commandline_to_actions(self, commandline: str) -> list[Any]:
        """Return the actions in `commandline`."""
        return self.action_space.from_string(commandline)  # type: ignore[attr-defined]  # ours has it

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
    ) -> tuple[Obs, dict[str, Any]]:
        """Start an episode.

        Args:
            seed: Seeds this environment, its action space and its choice of random programs.
            options: Any of the other arguments by name, as Gymnasium passes them on.
            benchmark: The program or its address; None takes the program that was set for the
                next reset, or the last one again.
            action_space: The action space to choose; None keeps the current one.
            observation_space: The new `observation_space`.
            reward_space: The new `reward_space`.
            timeout: Seconds after which the worker is given up; None is the limit in `limits`.

        Returns:
            The observation and a dictionary with the ``benchmark``.

        Raises:
            BenchmarkInitError: The program cannot be read.
            UnknownNameError: A program or a space does not exist.
        """
        return self.begin_reset(
            ResetArguments(
                seed=seed,
                options=options,
                benchmark=benchmark,
                action_space=action_space,
                observation_space=observation_space,
                reward_space=reward_space,
                timeout=timeout,
            )
        ).result()

    def begin_reset(self, asked: ResetArguments) -> ResetPending:
        """Choose the spaces and the program of the next episode and return its pending reset."""
        for name in asked.unknown_options():
            _say_once(f"reset() ignores the option {name!r}; it is meant for a wrapper")
        super().reset(seed=asked.seed)
        asked = asked.settle()
        self.datasets.generator = self.np_random
        self.episode.selection.choose(asked)
        is_again = asked.benchmark is None and self._programs.upcoming is None
        program = self._programs.take(asked.benchmark, self.episode.program)
        program = self._choose_part(program, is_again=is_again)
        return self.episode.begin_reset(program, asked.timeout)

    def step(
        self,
        action: Act,
        observation_spaces: Any = None,
        reward_spaces: Any = None,
        *,
        timeout: float | None = None,
    ) -> StepResult[Obs]:
        """Apply one action.

        A failure of the compiler is not raised: it truncates the episode, the observation is the
        space's default, the reward is the reward space's value on error, and ``info["error"]``
        holds the typed error. The next `reset` starts afresh.

        Args:
            action: One of `action_space`.
            observation_spaces: Observations of this step instead of `observation_space`: a name
                gives a value, a list of names a list of values.
            reward_spaces: Rewards of this step instead of `reward_space`, likewise.
            timeout: Seconds after which the worker is given up; None is the limit in `limits`.

        Returns:
            The five values, as a tuple and by name: ``observation``, ``reward``, ``terminated``,
            ``truncated`` and ``info``.

        Raises:
            InvalidActionError: `action` is outside the action space.
            SessionNotFound: No episode is under way.
        """
        result = self._episode.step(action, observation_spaces, reward_spaces, timeout)
        if result.reward is None and reward_spaces is None:
            _say_once(
                "this step earned no reward (None), because no reward space is set: set "
                'env.reward_space = "NAME" or call make(..., reward_space="NAME"); '
                "`compiler-gym describe` lists the names. This message appears once."
            )
        return result

    def multistep(
        self,
        actions: Iterable[Act],
        observation_spaces: Any = None,
        reward_spaces: Any = None,
        *,
        timeout: float | None = None,
    ) -> StepResult[Obs]:
        """Apply several actions in one request.

        Returns:
            The result of `step` for the last action, with the reward of all together. With no
            actions, the observation of the current program.

        Raises:
            InvalidActionError, SessionNotFound: As in `step`; then no action was applied.
        """
        if isinstance(actions, str) or not isinstance(actions, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]  # untyped callers
            raise InvalidActionError(
                f"{actions!r} is not a list of actions: use multistep([...]), or step(...) "
                "for a single action"
            )
        return self._episode.begin(
            list(actions), observation_spaces, reward_spaces, timeout
        ).result()

    def render(self, mode: str | None = None) -> str | None:
        """Print the program as it is now, or return it as text.

        If `gymnasium.make` made the environment without a mode, it does nothing, as Gymnasium asks.

        Args:
            mode: ``human`` prints the program; in a terminal it is coloured, and functions are
                folded if it is longer than the screen. ``ansi`` returns it as text. ``diff``
                prints what the last action changed, with its cost and reward, ``ansi_diff``
                returns that; the actions before it are replayed in another session. None is
                `render_mode`.
        """
        mode = mode or self.render_mode
        if mode is None:
            prints = self.spec is None if self.renders_unasked is None else self.renders_unasked
            if not prints:
                return None
            mode = "human"
        rendering.require_mode(mode)
        if not mode.endswith("diff"):
            text, show = self._render_text(), rendering.show
        else:
            with self._twin() as twin:
                text, show = rendering.last_change(self, twin), rendering.show_difference
        if mode.startswith("ansi"):
            return text
        show(text, self.listing)
        return None

    def close(self) -> None:
        """End the session and its process. Safe to call twice.

        Another thread may call it during a step, which then raises `ServiceIsClosed`.
        """
        self._episode.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *args: Any) -> None:  # type: ignore[override]  # it never swallows
        self.close()

    def apply(self, state: CompilerEnvState) -> None:
        """Reset to the program of `state` and apply its command line.

        A state of another version of the compiler is replayed with a `StateVersionWarning`.

        Raises:
            InvalidActionError, UnknownNameError: The command line belongs to no action space.
            CompilerError, ServiceError: The compiler failed on the way.
        """
        replaying.apply(self, state, self._programs)

    def actions_from(self, state: CompilerEnvState) -> list[Any]:
        """Choose the action space of `state` and return its actions.

        If it names no action space, the current one is tried first and then the others.
        """
        return replaying.read_actions(state, self.episode.selection, self.commandline_to_actions)

    actions_of = actions_from
    """The earlier name of `actions_from`."""

    def validate(self, state: CompilerEnvState | None = None) -> Any:
        """Replay `state` (default: the current one) and return a `ValidationResult`."""
        raise UnknownNameError(f"{type(self).__name__} has no validator")

    def send_param(self, key: str, value: str) -> str:
        """Send one parameter to the session and return its reply."""
        return self.send_params((key, value))[0]

    def send_params(self, *parameters: tuple[str, str]) -> list[str]:
        """Send parameters to the session, in order, and return its replies.

        Raises:
            InvalidParameterError: The session does not have one of the parameters.
        """
        return [self.episode.send_parameter(str(key), str(value)) for key, value in parameters]

    def fork(self) -> Self:
        """Return an independent environment in exactly the same state.

        Its worker is a copy of this one's process, and its random generators continue like these.
        If there is no episode, this begins one first; if `close` ended the last one, with the same
        actions.

        Raises:
            ServiceError: The worker was lost; the next step reports the end of the episode.
        """
        replaying.resume(self)
        return self._copy(self._episode.fork)

    def __copy__(self) -> Self:
        raise TypeError("an environment has a process: use copy.deepcopy() or fork()")

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.fork()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the constructor's arguments and the episode, which unpickling replays.

        Spaces that were added later are left out, except for rewards in use.
        """
        facts = {name: getattr(self, name) for name in _PICKLED}
        programs = self._programs.upcoming, self.datasets.generator
        return self._unpickle, (self._made_with, facts, programs, self._episode.snapshot())

    @classmethod
    def _unpickle(
        cls,
        made_with: tuple[tuple[Any, ...], dict[str, Any]],
        facts: dict[str, Any],
        programs: tuple[str | Benchmark | None, Any],
        episode: EpisodeSnapshot,
    ) -> Self:
        args, kwargs = made_with
        env = cls(*args, **kwargs)
        vars(env).update(facts)
        env._programs.upcoming, env.datasets.generator = programs
        env._episode.restore(episode)
        return env

    def _twin(self) -> Self:
        """Return a new environment with these spaces and no episode."""
        return self._copy(self._episode.restart)

    def _copy(self, copy_episode: Callable[[Callable[[], str]], Episode]) -> Self:
        """Return a copy with the episode that `copy_episode` returns.

        The twin shares everything that the plug-in added to this environment.
        """
        twin = object.__new__(type(self))
        vars(twin).update(vars(self))
        twin._programs = self._programs.copy()
        # Together: after a reset, programs are drawn with the environment's own generator.
        twin._np_random, twin.datasets.generator = copy.deepcopy(
            (self._np_random, self.datasets.generator)
        )
        twin._episode = copy_episode(twin.commandline)
        return twin

    def _choose_part(self, program: Benchmark, *, is_again: bool) -> Benchmark:
        """Return `program` at the address of a part; plug-ins with parts override this."""
        return program

    def _goal(self) -> str | None:
        """Return the optimisation goal; plug-ins with goals override this."""
        return None

    def _state_hash(self) -> str | None:
        """Return a hash of the current program; plug-ins that have one override this."""
        return None

    def _render_text(self) -> str:
        """Return the program as text; plug-ins override this."""
        names = list(self.observation)
        history = self.episode.require()
        lines = [f"{history.benchmark} after {len(history.actions)} actions"]
        if names:
            spec = self.observation.spec(names[0])
            lines.append(spec.to_string(self.observation[names[0]]))
        return "\n".join(lines)


@cache
def _say_once(text: str) -> None:
    _log.warning(text)


def _copies(rewards: Any) -> Any:
    """Return `rewards` with deep copies of `Reward` objects, which keep state of an episode."""
    try:
        return copy.deepcopy(rewards)
    except Exception as error:
        raise InvalidParameterError(
            f"cannot copy a reward: {error}; it must support copy.deepcopy, because each "
            "environment and each fork needs its own copy"
        ) from error


def _constructor_arguments(cls: type[CompilerEnv]) -> list[str]:
    """Return the names of the keyword arguments of `cls` and of its base classes."""
    parameters = (
        parameter
        for base in cls.__mro__
        if CompilerEnv in base.__mro__ and "__init__" in vars(base)
        for parameter in inspect.signature(base.__init__).parameters.values()
    )
    names = (p.name for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY)
    return list(dict.fromkeys(names))
