# SPDX-License-Identifier: MIT
"""The observations that a request needs for the chosen observations and rewards.

A plan is made once and used on every step: it lists the session's observations, each once, and
converts the values in the reply to the values for the user.
"""

from collections.abc import Callable, Sequence
from enum import Enum, auto
from typing import Any, NamedTuple, cast

import gymnasium

from compiler_gym.core.views import ObservationSpaceSpec, ObservationView
from compiler_gym.session import BoxSpec, ScalarSpec
from compiler_gym.spaces import Dict as DictSpace
from compiler_gym.spaces import Reward


class Shape(Enum):
    """The form in which a step returns the values of the chosen spaces."""

    NONE = auto()
    """No space is chosen: the value is None."""
    ONE = auto()
    """The value of one space."""
    LIST = auto()
    """A list of values, for the list of names of a single step."""
    DICT = auto()
    """A dictionary of values by name, for a list of names chosen as the space."""

    def name_spaces(self, names: list[str]) -> Any:
        """Return the argument from which a choice of the spaces `names` was made."""
        match self:
            case Shape.NONE:
                return None
            case Shape.ONE:
                return names[0]
            case _:
                return names


class ObservationChoice:
    """The observation spaces that a step returns: none, one, a list or a dictionary."""

    def __init__(self, specs: list[ObservationSpaceSpec], shape: Shape) -> None:
        self.specs = specs
        self.shape = shape

    @classmethod
    def for_names(cls, names: Any, view: ObservationView) -> "ObservationChoice":
        """Return the choice for a space: a name, a list of names (a dictionary), or None."""
        if names is None:
            return cls([], Shape.NONE)
        if isinstance(names, (list, tuple)):
            listed = cast("Sequence[Any]", names)
            return cls([_find_spec(name, view) for name in listed], Shape.DICT)
        return cls([_find_spec(names, view)], Shape.ONE)

    @classmethod
    def for_step(cls, names: Any, view: ObservationView) -> "ObservationChoice":
        """Return the choice for one step: a list of names gives a list of values."""
        choice = cls.for_names(names, view)
        return cls(choice.specs, Shape.LIST) if choice.shape is Shape.DICT else choice

    @property
    def lone(self) -> ObservationSpaceSpec | None:
        """The spec, if exactly one observation is chosen."""
        return self.specs[0] if self.shape is Shape.ONE else None

    @property
    def names(self) -> Any:
        """The argument of `for_names` for this choice."""
        return self.shape.name_spaces([spec.id for spec in self.specs])

    def space(self) -> gymnasium.Space[Any] | None:
        """Return the Gymnasium space of the result of `collect`."""
        if self.shape is Shape.NONE:
            return None
        if self.shape is Shape.ONE:
            return self.specs[0].space
        return DictSpace({spec.id: spec.space for spec in self.specs}, name="observations")

    def collect(self, values: Sequence[Any]) -> Any:
        """Return the observation of a step, given one value for each spec."""
        if self.shape is Shape.ONE:
            return values[0]
        if self.shape is Shape.DICT:
            return {spec.id: value for spec, value in zip(self.specs, values, strict=True)}
        return list(values) if self.shape is Shape.LIST else None

    def defaults(self) -> Any:
        """Return the observation of a step that failed."""
        return self.collect([spec.default_value for spec in self.specs])


class RewardChoice:
    """The rewards that a step returns: none, one or a list."""

    def __init__(self, rewards: list[Reward], shape: Shape) -> None:
        self.rewards = rewards
        self.shape = shape

    @classmethod
    def for_names(cls, names: Any, find: Callable[[str], Reward]) -> "RewardChoice":
        """Return the choice for a name, a list of names or None."""
        if names is None:
            return cls([], Shape.NONE)
        if isinstance(names, (list, tuple)):
            listed = cast("Sequence[Any]", names)
            return cls([find(_read_name(name)) for name in listed], Shape.LIST)
        return cls([find(_read_name(names))], Shape.ONE)

    def among(self, find: Callable[[str], Reward]) -> "RewardChoice":
        """Return the same choice with other reward objects, which `find` returns by name."""
        return RewardChoice([find(reward.name) for reward in self.rewards], self.shape)

    @property
    def names(self) -> Any:
        """The argument of `for_names` for this choice."""
        return self.shape.name_spaces([reward.name for reward in self.rewards])

    def collect(self, values: list[float]) -> Any:
        """Return the reward of a step, given one number for each reward."""
        if self.shape is Shape.ONE:
            return values[0]
        return values if self.shape is Shape.LIST else None


class RawValues(NamedTuple):
    """The positions in a reply of the observed array and of the number that the reward needs."""

    seen_at: int
    """The index of the observation in the reply."""
    cost_at: int
    """The index of the reward's observation in the reply."""
    cost_is_float: bool
    dtype: str
    """The numpy name of the array's type."""
    shape: tuple[int, ...]
    reward: Reward


class ObservationPlan:
    """The observations that a choice of spaces needs, and the conversion of their values."""

    def __init__(
        self, observations: ObservationChoice, rewards: RewardChoice, view: ObservationView
    ) -> None:
        self.observations = observations
        self.rewards = rewards
        self.names: list[str] = []
        """The names of the session's observations to request."""
        self._observed = [(self._slot(spec), spec.translate) for spec in observations.specs]
        self._rewarded = [
            (reward, [self._input(view.spec(name)) for name in reward.observation_spaces])
            for reward in rewards.rewards
        ]
        initial = [name for reward in rewards.rewards for name in reward.initial_spaces]
        first = [view.spec(name).base_id for name in initial if name in view]
        self.first_names = list(dict.fromkeys([*self.names, *first]))
        """The names to request at a reset, `names` first."""
        self._lone_observed = self._observed[0] if observations.shape is Shape.ONE else None
        is_lone = rewards.shape is Shape.ONE and len(self._rewarded[0][1]) == 1
        self._lone_rewarded = self._rewarded[0] if is_lone else None
        self.raw = self._raw(view)
        """The positions for native code; None unless the values are one array and one number."""
        self.is_bare = not self.names and not rewards.rewards
        """True if nothing is requested."""

    def observe(self, plain: Sequence[Any]) -> Any:
        """Return the observation, given the values in the reply."""
        if self._lone_observed is not None:  # the most frequent case
            slot, translate = self._lone_observed
            return translate(plain[slot])
        return self.observations.collect([f(plain[slot]) for slot, f in self._observed])

    def reward(self, actions: list[Any], plain: Sequence[Any], view: ObservationView) -> Any:
        """Return the reward, given the values in the reply."""
        if self._lone_rewarded is not None:
            reward, ((slot, translate),) = self._lone_rewarded
            return float(reward.update(actions, [translate(plain[slot])], view))
        return self.rewards.collect(
            [
                float(reward.update(actions, [f(plain[slot]) for slot, f in inputs], view))
                for reward, inputs in self._rewarded
            ]
        )

    def start(self, plain: Sequence[Any], view: ObservationView) -> None:
        """Pass the observations of the unchanged program, the reply to a reset, to each reward."""
        # A cache of states may add values to a reply.
        known = dict(zip(self.first_names, plain, strict=False))
        if len(known) > len(self.names):
            view = view.knowing(known)
        for reward, inputs in self._rewarded:
            reward.start([f(plain[slot]) for slot, f in inputs], view)

    def reward_on_error(self, episode_reward: float) -> Any:
        """Return the reward of a step that failed."""
        return self.rewards.collect(
            [float(reward.reward_on_error(episode_reward)) for reward in self.rewards.rewards]
        )

    def _raw(self, view: ObservationView) -> "RawValues | None":
        if self._lone_observed is None or self._lone_rewarded is None:
            return None
        reward, ((cost_at, _),) = self._lone_rewarded
        observed = self.observations.specs[0].sent_as
        cost = view.spec(reward.observation_spaces[0]).sent_as
        if not isinstance(observed, BoxSpec) or -1 in observed.shape:
            return None
        if not isinstance(cost, ScalarSpec) or cost.dtype not in ("int", "float"):
            return None
        seen_at, is_float = self._lone_observed[0], cost.dtype == "float"
        return RawValues(seen_at, cost_at, is_float, observed.dtype, tuple(observed.shape), reward)

    def _input(self, spec: ObservationSpaceSpec) -> tuple[int, Callable[[Any], Any]]:
        return self._slot(spec), spec.translate

    def _slot(self, spec: ObservationSpaceSpec) -> int:
        if spec.base_id not in self.names:
            self.names.append(spec.base_id)
        return self.names.index(spec.base_id)


def _find_spec(name: Any, view: ObservationView) -> ObservationSpaceSpec:
    """Return the spec called `name`, or `name` itself if it was derived from one of `view`."""
    if isinstance(name, ObservationSpaceSpec) and name.sent_as is None:
        view.spec(name.base_id)
        return name
    return view.spec(_read_name(name))


def _read_name(name: Any) -> Any:
    """Return the name of a space, given as a name, an enum member or the space itself."""
    for attribute in ("id", "name"):
        text = getattr(name, attribute, None)
        if isinstance(text, str):
            return text
    return name
