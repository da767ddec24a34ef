# SPDX-License-Identifier: MIT
"""The spaces of an environment: which exist, and which are chosen.

This part of the environment turns names into spaces and plans. It makes no
request to a session.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

import gymnasium

from compiler_gym.core.describe import space_from_spec
from compiler_gym.core.plan import ObservationChoice, Plan, RewardChoice
from compiler_gym.core.views import (
    DerivedObservation,
    ObservationSpaceSpec,
    ObservationView,
    RewardView,
)
from compiler_gym.errors import UnknownNameError
from compiler_gym.service.messages import Description
from compiler_gym.session import ActionSpaceSpec, CommandlineSpec
from compiler_gym.spaces import Reward

__all__ = ["Choices"]


class Choices(gymnasium.Env[Any, Any]):
    """The chosen action, observation and reward spaces."""

    command_line_styles: ClassVar[Mapping[str, Callable[..., gymnasium.Space[Any]]]] = {}
    """How a plug-in's command lines are written, by the style its session names."""

    def _offer(
        self,
        description: Description,
        derived: Iterable[DerivedObservation],
        rewards: Iterable[Reward],
    ) -> None:
        """Take what there is to choose from; nothing is chosen yet."""
        self._compiler_version = description.compiler_version
        self._action_specs = {spec.name: spec for spec in description.action_spaces}
        self._built_action_spaces: dict[str, gymnasium.Space[Any]] = {}
        self.observation = ObservationView(
            self._ask, map(ObservationSpaceSpec.from_plain, description.observation_spaces)
        )
        """Every observation, on demand: ``env.observation["Autophase"]``."""
        for item in derived:
            self.observation.spaces[item.id] = self.observation.spec(item.base_id).derive(item)
        self.reward = RewardView(rewards, self.observation)
        """Every reward since it was last asked for: ``env.reward["..."]``."""
        self._observations = ObservationChoice.named(None, self.observation)
        self._rewards = RewardChoice.named(None, self.reward.spec)
        self._replan()

    def _ask(self, names: list[str]) -> list[Any]:
        """Return plain observations of the running episode."""
        raise NotImplementedError

    @property
    def action_spaces(self) -> list[Any]:
        """Every action space; set `action_space` to one of them or to its name."""
        return [self._action_space_named(name) for name in self._action_specs]

    @property
    def action_space(self) -> Any:  # type: ignore[override]  # each kind has its own members
        """The actions of the next `step`. Setting it takes effect at the next reset."""
        return self._action_space

    @action_space.setter
    def action_space(self, value: Any) -> None:  # type: ignore[override]  # an attribute there
        self._set_action_space(value)

    @property
    def observation_space(self) -> gymnasium.Space[Any] | None:  # type: ignore[override]  # None: none is set
        """The space of the observation that `step` returns, or None.

        Set it to a name, to a list of names (a dictionary of them) or to None.
        """
        return self._observation_space

    @observation_space.setter
    def observation_space(self, value: Any) -> None:  # type: ignore[override]  # an attribute there
        self._observations = ObservationChoice.named(value, self.observation)
        self._observation_space = self._observations.space()
        self._replan()

    @property
    def observation_space_spec(self) -> ObservationSpaceSpec | None:
        """The spec of the observation space, if one is set."""
        specs = self._observations.specs
        return specs[0] if self._observations.shape == "one" else None

    @property
    def reward_space(self) -> Reward | None:
        """The reward that `step` returns, or None. Set it to a name, a `Reward` or None."""
        return self._rewards.rewards[0] if self._rewards.rewards else None

    @reward_space.setter
    def reward_space(self, value: Any) -> None:
        if isinstance(value, Reward):
            self.reward.add_space(value)
        self._rewards = RewardChoice.named(value, self.reward.spec)
        self._replan()

    @property
    def reward_space_spec(self) -> Reward | None:
        """The reward space, under the name it had in CompilerGym 0.2.5."""
        return self.reward_space

    @property
    def reward_range(self) -> tuple[float, float]:
        """The bounds of the reward space."""
        space = self.reward_space
        return (float("-inf"), float("inf")) if space is None else space.range

    def _set_action_space(self, value: Any) -> None:
        name = next(iter(self._action_specs)) if value is None else getattr(value, "name", value)
        self._action_space_name: str = name
        self._use_action_space(self._action_space_named(name), self._action_specs[name])

    def _action_space_named(self, name: Any) -> gymnasium.Space[Any]:
        if not isinstance(name, str) or name not in self._action_specs:
            raise UnknownNameError(
                f"no action space {name!r}; there are {', '.join(self._action_specs)}"
            )
        if name not in self._built_action_spaces:
            self._built_action_spaces[name] = self._build(self._action_specs[name])
        return self._built_action_spaces[name]

    def _build(self, spec: ActionSpaceSpec) -> gymnasium.Space[Any]:
        if isinstance(spec.space, CommandlineSpec):
            return space_from_spec(spec.space, spec.name, styles=self.command_line_styles)
        return space_from_spec(spec.space, spec.name)

    def _use_action_space(self, space: gymnasium.Space[Any], spec: ActionSpaceSpec) -> None:
        self._action_space = space
        self._plain_action_count = (
            int(space.n) if isinstance(space, gymnasium.spaces.Discrete) and space.start == 0 else 0
        )

    def _replace_action_space(self, spec: ActionSpaceSpec) -> None:
        self._use_action_space(self._build(spec), spec)

    def _restore_action_space(self) -> None:
        """Undo a change of the action space that the last episode made."""
        name = self._action_space_name
        if self._action_space is not self._built_action_spaces[name]:
            self._use_action_space(self._built_action_spaces[name], self._action_specs[name])

    def _replan(self) -> None:
        self._plan = Plan(self._observations, self._rewards, self.observation)

    def _plan_for(self, observation_spaces: Any, reward_spaces: Any) -> Plan:
        observations = (
            self._observations
            if observation_spaces is None
            else ObservationChoice.requested(observation_spaces, self.observation)
        )
        rewards = (
            self._rewards
            if reward_spaces is None
            else RewardChoice.named(reward_spaces, self.reward.spec)
        )
        return Plan(observations, rewards, self.observation)
