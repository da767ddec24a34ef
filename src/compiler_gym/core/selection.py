# SPDX-License-Identifier: MIT
"""The spaces that an environment has, and those that are chosen.

It turns names into spaces and plans, and makes no request to a session.
"""

import copy
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from typing import Any, cast

import gymnasium
import numpy as np
from numpy.typing import NDArray

from compiler_gym.core.arguments import OptionalArgumentValue, ResetArguments
from compiler_gym.core.plan import ObservationChoice, ObservationPlan, RewardChoice
from compiler_gym.core.specs import plain_from_value, space_from_spec
from compiler_gym.core.views import (
    DerivedObservation,
    ObservationSpaceSpec,
    ObservationView,
    RewardView,
)
from compiler_gym.errors import InvalidActionError, UnknownNameError
from compiler_gym.errors.nearest import did_you_mean, unknown_name
from compiler_gym.service.messages import Description
from compiler_gym.session import ActionSpaceSpec
from compiler_gym.spaces import (
    NamedDiscrete,
    Reward,
    action_flags,
    action_name,
    action_names,
    describe_range,
    space_name,
)

Ask = Callable[[list[str]], list[Any]]
"""Returns the values of observations, given their names, as the session sends them."""
_Space = gymnasium.Space[Any]
_UNCHANGED = OptionalArgumentValue.UNCHANGED


class Selection:
    """The spaces of an environment, and those that are chosen: at first an action space alone.

    Args:
        description: The spaces of the session.
        derived: Observations that are functions of the session's.
        rewards: The rewards that are offered.
        styles: Makes the action spaces that write command lines, by the style in the session.
        ask: Requests observations from the session.
    """

    def __init__(
        self,
        description: Description,
        derived: Iterable[DerivedObservation],
        rewards: Iterable[Reward],
        styles: Mapping[str, Callable[..., _Space]],
        ask: Ask,
    ) -> None:
        self.action_specs = {spec.name: spec for spec in description.action_spaces}
        """The session's description of every action space, by name."""
        self._styles = styles
        self._built: dict[str, _Space] = {}
        self.observation = ObservationView(
            ask, map(ObservationSpaceSpec.from_plain, description.observation_spaces)
        )
        """Every observation, computed when read."""
        for item in derived:
            self.observation.spaces[item.id] = self.observation.spec(item.base_id).derive(item)
        self.reward = RewardView(rewards, self.observation)
        """Every reward, computed when read."""
        self.observations = ObservationChoice.for_names(None, self.observation)
        """The observations that a step returns."""
        self.rewards = RewardChoice.for_names(None, self.reward.spec)
        """The rewards that a step returns."""
        self.plan = ObservationPlan(self.observations, self.rewards, self.observation)
        """The observations that a step requests."""
        self.choose_actions(None)

    def choose_actions(self, value: Any) -> None:
        """Choose an action space by its name or as the space itself; None is the first."""
        name = next(iter(self.action_specs)) if value is None else space_name(value) or value
        space = self.action_space_named(name)
        self.action_space_name: str = name
        """The name of the chosen action space."""
        self._use(space, self.action_specs[name])

    @property
    def observation_space(self) -> _Space | None:
        """The space of the observation that a step returns, or None."""
        return self.observations.space()

    def varying_among(self, actions: Iterable[Any]) -> tuple[str, ...]:
        """Return the names of those of `actions` whose results vary from run to run, each once."""
        varying = frozenset(self.action_spec.varying)
        matches = [action for action in actions if varying and int(action) in varying]
        return tuple(dict.fromkeys(action_name(self.action_space, action) for action in matches))

    def choose(self, arguments: ResetArguments) -> None:
        """Choose the spaces of the next episode, from the arguments of a reset.

        A seed seeds the action space.
        """
        if arguments.seed is not None:
            self.action_space.seed(arguments.seed)
        if arguments.action_space is not None:
            self.choose_actions(arguments.action_space)
            if arguments.seed is not None:
                self.action_space.seed(arguments.seed)
        observations, rewards = arguments.observation_space, arguments.reward_space
        if observations is not _UNCHANGED or rewards is not _UNCHANGED:
            self.choose_spaces(observations, rewards)
        self.restore_actions()

    def choose_spaces(self, observations: Any = _UNCHANGED, rewards: Any = _UNCHANGED) -> None:
        """Choose the observations and the rewards of a step; if one is invalid, change neither.

        Args:
            observations: A name, a list of names (for a dictionary) or None.
            rewards: A name, a `Reward`, a list of names or None.
        """
        observed, earned = self.observations, self.rewards
        if observations is not _UNCHANGED:
            observed = ObservationChoice.for_names(observations, self.observation)
            for spec in observed.specs:  # makes a manually derived spec available by name
                self.observation.spaces[spec.id] = spec
        if rewards is not _UNCHANGED:
            if isinstance(rewards, Reward):
                self.reward.add_space(rewards)
            earned = RewardChoice.for_names(rewards, self.reward.spec)
        self.plan = ObservationPlan(observed, earned, self.observation)
        self.observations, self.rewards = observed, earned

    def action_space_named(self, name: Any) -> _Space:
        """Return the action space `name`, or raise `UnknownNameError`."""
        if not isinstance(name, str) or name not in self.action_specs:
            raise UnknownNameError(unknown_name("action space", name, self.action_specs))
        if name not in self._built:
            self._built[name] = self._build(self.action_specs[name])
        return self._built[name]

    def replace_actions(self, spec: ActionSpaceSpec) -> None:
        """Use the actions of `spec`, sent by the session, for the rest of the episode."""
        self._use(_drawing_on(self._build(spec), self.action_space), spec)

    def restore_actions(self) -> None:
        """Undo the effect of `replace_actions` in the last episode."""
        original = self._built[self.action_space_name]
        if self.action_space is not original:
            _drawing_on(original, self.action_space)
            self._use(original, self.action_specs[self.action_space_name])

    @contextmanager
    def use_actions(self, name: str) -> Generator[None]:
        """Use the action space `name` inside the ``with`` block."""
        saved = self.action_space, self.action_spec
        self._use(self.action_space_named(name), self.action_specs[name])
        try:
            yield
        finally:
            self._use(*saved)

    def takes(self, action: Any) -> bool:
        """Return whether `action` is one of the actions."""
        if type(action) is int and 0 <= action < self.action_count:
            return True
        return self.action_space.contains(action)

    def plain(self, actions: list[Any]) -> list[Any]:
        """Return `actions` as plain values for the session, or raise `InvalidActionError`."""
        count, space = self.action_count, self.action_space
        check = getattr(space, "check_sequence", None)
        for action in actions:
            if type(action) is not int or not 0 <= action < count:
                break
        else:
            return actions
        if check is not None:  # the first actions determine which others can follow
            check(actions)
            return list(map(int, actions))
        for action in actions:
            if not space.contains(action):
                raise InvalidActionError(_why_refused(space, action) + self._advice(action))
        if count:
            return list(map(int, actions))
        return [plain_from_value(space, action) for action in actions]

    def _advice(self, action: Any) -> str:
        """Return advice for a message about `action`, if it is a list of actions."""
        if isinstance(action, np.ndarray):
            action = cast("NDArray[Any]", action).tolist()
        actions = cast("list[Any]", action) if isinstance(action, (list, tuple)) else []
        if actions and all(map(self.action_space.contains, actions)):
            return f": use multistep({list(actions)!r}) for several actions"
        return ""

    def plan_for(self, observation_spaces: Any, reward_spaces: Any) -> ObservationPlan:
        """Return the plan of a step that requests other spaces; None keeps the chosen ones."""
        observations, rewards = self.observations, self.rewards
        if observation_spaces is not None:
            observations = ObservationChoice.for_step(observation_spaces, self.observation)
        if reward_spaces is not None:
            rewards = RewardChoice.for_names(reward_spaces, self.reward.spec)
        return ObservationPlan(observations, rewards, self.observation)

    def copy(self, ask: Ask) -> "Selection":
        """Return a copy with its own random generators and its own copies of the rewards."""
        twin = copy.copy(self)
        # In one call: `action_space` is usually one of `_built`, and must stay the same object.
        twin._built, twin.action_space = copy.deepcopy((self._built, self.action_space))
        twin.observation = self.observation.copy(ask)
        twin.reward = self.reward.copy(twin.observation)
        twin.rewards = self.rewards.among(twin.reward.spec)
        twin._replan()
        return twin

    def _use(self, space: _Space, spec: ActionSpaceSpec) -> None:
        self.action_space = space
        """The actions of the next step."""
        self.action_spec = spec
        """The session's description of `action_space`."""
        numbers = space if isinstance(space, gymnasium.spaces.Discrete) else None
        count = 0 if numbers is None else int(getattr(numbers, "dense", numbers.n))
        self.action_count = count if numbers is not None and numbers.start == 0 else 0
        """The integers from 0 to this number are always actions; 0 in a space of other actions."""

    def _build(self, spec: ActionSpaceSpec) -> _Space:
        space = space_from_spec(spec.space, spec.name, styles=self._styles)
        if isinstance(space, NamedDiscrete):
            space.sets = spec.sets
        return space

    def _replan(self) -> None:
        self.plan = ObservationPlan(self.observations, self.rewards, self.observation)


def _drawing_on(space: _Space, before: _Space) -> _Space:
    """Give `space` the random generator of the space that it replaces, and return it.

    Otherwise a change of the actions during an episode would undo the seed of its reset.
    """
    if type(space) is type(before):
        space.__dict__["_np_random"] = before.__dict__.get("_np_random")
    return space


def _why_refused(space: _Space, action: Any) -> str:
    """Return why `action` was refused, with the number of an action given by name."""
    explain: Callable[[Any], str] | None = getattr(space, "why_refused", None)
    if explain is not None:
        return explain(action)
    message = f"{action!r} ({type(action).__name__}) is not an action of {space!r}"
    if not isinstance(action, str):
        is_number = isinstance(action, (int, np.integer)) and not isinstance(action, bool)
        return f"{message}: it must be {describe_range(space)}" if is_number else message
    names, flags = list(action_names(space)), list(action_flags(space))
    for choices in (names, flags):
        if action and action in choices:
            number = choices.index(action)
            return f"{message}: use its number, env.action_space[{names[number]!r}] ({number})"
    if hint := did_you_mean(action, names or filter(None, flags)):
        return f"{message}: {hint} Use env.action_space[NAME] to get the number of a name"
    return message
