# SPDX-License-Identifier: MIT
"""Wrappers that change the set of actions: fewer, combined, a terminal one, or masked ones."""

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self, cast

import gymnasium
import numpy as np
from numpy.typing import NDArray

from compiler_gym.core import StepArguments, StepTuple
from compiler_gym.errors import (
    CompilerError,
    InvalidActionError,
    InvalidParameterError,
    ServiceError,
    UnknownNameError,
)
from compiler_gym.errors.nearest import did_you_mean
from compiler_gym.spaces import Commandline, CommandlineFlag, NamedDiscrete, space_name
from compiler_gym.wrappers.conversions import ActionWrapper
from compiler_gym.wrappers.layers import Environment, Lasting, MadeSpace, find_attribute
from compiler_gym.wrappers.wrapper import CompilerEnvWrapper

END_OF_EPISODE = CommandlineFlag("end-of-episode", "# end-of-episode", "End the episode")


class _NamedActions(ActionWrapper, ABC):
    """A set of named actions that is rebuilt when those below change."""

    _made: MadeSpace | None = None

    @abstractmethod
    def _make(self, below: NamedDiscrete) -> gymnasium.Space[Any]:
        """Return this wrapper's actions, given those below."""

    @property
    def action_space(self) -> Any:  # the type depends on the compiler
        """The actions of this wrapper. Set it to the name of an action space below."""
        return self._keep_up()

    @action_space.setter
    def action_space(self, value: Any) -> None:  # type: ignore[override]  # an attribute there
        self.below.action_space = value

    def fork(self) -> Self:
        """Return a fork whose actions refer to those of the fork's environment below."""
        twin = super().fork()
        if self._made is not None and self._made.of is self.env.action_space:
            assert twin._made is not None
            twin._made = replace(twin._made, of=twin.env.action_space)
        return twin

    def _keep_up(self) -> gymnasium.Space[Any]:
        """Return this wrapper's actions, rebuilt if the space below has changed."""
        below = self.env.action_space
        if self._made is not None and self._made.of is below:
            return self._made.space
        if not isinstance(below, NamedDiscrete):
            raise InvalidParameterError(
                f"{type(self).__name__} needs named actions, but {below!r} has none"
            )
        self._made = MadeSpace(below, self._make(below))
        return self._made.space

    def _masks_below(self) -> NDArray[np.bool_]:
        try:
            return find_attribute(self.env, "action_masks")()
        except AttributeError:
            return np.ones(len(self._actions_below.names), dtype=np.bool_)

    @property
    def _actions_below(self) -> NamedDiscrete:
        below = self.env.action_space
        assert isinstance(below, NamedDiscrete)
        return below


class ConstrainedCommandline(_NamedActions):
    """A wrapper that offers only some of the actions, by flag or name, in the given order.

    An action that is listed twice has two numbers; `reverse_action` returns the first.

    >>> import compiler_gym
    >>> with ConstrainedCommandline(compiler_gym.make("llvm-v0"), ["sroa", "licm"]) as env:
    ...     env.action_space.names
    ['sroa', 'licm']
    """

    def __init__(self, env: Environment, flags: Iterable[str], name: str | None = None) -> None:
        super().__init__(env)
        self._flags = [flags] if isinstance(flags, str) else list(flags)
        if not self._flags:
            raise InvalidParameterError("flags is empty; pass at least one")
        self._name = name
        self._numbers: list[int] = []
        self._own_numbers: dict[int, int] = {}
        self._keep_up()

    def action(self, action: Any) -> Any:
        """Return the number below of `action`, or a list of numbers for a list."""
        self._keep_up()
        if isinstance(action, (list, tuple)):
            actions = cast("Sequence[Any]", action)
            return [self._numbers[int(item)] for item in actions]
        return self._numbers[int(action)]

    def reverse_action(self, action: Any) -> int:
        """Return the number of an action below; raise `InvalidActionError` if it is not offered."""
        self._keep_up()
        try:
            return self._own_numbers[int(action)]
        except KeyError:
            raise InvalidActionError(
                f"{self._actions_below.names[int(action)]} is not among the actions of {self}"
            ) from None

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the masks of the offered actions."""
        self._keep_up()
        return any_if_none(self._masks_below()[self._numbers])

    def _make(self, below: NamedDiscrete) -> gymnasium.Space[Any]:
        self._numbers = [find_number(below, flag) for flag in self._flags]
        self._own_numbers = {number: i for i, number in reversed(list(enumerate(self._numbers)))}
        return extend_space(below, self._numbers, [], self._name or below.name)


class CommandlineWithTerminalAction(_NamedActions):
    """A wrapper with an action that ends the episode and sets ``info["terminal_action"]``.

    Later actions in the same `multistep` are not applied.
    """

    def __init__(self, env: Environment, terminal: CommandlineFlag = END_OF_EPISODE) -> None:
        super().__init__(env)
        self._terminal = CommandlineFlag(*terminal)
        self._keep_up()

    def action(self, action: Any) -> Any:
        """Return `action`: all actions but the last have the same numbers below."""
        return action

    def reverse_action(self, action: Any) -> Any:
        """Return `action`."""
        return action

    def handle_step(self, asked: StepArguments) -> StepTuple:
        """Apply the actions up to the terminal one, which ends the episode."""
        checked = self.check_actions(asked.actions)
        end = len(self._actions_below.names)
        ends = [i for i, action in enumerate(checked) if int(action) == end]
        observation, reward, terminated, truncated, info = super().handle_step(
            replace(asked, actions=checked[: ends[0]] if ends else checked)
        )
        if ends and not truncated:
            info = {**info, "action_had_no_effect": False, "terminal_action": True}  # it ended
            terminated = True
        return observation, reward, terminated, truncated, info

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the masks below, and True for the terminal action."""
        return np.append(self._masks_below(), True)

    def _make(self, below: NamedDiscrete) -> gymnasium.Space[Any]:
        return extend_space(below, range(len(below.names)), [self._terminal], below.name)


class MacroActions(_NamedActions):
    """A wrapper that adds named actions that each stand for several.

    `macros` maps names to lists of actions below, by name or number. The actions below keep their
    numbers; macros follow in the given order. Wrap the result in `ConstrainedCommandline` to offer
    only macros.

        >>> import compiler_gym
        >>> env = MacroActions(compiler_gym.make("llvm-v0"), {"clean": ["sroa", "simplifycfg"]})
        >>> _ = env.reset(); _ = env.step(env.action_space["clean"])
        >>> len(env.actions)
        2
        >>> env.close()
    """

    def __init__(self, env: Environment, macros: Mapping[str, Sequence[str | int]]) -> None:
        super().__init__(env)
        if not macros or not all(macros.values()):
            raise InvalidParameterError(f"every macro needs at least one action (got {macros})")
        self._macros = {name: list(parts) for name, parts in macros.items()}
        self._parts: list[list[int]] = []
        self._keep_up()

    def action(self, action: Any) -> Any:
        """Return `action`; raise `InvalidActionError` for a macro, which stands for several."""
        if int(action) >= len(self._actions_below.names):
            raise InvalidActionError(f"{self.action_space.names[int(action)]} is a macro")  # type: ignore[attr-defined]  # ours has names
        return action

    def reverse_action(self, action: Any) -> Any:
        """Return `action`: the actions below keep their numbers."""
        return action

    def handle_step(self, asked: StepArguments) -> StepTuple:
        """Apply the actions, with macros expanded, in one request."""
        checked = self.check_actions(asked.actions)
        flat = [part for action in checked for part in self._list_parts(int(action))]
        return super().handle_step(replace(asked, actions=flat))

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the masks below; a macro is hidden if all its actions are."""
        self._keep_up()
        below = self._masks_below()
        return np.append(below, [below[parts].any() for parts in self._parts])

    def _list_parts(self, action: int) -> list[int]:
        single = len(self._actions_below.names)
        return [action] if action < single else self._parts[action - single]

    def _make(self, below: NamedDiscrete) -> gymnasium.Space[Any]:
        if conflicts := sorted(self._macros.keys() & set(below.names)):
            raise InvalidParameterError(
                f"{', '.join(conflicts)} is already an action; choose another name for the macro"
            )
        self._parts = [
            [find_number(below, part) for part in parts] for parts in self._macros.values()
        ]
        flags = [
            CommandlineFlag(
                name, _text(below, parts), " ".join(below.names[part] for part in parts)
            )
            for name, parts in zip(self._macros, self._parts, strict=True)
        ]
        return extend_space(below, range(len(below.names)), flags, below.name)


def find_number(space: NamedDiscrete, action: str | int) -> int:
    """Return the number of an action from its name, flag or number."""
    if not isinstance(action, str):
        if not space.contains(action):
            raise InvalidActionError(f"{action!r} is not an action of {space!r}")
        return int(action)
    if action in space.names:
        return space.names.index(action)
    flags = getattr(space, "flags", [])
    if action in flags:
        return flags.index(action)
    hint = did_you_mean(action, space.names) or "use a name or a flag"
    elsewhere = getattr(space, "advice", _no_advice)(action)
    raise UnknownNameError(f"no action {action!r} in {space!r}: {hint}{elsewhere}")


def _no_advice(action: str) -> str:
    return ""


def extend_space(
    space: NamedDiscrete, numbers: Sequence[int], extra: Iterable[CommandlineFlag], name: str
) -> gymnasium.Space[Any]:
    """Return a space like `space` with only `numbers`, followed by `extra`."""
    kind: Any = type(space)
    options = {"repeated": True} if len(set(numbers)) < len(numbers) else {}
    if isinstance(space, Commandline):
        return kind([*(space.items[number] for number in numbers), *extra], name, **options)
    names = [*(space.names[number] for number in numbers), *(flag.name for flag in extra)]
    return kind(names, name, **options)


def any_if_none(masks: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return `masks`, or all True if all are False, because an agent must choose an action."""
    return masks if masks.any() else np.ones_like(masks)


def _text(space: NamedDiscrete, parts: list[int]) -> str:
    """Return the command-line text for several actions."""
    pipeline = getattr(space, "pipeline", None)
    return space.to_string(parts) if pipeline is None else pipeline(parts)


_Position = tuple[str | None, Hashable]
"""An action space and the hash of a program."""


class ActionMasks(CompilerEnvWrapper):
    """A wrapper that adds ``action_masks()``, which MaskablePPO of sb3-contrib calls.

    An action is hidden if it has had no effect on the identical program before, in this or an
    earlier episode, here or in a fork.

    Args:
        env: The environment.
        key: The observation that identifies a program by a hash; None uses `state_observation`.
        capacity: The number of programs to remember; the least recently used are dropped.

    Raises:
        InvalidParameterError: The observation does not exist.
    """

    def __init__(self, env: Environment, key: str | None = None, capacity: int = 100_000) -> None:
        super().__init__(env)
        name = key or getattr(self.unwrapped, "state_observation", None)
        if name is None or name not in self.observation:
            raise InvalidParameterError(
                f"{self.unwrapped} has no observation {key!r}; name one that hashes the program"
            )
        self._key: str = name
        self._capacity = capacity
        self._ineffective = _Ineffective()
        self._current: _Position | None = None

    def action_masks(self) -> NDArray[np.bool_]:
        """Return bool[actions]: False for an action known to have no effect."""
        space: gymnasium.Space[Any] = self.action_space
        if not isinstance(space, gymnasium.spaces.Discrete):
            raise InvalidParameterError(f"masks need numbered actions (got {space!r})")
        masks = np.ones(int(space.n), dtype=np.bool_)
        position = self._position() if self._ineffective and self.in_episode else None
        if position is not None:
            masks[list(self._ineffective.get(position, ()))] = False
        return any_if_none(masks)

    def episode_began(self) -> None:
        """Clear the hash of the last program."""
        super().episode_began()
        self._current = None

    def handle_step(self, asked: StepArguments) -> StepTuple:
        """Apply the actions and remember them if they had no effect."""
        result = super().handle_step(asked)
        if not result[4].get("action_had_no_effect"):
            self._current = None
        elif asked.actions and self.in_episode:
            self._learn(asked.actions)
        return result

    def _learn(self, actions: list[Any]) -> None:
        if not isinstance(self.action_space, gymnasium.spaces.Discrete):
            return
        position = self._position()
        if position is None:
            return
        self._ineffective.setdefault(position, set()).update(map(int, actions))
        self._ineffective.move_to_end(position)
        while len(self._ineffective) > self._capacity:
            self._ineffective.popitem(last=False)

    def _position(self) -> _Position | None:
        """Return the action space and the hash of the program.

        Return None if the compiler fails here; the next step then reports the failure.
        """
        if self._current is None:
            try:
                value = self.observation[self._key]
            except (CompilerError, ServiceError):
                return None
            hashed = value.tobytes() if isinstance(value, np.ndarray) else value
            self._current = (space_name(self.action_space), hashed)
        return self._current


class _Ineffective(OrderedDict[_Position, set[int]], Lasting):
    """The actions without effect, by program; all forks share them."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self
