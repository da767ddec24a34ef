# SPDX-License-Identifier: MIT
"""The one Gymnasium environment over a compiler session.

It names no compiler. A plug-in says which session to run and which rewards,
derived observations and datasets to offer. What an environment does is done by its
`Episode`; this is the face that users see of it.
"""

import copy
import logging
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, ClassVar, Self

import gymnasium

from compiler_gym.caching import TranspositionCache
from compiler_gym.core.arguments import OptionalArgumentValue, ResetArguments
from compiler_gym.core.episode import Episode, EpisodeSnapshot
from compiler_gym.core.history import History
from compiler_gym.core.panes import Panes, panes_from_spaces
from compiler_gym.core.pending import ResetPending, ResetResult, StepResult
from compiler_gym.core.rendering import Listing, counted, difference, show, show_difference
from compiler_gym.core.selection import Selection
from compiler_gym.core.sessions import Isolation, Sessions
from compiler_gym.core.state import CompilerEnvState, StateVersionWarning, require_state
from compiler_gym.core.views import (
    DerivedObservation,
    ObservationSpaceSpec,
    ObservationView,
    RewardView,
)
from compiler_gym.datasets import Benchmark, BenchmarkUri, Dataset, Datasets
from compiler_gym.errors import (
    BenchmarkTypeError,
    CompilerGymWarning,
    InvalidActionError,
    InvalidParameterError,
    RenderModeError,
    SessionNotFound,
    UnknownNameError,
    warn_of_the_caller,
)
from compiler_gym.lazy import named
from compiler_gym.options import Limits
from compiler_gym.sandbox import chosen
from compiler_gym.service import Connection, SessionSource
from compiler_gym.spaces import Reward, action_name, action_names
from compiler_gym.version import __version__

__all__ = ["CompilerEnv"]

_RENDER_MODES = ("human", "ansi", "diff", "ansi_diff")
_log = logging.getLogger(__name__)
_UNCHANGED = OptionalArgumentValue.UNCHANGED


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

    metadata: dict[str, Any] = {"render_modes": list(_RENDER_MODES), "render_fps": 1}  # noqa: RUF012 - Gymnasium's own type
    command_line_styles: ClassVar[Mapping[str, Callable[..., gymnasium.Space[Any]]]] = {}
    """How a plug-in's command lines are written, by the style its session names."""
    listing: ClassVar[Listing] = Listing()
    """How the text that `render` shows is written."""
    default_benchmark: ClassVar[str | None] = None
    """The program of a reset that was given none."""
    shown_rewards: ClassVar[tuple[str, ...] | None] = None
    """The rewards that a report on one run shows by default; None for every sure one."""
    state_observation: ClassVar[str | None] = None
    """An observation that is equal only where the program is, and all that can be done with it:
    a hash."""
    uri_keys: ClassVar[tuple[str, ...] | None] = None
    """The keys that a program's address may have after its ``?``, beside those that its dataset
    reads; None allows any."""
    _made_with: tuple[tuple[Any, ...], dict[str, Any]]
    """What the constructor was called with."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Remember the arguments, so that another process can make the same environment."""
        self = super().__new__(cls)
        self._made_with = (args, kwargs)
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
    ) -> None:
        if connection_settings is not None:  # of 0.2.5's server: explained, and nothing else
            named("compiler_gym.compat.connection_opts:explain")(connection_settings)
        if isolation not in ("process", "in-process"):
            raise InvalidParameterError(
                f"isolation is {isolation!r}: expected 'process' or 'in-process'"
            )
        if render_mode not in (None, *_RENDER_MODES):
            raise RenderModeError(
                f"render_mode is {render_mode!r}: expected {_one_of(_RENDER_MODES)}"
            )
        self.render_mode = render_mode
        self.renders_unasked: bool | None = None
        """Whether `render` prints where no mode was chosen, as CompilerGym 0.2.5 does and
        Gymnasium's convention forbids; None: unless `gymnasium.make` made this."""
        self._datasets = Datasets(datasets, self.uri_keys)
        sessions = Sessions(source, isolation, limits or Limits(), cache, self.state_observation)
        select = partial(
            Selection,
            sessions.description,
            list(map(DerivedObservation.of, derived_observation_spaces)),
            rewards,
            self.command_line_styles,
        )
        self._episode = Episode(sessions, select, self.commandline)
        if cache is not None and self.state_observation not in self.observation:
            raise InvalidParameterError(
                f"{type(self).__name__} cannot use a cache: it names no hash of its program"
            )
        self._next_benchmark = benchmark or self.default_benchmark
        if isinstance(self._next_benchmark, str):
            BenchmarkUri.from_string(self._next_benchmark)
        selection = self._episode.selection
        selection.choose_actions(action_space)
        selection.choose_observations(observation_space)
        selection.choose_rewards(reward_space)

    @property
    def episode(self) -> Episode:
        """What is driven by all that steps this environment: the session and its history."""
        return self._episode

    @property
    def service(self) -> Connection | None:
        """The line to the worker: None before one was needed, and after `close`."""
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
        return self._datasets

    @property
    def isolation(self) -> Isolation:
        """Whether the session has a process of its own: ``"process"`` or ``"in-process"``."""
        return self.episode.sessions.isolation

    @property
    def cache(self) -> TranspositionCache | None:
        """What is known of actions already, if anything is to be remembered."""
        return self.episode.sessions.cache

    @property
    def limits(self) -> Limits:
        """The bounds of this environment's worker. Setting them takes effect at the next one."""
        return self.episode.sessions.limits

    @limits.setter
    def limits(self, value: Limits) -> None:
        self.episode.sessions = replace(self.episode.sessions, limits=value)

    @property
    def sandbox(self) -> str:
        """What programs are kept from that observations run: the name of a `Sandbox`."""
        return chosen(self.limits.sandbox).value

    @property
    def observation(self) -> ObservationView:
        """Every observation, on demand: ``env.observation["Autophase"]``."""
        return self.episode.selection.observation

    @property
    def panes(self) -> Panes:
        """What people look at of a program here; a plug-in says it, or it follows from spaces."""
        return panes_from_spaces(self.observation, self.reward.spaces.values())

    @property
    def reward(self) -> RewardView:
        """Every reward since it was last asked for: ``env.reward["..."]``."""
        return self.episode.selection.reward

    @property
    def action_spaces(self) -> list[Any]:
        """Every action space; set `action_space` to one of them or to its name."""
        selection = self.episode.selection
        return [selection.action_space_named(name) for name in selection.action_specs]

    @property
    def action_space(self) -> Any:  # which space it is, and what it can do, is the compiler's
        """The actions of the next `step`. Setting it takes effect at the next reset."""
        return self.episode.selection.action_space

    @action_space.setter
    def action_space(self, value: Any) -> None:  # type: ignore[override]  # an attribute there
        self.episode.selection.choose_actions(value)

    @property
    def observation_space(self) -> gymnasium.Space[Any] | None:  # type: ignore[override]  # None: none is set
        """The space of the observation that `step` returns, or None.

        Set it to a name, to a list of names (a dictionary of them) or to None.
        """
        return self.episode.selection.observation_space

    @observation_space.setter
    def observation_space(self, value: Any) -> None:  # type: ignore[override]  # an attribute there
        self.episode.selection.choose_observations(value)

    @property
    def observation_space_spec(self) -> ObservationSpaceSpec | None:
        """The spec of the observation space, if one is set; setting it sets the space."""
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
        """The bounds of the reward space."""
        space = self.reward_space
        return (float("-inf"), float("inf")) if space is None else space.range

    @property
    def in_episode(self) -> bool:
        """Whether `step` can be called."""
        return self.episode.in_progress

    @property
    def benchmark(self) -> Benchmark | None:
        """The program of the episode, or of the next one. Setting it takes effect at reset."""
        if self._next_benchmark is not None and not self.in_episode:
            return self._resolve(self._next_benchmark)
        return self.episode.program

    @benchmark.setter
    def benchmark(self, value: str | Benchmark) -> None:
        self._next_benchmark = self._resolve(value)
        if self.in_episode:
            warn_of_the_caller(
                "Changing the benchmark has no effect until reset() is called: expected "
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

        It starts from 0 at a reset, and where another reward space is set in an episode. Setting
        it raises `SessionNotFound` before the first reset.
        """
        history = self.episode.history
        return None if history is None else history.reward

    @episode_reward.setter
    def episode_reward(self, value: float | None) -> None:
        history = self.episode.history
        if history is None:
            raise SessionNotFound("there is no episode whose reward can be set: call reset() first")
        history.reward = None if value is None else float(value)

    @property
    def episode_walltime(self) -> float:
        """Seconds since the last reset."""
        history = self.episode.history
        return 0.0 if history is None else history.walltime

    @property
    def state(self) -> CompilerEnvState:
        """The episode so far, as a record that replays it."""
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
            varying_actions=self._varying_actions(history) or None,
        )

    def commandline(self) -> str:
        """Return the actions of the episode as the compiler's command line."""
        return self.action_space.to_string(self.actions)  # type: ignore[attr-defined]  # ours has it

    def commandline_to_actions(self, commandline: str) -> list[Any]:
        """Return the actions that `commandline` stands for."""
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
    ) -> ResetResult:
        """Start an episode and return ``(observation, info)``.

        `options` may hold any of the other arguments by name. `seed` also seeds
        the action space and the choice of random programs. Raises
        `BenchmarkInitError` when the program cannot be read.
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
        """Choose what the next episode runs on and return what will be its start."""
        super().reset(seed=asked.seed)
        selection = self.episode.selection
        if asked.seed is not None:
            selection.action_space.seed(asked.seed)
        asked = asked.settled()
        self._datasets.generator = self.np_random
        if asked.action_space is not None:
            selection.choose_actions(asked.action_space)
            if asked.seed is not None:
                selection.action_space.seed(asked.seed)
        if asked.observation_space is not _UNCHANGED:
            selection.choose_observations(asked.observation_space)
        if asked.reward_space is not _UNCHANGED:
            selection.choose_rewards(asked.reward_space)
        selection.restore_actions()
        return self.episode.begin_reset(self._choose_benchmark(asked.benchmark), asked.timeout)

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
        result = self._episode.step(action, observation_spaces, reward_spaces, timeout)
        if result[1] is None and reward_spaces is None:
            _say_once(
                "this step earned no reward (None), because no reward space is set: set "
                'env.reward_space = "NAME" or call make(..., reward_space="NAME"); '
                "`compiler-gym describe` lists them. This is said once."
            )
        return result

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
        if isinstance(actions, str) or not isinstance(actions, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]  # untyped callers
            raise InvalidActionError(
                f"{actions!r} is not a list of actions: expected multistep([...]), or step(...) "
                "for a single one"
            )
        return self._episode.begin(
            list(actions), observation_spaces, reward_spaces, timeout
        ).result()

    def render(self, mode: str | None = None) -> str | None:
        """Print the program as it is now, or return it as text in mode ``ansi``.

        A terminal shows it in colour, and one that is longer than the screen with the
        bodies of its functions left out. Mode ``diff`` prints what the last action
        changed, with counts and the reward; ``ansi_diff`` returns that as text. For it
        the actions before the last are replayed in another session.

        Made by `gymnasium.make` without a mode, it does nothing, as the convention says there.
        """
        unasked = self.spec is None if self.renders_unasked is None else self.renders_unasked
        if mode is None and self.render_mode is None and not unasked:
            return None
        mode = mode or self.render_mode or "human"
        if mode not in _RENDER_MODES:
            raise RenderModeError(f"render mode is {mode!r}: expected {_one_of(_RENDER_MODES)}")
        is_difference = mode.endswith("diff")
        text = self._render_difference() if is_difference else self._render_text()
        if mode.startswith("ansi"):
            return text
        (show_difference if is_difference else show)(text, self.listing)
        return None

    def close(self) -> None:
        """End the session and its process, also in the middle of a step that another thread waits
        for, which then raises `ServiceIsClosed`. Calling it twice is fine."""
        self._episode.close()

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
        require_state(state)
        self._warn_of_another_compiler(state)
        actions = self.actions_of(state)
        self.reset(benchmark=self._at_hand(state.benchmark) or state.benchmark)
        if not actions:
            return
        _, _, _, truncated, info = self.multistep(actions)
        if truncated and "error" in info:
            raise info["error"]

    def actions_of(self, state: CompilerEnvState) -> list[Any]:
        """Choose the action space of `state` and return its actions."""
        selection = self.episode.selection
        current = selection.action_space_name
        if state.action_space is not None:
            if state.action_space != current:
                selection.choose_actions(state.action_space)
            return self.commandline_to_actions(state.commandline)
        try:
            return self.commandline_to_actions(state.commandline)
        except (InvalidActionError, UnknownNameError) as refused:
            for name in selection.action_specs:
                selection.choose_actions(name)
                try:
                    return self.commandline_to_actions(state.commandline)
                except (AttributeError, InvalidActionError, UnknownNameError):
                    continue
            selection.choose_actions(current)
            raise refused

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
            reply = self.episode.send_parameter(str(key), str(value))
            if reply is None:
                raise InvalidParameterError(f"the session knows no parameter {key!r}")
            replies.append(reply)
        return replies

    def fork(self) -> Self:
        """Return an independent environment in exactly the same state.

        Its process is a copy of this one's. It has its own random generators,
        which continue as these would. Where no episode was begun, or after `close`, this
        environment is reset first, and the actions before `close` are applied again. Raises
        `ServiceError` if the worker is lost on the way; the next step then reports the end of the
        episode.
        """
        self._resume()
        return self._copy(self._episode.fork)

    def __copy__(self) -> Self:
        raise TypeError("an environment has a process: use copy.deepcopy() or fork()")

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.fork()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what makes this environment and where its episode stands.

        Unpickling replays the episode in a new worker. Spaces that were added
        after the environment was made are not part of it, but for rewards in use.
        """
        snapshot = _Snapshot(
            spec=self.spec,
            next_benchmark=self._next_benchmark,
            np_random=self._np_random,
            np_random_seed=self._np_random_seed,
            program_random=self._datasets.generator,
            renders_unasked=self.renders_unasked,
            episode=self._episode.snapshot(),
        )
        return self._remake, (*self._made_with, snapshot)

    def _resume(self) -> None:
        """Begin an episode if none was begun, and one that `close` ended anew, with its actions.

        Nothing happens where there is an episode, or no program to begin one with.
        """
        if self.episode.history is not None or self.benchmark is None:
            return
        actions = self.actions if self.episode.closed_actions else []
        self.reset(benchmark=self.benchmark)  # named, so that an order of programs waits
        if actions:
            self.multistep(actions)

    def _twin(self) -> Self:
        """Return a new environment with these spaces and no episode."""
        return self._copy(self._episode.restart)

    def _copy(self, copy_episode: Callable[[Callable[[], str]], Episode]) -> Self:
        """Return a copy around the episode that `copy_episode` makes.

        What the plug-in added to this environment is shared by both.
        """
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin._datasets = self._datasets.copy()
        # Together: programs are drawn with the environment's own generator since a reset.
        twin._np_random, twin._datasets.generator = copy.deepcopy(
            (self._np_random, self._datasets.generator)
        )
        twin._episode = copy_episode(twin.commandline)
        return twin

    @classmethod
    def _remake(cls, args: tuple[Any, ...], kwargs: dict[str, Any], snapshot: "_Snapshot") -> Self:
        env = cls(*args, **kwargs)
        env.spec = snapshot.spec
        env._next_benchmark = snapshot.next_benchmark
        env._np_random, env._np_random_seed = snapshot.np_random, snapshot.np_random_seed
        env._datasets.generator = snapshot.program_random
        env.renders_unasked = snapshot.renders_unasked
        env._episode.restore(snapshot.episode)
        return env

    def _goal(self) -> str | None:
        """Return what the program is optimised for, where the plug-in knows goals."""
        return None

    def _varying_actions(self, history: History) -> tuple[str, ...]:
        varying = self.episode.selection.varying_actions
        found = [action for action in history.actions if varying and int(action) in varying]
        return tuple(dict.fromkeys(action_name(self.action_space, action) for action in found))

    def _state_hash(self) -> str | None:
        """Return a hash of the program now; a plug-in with one says it."""
        return None

    def _render_text(self) -> str:
        names = list(self.observation)
        history = self.episode.require()
        lines = [f"{history.benchmark} after {len(history.actions)} actions"]
        if names:
            spec = self.observation.spec(names[0])
            lines.append(spec.to_string(self.observation[names[0]]))
        return "\n".join(lines)

    def _at_hand(self, uri: str) -> Benchmark | None:
        """Return the program at `uri` if it was given to this environment: with its callbacks."""
        for program in (self.episode.program, self._next_benchmark):
            if isinstance(program, Benchmark) and str(program.uri) == uri:
                return program
        return None

    def _render_difference(self) -> str:
        """Return what the last action changed, after lines that say what it did."""
        now, actions = self._render_text(), self.actions
        note, where = self.listing.comment, self.episode.require().benchmark
        if not actions:
            return f"{note} {where}: no action yet"
        with self._twin() as twin:
            twin.reset(benchmark=self.episode.program, observation_space=None)
            if actions[:-1]:
                twin.multistep(actions[:-1])
            before = twin._render_text()
            costs = [twin._cost()]
            name = twin._action_text(actions[-1])  # in the space of that step
            earned = twin.multistep(actions[-1:])[1]
        costs.append(self._cost())
        # The first line says how many actions there were: it is no part of the program.
        lines, added, removed = difference(
            before.partition("\n")[2], now.partition("\n")[2], self.listing
        )
        head = [f"{note} {where}: action {len(actions):,}, {name}"]
        rewards = self.episode.selection.rewards.rewards
        values: list[Any] = earned if isinstance(earned, list) else [earned]  # pyright: ignore[reportUnknownVariableType]  # as a step gives it
        for space, value in zip(rewards, values, strict=bool(rewards)):
            again = "" if space.deterministic else ", measured again"
            head.append(f"{note} reward {value:.6g} ({space.name}{again})")
        if None not in costs:
            cost = rewards[0].observation_spaces[0]
            head.append(f"{note} {cost} {costs[0]} before, {costs[1]} after")
        changed = f"{counted(added, 'line')} added, {counted(removed, 'line')} removed"
        head.append(f"{note} {changed}" if lines else f"{note} nothing changed")
        return "\n".join([*head, *lines])

    def _action_text(self, action: Any) -> str:
        """Return what `action` is called, in whichever space it is."""
        space = self.action_space
        return action_name(space, action) if action_names(space) else str(action)

    def _cost(self) -> Any:
        """Return the cost that the reward space lowers, or None."""
        space = self.reward_space
        if space is None or not space.deterministic or len(space.observation_spaces) != 1:
            return None
        value = self.observation[space.observation_spaces[0]]
        return value if isinstance(value, (int, float)) else None

    def _warn_of_another_compiler(self, state: CompilerEnvState) -> None:
        if state.compiler_version in (None, self.compiler_version):
            return
        warnings.warn(
            f"this state was recorded with version {state.compiler_version} of the compiler and is "
            f"replayed with {self.compiler_version}: expect another program and another reward",
            StateVersionWarning,
            stacklevel=3,
        )

    def _choose_benchmark(self, benchmark: str | Benchmark | None) -> Benchmark:
        if benchmark is not None:
            program = self._resolve(benchmark)
            self._next_benchmark = None
            return program
        if self._next_benchmark is not None:
            program = self._resolve(self._next_benchmark)
            self._next_benchmark = None
            return program
        if self.episode.program is not None:
            return self.episode.program
        raise BenchmarkTypeError(
            "no benchmark is set: expected reset(benchmark=...) with a URI or a Benchmark"
        )

    def _resolve(self, benchmark: Any) -> Benchmark:
        if isinstance(benchmark, Benchmark):
            self._datasets.require_known_keys(benchmark.uri)
            return benchmark
        if isinstance(benchmark, (str, BenchmarkUri)):
            return self.datasets.benchmark(str(benchmark))
        raise BenchmarkTypeError(
            f"a benchmark is a URI or a Benchmark, found {type(benchmark).__name__}"
        )


@cache
def _say_once(text: str) -> None:
    _log.warning(text)


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """What a pickle says beyond the constructor's arguments."""

    spec: Any
    next_benchmark: str | Benchmark | None
    np_random: Any
    np_random_seed: int | None
    program_random: Any
    """What random programs are drawn with: `np_random` since a reset."""
    renders_unasked: bool | None
    episode: EpisodeSnapshot


def _one_of(names: Iterable[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} or {last}"
