# SPDX-License-Identifier: MIT
"""Calls from a wrapper to the layer below it, and copies of wrappers.

The environment below may be a Gymnasium wrapper, which has `reset` and `step`, but no `multistep`
and no spaces for a single step: the functions here use the first two if the others are missing.

Forks, deep copies, pickles and undo all follow the same rules. ``__getstate__`` of a wrapper
returns its attributes, and Python's own protocol copies them: an object that forks share returns
itself from ``__deepcopy__``, and one with an open file omits the file from its ``__getstate__``.
Undoing a step restores a copy of every attribute that is not `Lasting`.
"""

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Generic, Self, TypeVar, cast

import gymnasium

from compiler_gym.core import CompilerEnv, ResetArguments, ResetResult, StepArguments, StepTuple
from compiler_gym.errors import CompilerGymError, InvalidActionError, InvalidParameterError

Environment = gymnasium.Env[Any, Any]
"""An environment to wrap: a `CompilerEnv`, or a Gymnasium wrapper around one."""
_RESET_NAMES = {field.name for field in fields(ResetArguments)} - {"seed", "options", "further"}
Layer = gymnasium.Wrapper[Any, Any, Any, Any]
"""A wrapper: a `CompilerEnvWrapper` or one of Gymnasium's."""


def reset_arguments(
    seed: int | None, options: dict[str, Any] | None, arguments: Mapping[str, Any]
) -> ResetArguments:
    """Return the record of a reset. Arguments that `CompilerEnv.reset` does not have are kept in
    `further`."""
    standard = {name: value for name, value in arguments.items() if name in _RESET_NAMES}
    further = {name: value for name, value in arguments.items() if name not in standard}
    return ResetArguments(seed, options, **standard, further=further)


def reset_below(env: Environment, asked: ResetArguments) -> ResetResult:
    """Reset `env`; pass the arguments to a Gymnasium wrapper as options, which are equivalent."""
    arguments = {**asked.list_given(), **asked.further}
    if isinstance(env, CompilerEnv):
        return env.reset(seed=asked.seed, options=asked.options, **arguments)
    return env.reset(seed=asked.seed, options={**(asked.options or {}), **arguments} or None)


def step_below(env: Environment, asked: StepArguments) -> StepTuple:
    """Apply the actions in `env`, one by one if it has no `multistep` or only overrides `step`."""
    if not isinstance(env, CompilerEnv):
        return _steps_in_gymnasiums(env, asked)
    obs, earned = asked.observation_spaces, asked.reward_spaces
    if not asked.actions or not getattr(env, "changes_only_step", False):
        return env.multistep(asked.actions, obs, earned, timeout=asked.timeout)
    spaces = {"observation_spaces": obs, "reward_spaces": earned, "timeout": asked.timeout}
    options = {name: value for name, value in spaces.items() if value is not None}
    return _one_by_one(lambda action: env.step(action, **options), asked.actions)


def nearest(env: Environment) -> CompilerEnv:
    """Return `env`, or the first `CompilerEnv` below its Gymnasium wrappers."""
    while not isinstance(env, CompilerEnv):
        if not isinstance(env, gymnasium.Wrapper):
            raise AttributeError(f"{env} is not a compiler environment")
        env = cast(Layer, env).env
    return env


def find_attribute(env: Environment, name: str) -> Any:
    """Return the attribute `name` of `env`, or of the first layer below that has it."""
    if isinstance(env, CompilerEnv) or not isinstance(env, gymnasium.Wrapper):
        return getattr(env, name)
    layer = cast(Layer, env)
    return getattr(layer, name) if hasattr(layer, name) else find_attribute(layer.env, name)


def is_gymnasiums(env: object) -> bool:
    """Return True if `env` is a Gymnasium wrapper but not a `CompilerEnvWrapper`."""
    return isinstance(env, gymnasium.Wrapper) and not isinstance(env, CompilerEnv)


def find_observation_space(env: Environment) -> gymnasium.Space[Any] | None:
    """Return the observation space of `env`; a `CompilerEnv` may have none."""
    return env.observation_space


def action_count(env: Environment) -> int:
    """Return the number of actions in the current episode of `env`."""
    try:
        return len(nearest(env).actions)
    except InvalidActionError:  # applied inside `env`, which does not offer them
        return len(nearest(env.unwrapped).actions)


def add_error(result: StepTuple, error: CompilerGymError) -> StepTuple:
    """Return `result` with `error` as its error, if the step failed."""
    if not result[3]:
        return result
    details = {"error": error, "error_type": type(error).__name__, "error_details": str(error)}
    return (*result[:4], {**result[4], **details})


def _steps_in_gymnasiums(env: Environment, asked: StepArguments) -> StepTuple:
    if asked.observation_spaces is not None or asked.reward_spaces is not None:
        raise InvalidParameterError(
            f"{type(env).__name__} is a Gymnasium wrapper, which takes no spaces for a single step"
        )
    if asked.actions:
        return _one_by_one(env.step, asked.actions)
    below = cast(Layer, env).env
    nothing = StepArguments([], timeout=asked.timeout)
    obs, reward, terminated, truncated, info = step_below(below, nothing)
    if isinstance(env, gymnasium.ObservationWrapper):
        obs = cast(gymnasium.ObservationWrapper[Any, Any, Any], env).observation(obs)
    if isinstance(env, gymnasium.RewardWrapper):
        reward = env.reward(reward)
    return obs, reward, terminated, truncated, info


def _one_by_one(step: Callable[[Any], StepTuple], actions: list[Any]) -> StepTuple:
    """Apply each action in its own step; return the result that one `multistep` would have."""
    results: list[StepTuple] = []
    for action in actions:
        results.append(step(action))
        if results[-1][2] or results[-1][3]:
            break
    obs, _, terminated, truncated, info = results[-1]
    info = dict(info)
    for key, combine in (("action_had_no_effect", all), ("new_action_space", any)):
        if key in info:
            info[key] = combine(result[4].get(key, False) for result in results)
    rewards = [result[1] for result in results]
    if isinstance(rewards[0], list):
        sums = [sum(column) for column in zip(*rewards, strict=True)]
        return obs, sums, terminated, truncated, info
    total = None if None in rewards else sum(rewards)
    return obs, total, terminated, truncated, info


State = dict[str, Any]
"""Attributes by name."""
_Value = TypeVar("_Value")


class Lasting:
    """A base class of attributes that do not depend on the step, so that undo does not restore
    them."""


@dataclass(slots=True)
class Shared(Lasting, Generic[_Value]):
    """A value that a wrapper and its forks share."""

    value: _Value

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


@dataclass(frozen=True, slots=True)
class MadeSpace(Lasting):
    """A space of a wrapper, and the space below from which it was built."""

    of: gymnasium.Space[Any] | None
    space: gymnasium.Space[Any]


def copy_attributes(state: State, wrapper: Layer, twin: Layer, below: Environment) -> State:
    """Return a copy of the attributes of `wrapper` for `twin`, whose environment is `below`."""
    # With both in the memo, references to either become references to its copy.
    return copy.deepcopy(state, {id(wrapper): twin, id(wrapper.env): below})


@dataclass(slots=True)
class Marks(Lasting):
    """The attributes of a wrapper before each step that can be undone, by the step's number."""

    _by_depth: dict[int, list[State]] = field(default_factory=dict[int, list[State]])

    @staticmethod
    def of(wrapper: Layer) -> list[State]:
        """Return copies of the attributes of `wrapper` and of the Gymnasium wrappers below it."""
        return [_copy_state(layer) for layer in _layers(wrapper)]

    def keep(self, depth: int, mark: list[State]) -> None:
        """Keep the attributes of the time when `depth` steps could be undone."""
        self._by_depth[depth] = mark

    def forget(self, depth: int = 0) -> None:
        """Drop the attributes for steps that cannot be undone any more: all from `depth`."""
        self._by_depth = {d: mark for d, mark in self._by_depth.items() if d < depth}

    def restore(self, depth: int, wrapper: Layer) -> None:
        """Restore the attributes of `wrapper` at the time when `depth` steps could be undone."""
        mark = self._by_depth.get(depth)
        if mark is None:
            return
        for layer, state in zip(_layers(wrapper), mark, strict=True):
            vars(layer).update(state)
        self.forget(depth)


def _layers(wrapper: Layer) -> list[Layer]:
    layers = [wrapper]
    while not isinstance(layers[-1].env, CompilerEnv):
        layers.append(cast(Layer, layers[-1].env))
    return layers


def _copy_state(layer: Layer) -> State:
    """Return a copy of the attributes of `layer` that undo restores."""
    is_own = isinstance(layer, CompilerEnv)
    state = cast(State, layer.__getstate__() if is_own else vars(layer))
    changing = {
        name: value
        for name, value in state.items()
        if name not in _COMMON and not isinstance(value, Lasting)
    }
    return copy_attributes(changing, layer, layer, layer.env)


_COMMON = frozenset(vars(Layer(Environment())))
"""The attributes of every Gymnasium wrapper: the environment below, and spaces."""
