# SPDX-License-Identifier: MIT
"""The base of every wrapper: an environment that hands everything on to another.

It has no session of its own: its `episode` is that of the environment below, and what
`CompilerEnv` says over an episode it says here too. A subclass changes what is done for a
step or a reset in `handle_step` or `handle_reset`; forks, deep copies, pickles and `undo`
then work without more, because what a wrapper holds is copied with the environment below it.
"""

import copy
import copyreg
import inspect
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, NoReturn, Self, cast

import gymnasium
from gymnasium.envs.registration import EnvSpec, WrapperSpec

from compiler_gym.core import (
    CompilerEnv,
    CompilerEnvState,
    Episode,
    ResetArguments,
    ResetResult,
    StepArguments,
    StepResult,
    fork_of,
)
from compiler_gym.datasets import Benchmark, Datasets
from compiler_gym.errors import InvalidParameterError
from compiler_gym.spaces import Reward, space_name
from compiler_gym.wrappers._below import (
    Environment,
    attribute_of,
    nearest,
    reset_arguments,
    reset_of,
    step_of,
)
from compiler_gym.wrappers.copying import Marks, Shared, State, copied

__all__ = ["CompilerEnvWrapper", "StepResult"]


class CompilerEnvWrapper(CompilerEnv, gymnasium.Wrapper[Any, Any, Any, Any]):
    """An environment around another one; by itself it changes nothing.

    Public names that a wrapper does not have are those of the environment below, so
    ``env.undo()`` reaches a `ForkOnStep` through any number of wrappers. Wrappers of
    Gymnasium may stand in between.

        >>> import compiler_gym
        >>> class Halved(CompilerEnvWrapper):
        ...     def handle_step(self, asked):
        ...         seen, reward, *rest = super().handle_step(asked)
        ...         return seen, reward / 2, *rest
        >>> env = Halved(compiler_gym.make("llvm-v0", reward_space="IrInstructionCount"))
        >>> _ = env.reset(benchmark="cbench-v1/crc32")
        >>> env.step(env.action_space["sroa"])[1] > 0
        True
        >>> env.close()
    """

    changes_only_step: ClassVar[bool] = False
    """Whether a subclass defines `step` and no `multistep`, as many of CompilerGym 0.2.5 do:
    wrappers around it then take several actions one by one."""
    _arguments: Shared[tuple[tuple[Any, ...], dict[str, Any]]]
    """What the constructor was called with, but for the environment."""
    _marks: Marks | None
    """What this wrapper held before each step that can be undone; None if there is no way back
    below."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """See whether the subclass changes single steps only."""
        super().__init_subclass__(**kwargs)
        cls.changes_only_step = _place_of(cls, "step") < _place_of(cls, "multistep")

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Remember the arguments, so that a spec can name them and no subclass needs to."""
        self = super().__new__(cls)
        named = {key: value for key, value in kwargs.items() if key != "env"}
        self._arguments = Shared((args if "env" in kwargs else args[1:], named))
        return self

    def __init__(self, env: Environment) -> None:
        gymnasium.Wrapper.__init__(self, env)
        self._marks = Marks() if _can_undo(env) else None

    @property
    def below(self) -> CompilerEnv:
        """The environment below, past wrappers of Gymnasium; those get resets and steps first."""
        return nearest(self.env)

    @property
    def unwrapped(self) -> CompilerEnv:
        """The environment that no wrapper is around."""
        return cast(CompilerEnv, self.env.unwrapped)

    @property
    def episode(self) -> Episode:
        """The episode of the environment below."""
        return self.below.episode

    def handle_reset(self, asked: ResetArguments) -> ResetResult:
        """Start an episode as `asked`; for subclasses to change."""
        result = reset_of(self.env, asked)
        self._start_anew()
        return result

    def handle_step(self, asked: StepArguments) -> StepResult:
        """Apply the actions that were `asked` for; for subclasses to change.

        What a wrapper holds when it calls this is what an undone step goes back to.
        """
        marks = self._marks
        if marks is None:
            return step_of(self.env, asked)
        depth, mark = self._undoable_below(), Marks.of(self)
        result = step_of(self.env, asked)
        marks.keep(depth, mark)
        marks.forget(self._undoable_below())
        return result

    def episode_began(self) -> None:
        """Forget the last episode. Called when one begins, also by `apply`; for subclasses."""

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None, **arguments: Any
    ) -> ResetResult:
        """Start an episode; arguments are those of `CompilerEnv.reset`."""
        return self.handle_reset(reset_arguments(seed, options, arguments))

    def begin_reset(self, asked: ResetArguments) -> NoReturn:
        """Refuse: a reset goes through each wrapper, and is done when it comes back."""
        raise InvalidParameterError(f"{self} cannot begin a reset: expected a call of reset()")

    def step(
        self,
        action: Any,
        observation_spaces: Any = None,
        reward_spaces: Any = None,
        *,
        timeout: float | None = None,
    ) -> StepResult:
        """Apply `action`: a `multistep` of one."""
        return self.multistep([action], observation_spaces, reward_spaces, timeout=timeout)

    def multistep(
        self,
        actions: Iterable[Any],
        observation_spaces: Any = None,
        reward_spaces: Any = None,
        *,
        timeout: float | None = None,
    ) -> StepResult:
        """Apply `actions` together."""
        return self.handle_step(
            StepArguments(list(actions), observation_spaces, reward_spaces, timeout)
        )

    @property
    def undo(self) -> Callable[[], Self]:
        """Undo the last step of the `ForkOnStep` below, here as well, and return this wrapper.

        Raises `AttributeError` if there is none.
        """
        undo_below = attribute_of(self.env, "undo")

        def undo() -> Self:
            undo_below()
            if self._marks is not None:
                self._marks.restore(self._undoable_below(), self)
            return self

        return undo

    def fork(self) -> Self:
        """Return an independent environment in the same state, with the same wrappers."""
        self._resume()
        below = fork_of(self.env)
        try:
            twin = type(self).__new__(type(self))
            twin.__setstate__(copied(self.__getstate__(), self, twin, below))
        except BaseException:
            below.close()
            raise
        return twin

    def close(self) -> None:
        """Close what is below."""
        self.env.close()

    def render(self, mode: str | None = None) -> str | None:
        """Render what is below."""
        if mode is None:
            return self.env.render()  # type: ignore[return-value]  # ours gives text
        return self.below.render(mode)

    def apply(self, state: CompilerEnvState) -> None:
        """Bring the environment below to `state`."""
        self.below.apply(state)
        self._start_anew()

    def validate(self, state: CompilerEnvState | None = None, **options: Any) -> Any:
        """Replay `state` (default: the current one) and return a `ValidationResult`."""
        return self.below.validate(state, **options)

    def commandline(self) -> str:
        """Return the episode as the compiler's command line."""
        return self.below.commandline()

    def commandline_to_actions(self, commandline: str) -> list[Any]:
        """Return the actions that `commandline` stands for."""
        return self.below.commandline_to_actions(commandline)

    def actions_of(self, state: CompilerEnvState) -> list[Any]:
        """Return the actions below of `state`, and choose their space."""
        return self.below.actions_of(state)

    @property
    def action_space(self) -> Any:  # which space it is, and what it can do, is the compiler's
        """The actions of this wrapper: its own space if it set one."""
        return self.env.action_space if self._action_space is None else self._action_space

    @action_space.setter
    def action_space(self, value: Any) -> None:  # type: ignore[override]  # an attribute there
        if isinstance(value, gymnasium.Space) and value not in self.action_spaces:
            self._action_space = value
        else:
            self._action_space = None
            self.below.action_space = value

    @property
    def observation_space(self) -> gymnasium.Space[Any] | None:  # type: ignore[override]  # None: none is set
        """The observations of this wrapper: its own space if it set one."""
        if self._observation_space is None:
            return self.env.observation_space
        return self._observation_space

    @observation_space.setter
    def observation_space(self, value: Any) -> None:  # type: ignore[override]  # an attribute there
        if self._is_own(value):
            self._observation_space = value
        else:
            self._observation_space = None
            self.below.observation_space = value

    @property
    def reward_space(self) -> Reward | None:
        """The reward of the environment below."""
        return self.below.reward_space

    @reward_space.setter
    def reward_space(self, value: Any) -> None:
        self.below.reward_space = value

    @property
    def benchmark(self) -> Benchmark | None:
        """The program of the episode, or of the next one."""
        return self.below.benchmark

    @benchmark.setter
    def benchmark(self, value: str | Benchmark) -> None:
        self.below.benchmark = value

    @property
    def datasets(self) -> Datasets:
        """The programs that the environment below can start from."""
        return self.below.datasets

    @property
    def actions(self) -> list[Any]:
        """The actions of the episode, in order."""
        return self.below.actions

    @property
    def episode_reward(self) -> float | None:
        """The sum of the episode's rewards, or None without a reward space."""
        return self.below.episode_reward

    @episode_reward.setter
    def episode_reward(self, value: float | None) -> None:
        self.below.episode_reward = value

    @property
    def state(self) -> CompilerEnvState:
        """The episode so far, as a record that replays it."""
        return self.below.state

    @property
    def spec(self) -> EnvSpec | None:  # type: ignore[override]  # an attribute there
        """What `gymnasium.make` makes this environment from, wrappers included."""
        below = self.env.spec
        if below is None:
            return None
        cls = type(self)
        wrapper = WrapperSpec(cls.__name__, f"{cls.__module__}:{cls.__qualname__}", self._named())
        spec = copy.copy(below)
        spec.additional_wrappers = (*spec.additional_wrappers, wrapper)
        return spec

    @property
    def metadata(self) -> dict[str, Any]:  # type: ignore[override]  # an attribute there
        """What the environment below says of itself."""
        return self.env.metadata

    def __getattr__(self, name: str) -> Any:
        """Return what only a compiler's environment or a wrapper below has, such as ``ir``."""
        if name.startswith("_") or name == "env":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return attribute_of(self.env, name)

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a property that only the compiler's environment has there, all else here."""
        is_here = name.startswith("_") or name in vars(self) or "env" not in vars(self)
        if not is_here and not hasattr(type(self), name) and _is_property(self.unwrapped, name):
            setattr(self.below, name, value)
        else:
            object.__setattr__(self, name, value)

    def __getstate__(self) -> State:
        """Return what forks, pickles and undone steps copy: all that this wrapper holds."""
        return dict(vars(self))

    def __setstate__(self, state: State) -> None:
        """Become a copy that holds `state`."""
        vars(self).update(state)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the environment below and what this wrapper holds."""
        return copyreg.__newobj__, (type(self),), self.__getstate__()  # type: ignore[attr-defined]  # as pickle has it

    def __str__(self) -> str:
        return f"<{type(self).__name__}{self.env}>"

    __repr__ = __str__

    def _start_anew(self) -> None:
        if self._marks is not None:
            self._marks.forget()
        self.episode_began()

    def _undoable_below(self) -> int:
        """Return how many steps the `ForkOnStep` below can take back."""
        return attribute_of(self.env, "undoable_steps")

    def _is_own(self, value: object) -> bool:
        """Return whether `value` is a space that the environment does not offer by name."""
        if not isinstance(value, gymnasium.Space):
            return False
        name = space_name(cast("gymnasium.Space[Any]", value))
        offered = self.observation.spaces
        return name is None or name not in offered or offered[name].space != value

    def _named(self) -> dict[str, Any]:
        """Return the arguments this wrapper was made with, by name."""
        args, kwargs = self._arguments.value
        bound = inspect.signature(type(self)).bind(None, *args, **kwargs)
        named: dict[str, Any] = {}
        for name, value in list(bound.arguments.items())[1:]:
            kind = bound.signature.parameters[name].kind
            named |= value if kind is inspect.Parameter.VAR_KEYWORD else {name: value}
        return named


def _place_of(cls: type[Any], name: str) -> int:
    """Return how many base classes come before the one that defines `name`."""
    return next(place for place, base in enumerate(cls.__mro__) if name in base.__dict__)


def _can_undo(env: Environment) -> bool:
    try:
        attribute_of(env, "undo")
    except AttributeError:
        return False
    return True


def _is_property(env: object, name: str) -> bool:
    return isinstance(getattr(type(env), name, None), property)
