# SPDX-License-Identifier: MIT
"""The base class of every wrapper, which forwards all other names to the environment below.

A wrapper only holds the environment below, and has no session, program or datasets. A subclass
changes steps or resets by overriding `handle_step` or `handle_reset`; forks, deep copies, pickles
and `undo` then work without more code, because the attributes of a wrapper are copied together with
the environment below it.
"""

import copy
import copyreg
import functools
import inspect
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self, cast

import gymnasium
from gymnasium.envs.registration import EnvSpec, WrapperSpec

from compiler_gym.core import (
    CompilerEnv,
    CompilerEnvState,
    ResetArguments,
    ResetResult,
    StepArguments,
    StepResult,
    StepTuple,
    fork_wrapped,
    resume,
)
from compiler_gym.errors import InvalidParameterError
from compiler_gym.spaces import space_name
from compiler_gym.wrappers.layers import (
    Environment,
    Marks,
    Shared,
    State,
    copy_attributes,
    find_attribute,
    nearest,
    reset_arguments,
    reset_below,
    step_below,
)
from compiler_gym.wrappers.legacy import LegacyGym

if TYPE_CHECKING:  # checkers cannot see that a class was registered

    class _Wrapper(CompilerEnv, gymnasium.Wrapper[Any, Any, Any, Any]):  # type: ignore[override]  # settled below
        """A wrapper that can be used wherever an environment can."""

else:
    _Wrapper = gymnasium.Wrapper


@CompilerEnv.register
class CompilerEnvWrapper(_Wrapper):
    """An environment around another one, which changes nothing by itself.

    It is a `gymnasium.Wrapper`, and is registered as a `CompilerEnv`, so that ``isinstance``
    returns True. Every public name of `CompilerEnv` that is not defined here is read, set or called
    in the environment `below`, and so is every other public name: ``env.undo()`` reaches a
    `ForkOnStep` through any number of wrappers. Gymnasium wrappers may be in between.

    Args:
        env: The environment to wrap: a `CompilerEnv`, or wrappers around one.

    Examples:
        >>> import compiler_gym
        >>> class Halved(CompilerEnvWrapper):
        ...     def handle_step(self, asked):
        ...         observation, reward, *others = super().handle_step(asked)
        ...         return observation, reward / 2, *others
        >>> env = Halved(compiler_gym.make("llvm-v0", reward_space="IrInstructionCount"))
        >>> _ = env.reset(benchmark="cbench-v1/crc32")
        >>> env.step(env.action_space["sroa"])[1] > 0
        True
        >>> env.close()
    """

    changes_only_step: ClassVar[bool] = False
    """True if a subclass defines `step` but not `multistep`, as many for CompilerGym 0.2.5 do:
    wrappers around it then apply several actions one by one."""
    _arguments: Shared[tuple[tuple[Any, ...], dict[str, Any]]]
    """The arguments of the constructor, except the environment."""
    _marks: Marks | None
    """The attributes of this wrapper before each step that can be undone; None if no environment
    below supports undo."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Set `changes_only_step` for the subclass."""
        super().__init_subclass__(**kwargs)
        cls.changes_only_step = _find_definition(cls, "step") < _find_definition(cls, "multistep")

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Remember the arguments for `spec`, so that subclasses need not.

        Around a `LegacyGym`, the wrapper is put inside it, to keep the old interface.
        """
        keywords = {key: value for key, value in kwargs.items() if key != "env"}
        further = args if "env" in kwargs else args[1:]
        inner = kwargs.get("env", args[0] if args else None)
        if isinstance(inner, LegacyGym):
            return cast(Self, LegacyGym(cls(inner.env, *further, **keywords)))
        self = super().__new__(cls)
        self._arguments = Shared((further, keywords))
        return self

    def __init__(self, env: Environment) -> None:
        super().__init__(env)  # type: ignore[arg-type]  # the constructor of `gymnasium.Wrapper`
        self._marks = Marks() if _can_undo(env) else None

    @property
    def below(self) -> CompilerEnv:
        """The next `CompilerEnv` below. Resets and steps also pass through the Gymnasium wrappers
        in between; everything else is forwarded directly to this one."""
        return nearest(self.env)

    @property
    def unwrapped(self) -> CompilerEnv:
        """The environment below all wrappers."""
        return cast(CompilerEnv, self.env.unwrapped)

    def handle_reset(self, asked: ResetArguments) -> ResetResult:
        """Start an episode; subclasses override this.

        Args:
            asked: The arguments of `reset`. To change one, pass on a copy:
                ``super().handle_reset(dataclasses.replace(asked, benchmark=...))``.

        Returns:
            The observation and the info that `reset` returns.
        """
        result = reset_below(self.env, asked)
        self._start_anew()
        return result

    def handle_step(self, asked: StepArguments) -> StepTuple:
        """Apply actions; subclasses override this.

        `undo` restores the attributes that the wrapper had when it called
        ``super().handle_step(...)``.

        Args:
            asked: The arguments of `multistep`, or of `step` with a list of one action. To change
                one, pass on a copy made by `dataclasses.replace`.

        Returns:
            The five values that `step` and `multistep` return.
        """
        marks = self._marks
        if marks is None:
            return step_below(self.env, asked)
        depth, mark = self._undoable_below(), Marks.of(self)
        result = step_below(self.env, asked)
        marks.keep(depth, mark)
        marks.forget(self._undoable_below())
        return result

    def episode_began(self) -> None:
        """Called when `reset` or `apply` has started an episode. Subclasses override it to
        reset their own attributes."""

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None, **arguments: Any
    ) -> ResetResult:
        """Start an episode, as `CompilerEnv.reset` does.

        Args:
            seed: Seeds the environment below, its action space and its choice of programs.
            options: The other arguments by name, as Gymnasium passes them on.
            **arguments: The other arguments of `CompilerEnv.reset`, and those of wrappers below.
        """
        return self.handle_reset(reset_arguments(seed, options, arguments))

    def begin_reset(self, asked: ResetArguments) -> NoReturn:
        """Raise `InvalidParameterError`: wrappers take part in a reset, so `reset` is needed."""
        raise InvalidParameterError(f"{self} cannot begin a reset; call reset() instead")

    def step(
        self,
        action: Any,
        observation_spaces: Any = None,
        reward_spaces: Any = None,
        *,
        timeout: float | None = None,
    ) -> StepResult:
        """Apply one action, as a `multistep` of one."""
        return self.multistep([action], observation_spaces, reward_spaces, timeout=timeout)

    def multistep(
        self,
        actions: Iterable[Any],
        observation_spaces: Any = None,
        reward_spaces: Any = None,
        *,
        timeout: float | None = None,
    ) -> StepResult:
        """Apply `actions` together, as `CompilerEnv.multistep` does."""
        asked = StepArguments(list(actions), observation_spaces, reward_spaces, timeout)
        return StepResult(*self.handle_step(asked))

    @property
    def undo(self) -> Callable[[], Self]:
        """Undo the last step in the `ForkOnStep` below and in this wrapper; return this wrapper.

        Raises:
            AttributeError: There is no `ForkOnStep` below.
        """
        undo_below = find_attribute(self.env, "undo")

        def undo() -> Self:
            undo_below()
            if self._marks is not None:
                self._marks.restore(self._undoable_below(), self)
            return self

        return undo

    def fork(self) -> Self:
        """Return an independent environment in the same state, with the same wrappers."""
        resume(self)
        below = fork_wrapped(self.env)
        try:
            twin = type(self).__new__(type(self))
            twin.__setstate__(copy_attributes(self.__getstate__(), self, twin, below))
        except BaseException:
            below.close()
            raise
        return twin

    def __copy__(self) -> Self:
        raise TypeError(
            "cannot copy an environment, which owns a process; use copy.deepcopy() or fork()"
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.fork()

    def close(self) -> None:
        """Close the environment below."""
        self.env.close()

    def render(self, mode: str | None = None) -> str | None:
        """Render the environment below, as `CompilerEnv.render` does."""
        if mode is None:
            return self.env.render()  # type: ignore[return-value]  # ours returns text
        return self.below.render(mode)

    def apply(self, state: CompilerEnvState) -> None:
        """Replay `state` in the environment below."""
        self.below.apply(state)
        self._start_anew()

    @property
    def action_space(self) -> Any:  # the type depends on the compiler
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

    reward_space_spec = CompilerEnv.reward_space_spec  # type: ignore[override]  # the same
    observation_space_spec = CompilerEnv.observation_space_spec  # type: ignore[override]  # the same

    @property
    def spec(self) -> EnvSpec | None:  # type: ignore[override]  # an attribute there
        """The spec from which `gymnasium.make` recreates this environment with its wrappers."""
        below = self.env.spec
        if below is None:
            return None
        cls = type(self)
        wrapper = WrapperSpec(
            cls.__name__, f"{cls.__module__}:{cls.__qualname__}", self._name_arguments()
        )
        spec = copy.copy(below)
        spec.additional_wrappers = (*spec.additional_wrappers, wrapper)
        return spec

    @property
    def metadata(self) -> dict[str, Any]:  # type: ignore[override]  # an attribute there
        """The Gymnasium metadata of the environment below."""
        return self.env.metadata

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of a particular compiler's environment or a wrapper below."""
        if name.startswith("_") or name == "env":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return find_attribute(self.env, name)

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a property of a particular compiler's environment there, and others here."""
        is_here = name.startswith("_") or name in vars(self) or "env" not in vars(self)
        if not is_here and not hasattr(type(self), name) and _is_property(self.unwrapped, name):
            setattr(self.below, name, value)
        else:
            object.__setattr__(self, name, value)

    def __getstate__(self) -> State:
        """Return all attributes, for forks, pickles and `undo`."""
        return dict(vars(self))

    def __setstate__(self, state: State) -> None:
        """Restore the attributes of another wrapper."""
        vars(self).update(state)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the environment below and this wrapper's attributes."""
        return copyreg.__newobj__, (type(self),), self.__getstate__()  # type: ignore[attr-defined]  # pickle's own function

    def __str__(self) -> str:
        return f"<{type(self).__name__}{self.env}>"

    __repr__ = __str__

    def _start_anew(self) -> None:
        if self._marks is not None:
            self._marks.forget()
        self.episode_began()

    def _undoable_below(self) -> int:
        """Return the number of steps that the `ForkOnStep` below can undo."""
        return find_attribute(self.env, "undoable_steps")

    def _is_own(self, value: object) -> bool:
        """Return True if `value` is a space that the environment does not offer by name."""
        if not isinstance(value, gymnasium.Space):
            return False
        name = space_name(cast("gymnasium.Space[Any]", value))
        offered = self.observation.spaces
        return name is None or name not in offered or offered[name].space != value

    def _name_arguments(self) -> dict[str, Any]:
        """Return the arguments of the constructor by name."""
        args, kwargs = self._arguments.value
        # Before Python 3.11.3, the signature of the class is that of `__new__`.
        bound = inspect.signature(type(self).__init__).bind(self, None, *args, **kwargs)
        by_name: dict[str, Any] = {}
        for name, value in list(bound.arguments.items())[2:]:
            kind = bound.signature.parameters[name].kind
            by_name |= value if kind is inspect.Parameter.VAR_KEYWORD else {name: value}
        return by_name


def _forward(name: str, member: Any) -> Any:
    """Return a property or method that forwards to the environment below."""
    if not isinstance(member, property):

        @functools.wraps(member)
        def call(self: CompilerEnvWrapper, *args: Any, **kwargs: Any) -> Any:
            return getattr(self.below, name)(*args, **kwargs)

        return call

    def read(self: CompilerEnvWrapper) -> Any:
        return getattr(self.below, name)

    def write(self: CompilerEnvWrapper, value: Any) -> None:
        setattr(self.below, name, value)

    return property(read, write if member.fset else None, doc=member.__doc__)


def _forward_other_names() -> None:
    """Add forwarding members to `CompilerEnvWrapper`, so that subclasses find them in `super`."""
    for name, member in vars(CompilerEnv).items():
        is_member = isinstance(member, property) or inspect.isfunction(member)
        if is_member and not name.startswith("_") and name not in vars(CompilerEnvWrapper):
            setattr(CompilerEnvWrapper, name, _forward(name, member))


_forward_other_names()


def _find_definition(cls: type[Any], name: str) -> int:
    """Return the index in the MRO of the class that defines `name`."""
    return next(index for index, base in enumerate(cls.__mro__) if name in base.__dict__)


def _can_undo(env: Environment) -> bool:
    try:
        find_attribute(env, "undo")
    except AttributeError:
        return False
    return True


def _is_property(env: object, name: str) -> bool:
    return isinstance(getattr(type(env), name, None), property)
