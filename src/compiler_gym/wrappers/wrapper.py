# SPDX-License-Identifier: MIT
"""The base of every wrapper: an environment that hands everything on to another.

It has no session of its own. A subclass changes `multistep` (a `step` is one of a
single action), `reset`, or both; forks, deep copies, pickles and `undo` then work without
more, because what a wrapper holds is copied with the environment below it.
"""

import copy
import inspect
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Self

import gymnasium
from gymnasium.envs.registration import EnvSpec, WrapperSpec

from compiler_gym.core import CompilerEnv, CompilerEnvState
from compiler_gym.datasets import Benchmark
from compiler_gym.spaces import Reward
from compiler_gym.wrappers._below import StepResult, attribute_of, fork_of, multistep_of, reset_of

__all__ = ["CompilerEnvWrapper", "StepResult"]


class CompilerEnvWrapper(CompilerEnv, gymnasium.Wrapper[Any, Any, Any, Any]):
    """An environment around another one; by itself it changes nothing.

    Public names that a wrapper does not have are those of the environment below, so
    ``env.undo()`` reaches a `ForkOnStep` through any number of wrappers. Wrappers of
    Gymnasium may stand in between.

        >>> import compiler_gym
        >>> class Halved(CompilerEnvWrapper):
        ...     def multistep(self, actions, *spaces, timeout=None):
        ...         seen, reward, *rest = super().multistep(actions, *spaces, timeout=timeout)
        ...         return seen, reward / 2, *rest
        >>> env = Halved(compiler_gym.make("llvm-v0", reward_space="IrInstructionCount"))
        >>> _ = env.reset(benchmark="cbench-v1/crc32")
        >>> env.step(env.action_space["sroa"])[1] > 0
        True
        >>> env.close()
    """

    shared: ClassVar[frozenset[str]] = frozenset()
    """Attributes that forks have in common: facts, not state."""
    left_out: ClassVar[frozenset[str]] = frozenset()
    """Attributes that a fork or a pickle starts with as None: open files and the like."""
    not_undone: ClassVar[frozenset[str]] = frozenset()
    """Attributes that stay as they are when a step is undone: what is true of all steps."""
    changes_only_step: ClassVar[bool] = False
    """Whether a subclass defines `step` and no `multistep`, as many of CompilerGym 0.2.5 do:
    wrappers around it then take several actions one by one."""
    _marks: "dict[int, list[dict[str, Any]]] | None" = None
    """What this wrapper held before each step that can be undone, by how many were before it;
    None if there is no way back below."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """See whether the subclass changes single steps only."""
        super().__init_subclass__(**kwargs)
        cls.changes_only_step = _place_of(cls, "step") < _place_of(cls, "multistep")

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """Remember the arguments but for the environment, so that a spec can name them."""
        self = object.__new__(cls)
        named = {key: value for key, value in kwargs.items() if key != "env"}
        self.__dict__["_arguments"] = (args if "env" in kwargs else args[1:], named)
        return self

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        gymnasium.Wrapper.__init__(self, env)
        try:
            attribute_of(env, "undo")
        except AttributeError:
            return
        self._marks = {}

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None, **arguments: Any
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode; arguments are those of `CompilerEnv.reset`."""
        result = reset_of(self.env, seed, options, arguments)
        self._start_anew()
        return result

    def episode_began(self) -> None:
        """Forget the last episode. Called when one begins, also by `apply`; for subclasses."""

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
        """Apply `actions` below."""
        marks = self._marks
        if marks is None:
            return multistep_of(self.env, actions, observation_spaces, reward_spaces, timeout)
        before, mark = self._of("undoable_steps"), self._mark()
        result = multistep_of(self.env, actions, observation_spaces, reward_spaces, timeout)
        marks[before] = mark
        self._forget_marks(self._of("undoable_steps"))
        return result

    @property
    def undo(self) -> Callable[[], Self]:
        """Undo the last step of the `ForkOnStep` below, here as well, and return this wrapper.

        Raises `AttributeError` if there is none.
        """
        undo_below = self._of("undo")

        def undo() -> Self:
            undo_below()
            marks, left = self._marks or {}, self._of("undoable_steps")
            if left in marks:
                for holder, values in zip(self._holders(), marks[left], strict=True):
                    holder.__dict__.update(values)
                self._forget_marks(left)
            return self

        return undo

    def fork(self) -> Self:
        """Return an independent environment in the same state, with the same wrappers."""
        below = fork_of(self.env)
        try:
            return self._fork_around(below)
        except BaseException:
            below.close()
            raise

    def close(self) -> None:
        """Close what is below."""
        self.env.close()

    def render(self, mode: str | None = None) -> str | None:
        """Render what is below."""
        if mode is None:
            return self.env.render()  # type: ignore[return-value]  # ours gives text
        return self._holders()[-1].env.render(mode)

    def apply(self, state: CompilerEnvState) -> None:
        """Bring the environment below to `state`."""
        self._of("apply")(state)
        self._start_anew()

    def validate(self, state: CompilerEnvState | None = None, **options: Any) -> Any:
        """Replay `state` (default: the current one) and return a `ValidationResult`."""
        return self._of("validate")(state, **options)

    def commandline(self) -> str:
        """Return the episode as the compiler's command line."""
        return self._of("commandline")()

    def commandline_to_actions(self, commandline: str) -> list[Any]:
        """Return the actions that `commandline` stands for."""
        return self._of("commandline_to_actions")(commandline)

    def actions_of(self, *args: Any, **kwargs: Any) -> Any:
        """Return what the environment below returns."""
        return self._of("actions_of")(*args, **kwargs)

    def send_param(self, key: str, value: str) -> str:
        """Hand one parameter to the session."""
        return self._of("send_param")(key, value)

    def send_params(self, *parameters: tuple[str, str]) -> list[str]:
        """Hand parameters to the session."""
        return self._of("send_params")(*parameters)

    @property
    def action_space(self) -> gymnasium.Space[Any]:  # type: ignore[override]  # by name
        """The actions of this wrapper: its own space if it set one."""
        return self.env.action_space if self._action_space is None else self._action_space

    @action_space.setter
    def action_space(self, value: Any) -> None:  # type: ignore[override]  # an attribute there
        if isinstance(value, gymnasium.Space) and value not in self.action_spaces:
            self._action_space = value
        else:
            self._action_space = None
            self._assign("action_space", value)

    @property
    def observation_space(self) -> gymnasium.Space[Any] | None:  # type: ignore[override]  # None: none is set
        """The observations of this wrapper: its own space if it set one."""
        if self._observation_space is None:
            return self.env.observation_space
        return self._observation_space

    @observation_space.setter
    def observation_space(self, value: Any) -> None:  # type: ignore[override]  # an attribute there
        if isinstance(value, gymnasium.Space) and not self._is_named(value):
            self._observation_space = value
        else:
            self._observation_space = None
            self._assign("observation_space", value)

    @property
    def reward_space(self) -> Reward | None:
        """The reward of the environment below."""
        return self._of("reward_space")

    @reward_space.setter
    def reward_space(self, value: Any) -> None:
        self._assign("reward_space", value)

    @property
    def benchmark(self) -> Benchmark | None:
        """The program of the episode, or of the next one."""
        return self._of("benchmark")

    @benchmark.setter
    def benchmark(self, value: str | Benchmark) -> None:
        self._assign("benchmark", value)

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
        env = self.__dict__.get("env")
        if name.startswith("_") or env is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return attribute_of(env, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if self._is_settable_below(name):
            self._assign(name, value)
        else:
            object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the environment below and what this wrapper holds."""
        kept = {k: None if k in self.left_out else v for k, v in self.__dict__.items()}
        return _bare, (type(self),), kept

    def __str__(self) -> str:
        return f"<{type(self).__name__}{self.env}>"

    __repr__ = __str__

    def _fork_around(self, below: Any) -> Self:
        """Return a copy of this wrapper around `below`."""
        twin = _bare(type(self))
        memo: dict[int, Any] = {id(self): twin, id(self.env): below}
        for name, value in self.__dict__.items():
            if name in self.left_out:
                twin.__dict__[name] = None
            elif name in self.shared or name == "_arguments":
                twin.__dict__[name] = value
            else:
                twin.__dict__[name] = copy.deepcopy(value, memo)
        return twin

    def _start_anew(self) -> None:
        if self._marks is not None:
            self._marks = {}
        self.episode_began()

    def _forget_marks(self, left: int) -> None:
        """Forget what was held before steps that `left` undoable ones do not include."""
        marks = self._marks or {}
        self._marks = {depth: mark for depth, mark in marks.items() if depth < left}

    def _mark(self) -> list[dict[str, Any]]:
        """Return a copy of what this wrapper holds, and those of Gymnasium's right below it."""
        left_alone = _KEPT | self.shared | self.left_out | self.not_undone
        return [
            {k: copy.deepcopy(v) for k, v in holder.__dict__.items() if k not in left_alone}
            for holder in self._holders()
        ]

    def _holders(self) -> list[Any]:
        holders: list[Any] = [self]
        while not isinstance(holders[-1].env, CompilerEnv):
            holders.append(holders[-1].env)
        return holders

    def _of(self, name: str) -> Any:
        return attribute_of(self.env, name)

    def _assign(self, name: str, value: Any) -> None:
        below = self.env
        while isinstance(below, gymnasium.Wrapper) and not isinstance(below, CompilerEnv):
            below = below.env
        setattr(below, name, value)

    def _is_named(self, space: gymnasium.Space[Any]) -> bool:
        """Return whether `space` is one that the environment offers by name."""
        name = getattr(space, "name", None)
        offered = self._of("observation").spaces
        return name in offered and offered[name].space == space

    def _is_settable_below(self, name: str) -> bool:
        """Return whether `name` is a property that only the compiler's environment has."""
        if name.startswith("_") or name in self.__dict__ or "env" not in self.__dict__:
            return False
        if hasattr(type(self), name):
            return False
        return isinstance(getattr(type(self.unwrapped), name, None), property)

    def _named(self) -> dict[str, Any]:
        """Return the arguments this wrapper was made with, by name."""
        args, kwargs = self._arguments
        bound = inspect.signature(type(self)).bind(None, *args, **kwargs)
        named: dict[str, Any] = {}
        for name, value in list(bound.arguments.items())[1:]:
            kind = bound.signature.parameters[name].kind
            named |= value if kind is inspect.Parameter.VAR_KEYWORD else {name: value}
        return named


_KEPT = frozenset(
    {
        *("env", "_arguments", "_cached_spec", "_marks", "_metadata"),
        *("_action_space", "_observation_space"),
    }
)
"""What belongs to the wrapper and not to the episode."""


def _place_of(cls: type[Any], name: str) -> int:
    """Return how many base classes come before the one that defines `name`."""
    return next(place for place, base in enumerate(cls.__mro__) if name in base.__dict__)


def _bare(cls: type[CompilerEnvWrapper]) -> Any:
    """Return a wrapper of class `cls` with no attributes."""
    return object.__new__(cls)


def _delegated(name: str, source: Any) -> property:
    return property(lambda self: attribute_of(self.env, name), doc=source.__doc__)


for _name in (
    "action_spaces",
    "actions",
    "compiler_version",
    "episode_reward",
    "episode_walltime",
    "in_episode",
    "observation_space_spec",
    "reward_range",
    "reward_space_spec",
    "state",
    "version",
):
    setattr(CompilerEnvWrapper, _name, _delegated(_name, getattr(CompilerEnv, _name)))
