# SPDX-License-Identifier: MIT
"""Environments for policy networks: short episodes, few actions and vector observations.

An observation is one float32 vector: the logarithms of the features, the last actions and the
fraction of steps left. Nothing here needs a learning library.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

import gymnasium
import numpy as np
from numpy.typing import NDArray

from compiler_gym.errors import InvalidParameterError
from compiler_gym.registration import Use, default_environment, make, make_vec
from compiler_gym.service.caching import TranspositionCache
from compiler_gym.vector import CompilerVectorEnv
from compiler_gym.wrappers import (
    ActionHistory,
    ActionMasks,
    BestSavings,
    CommandlineWithTerminalAction,
    ConstrainedCommandline,
    LogCounts,
    MacroActions,
    NoEffectPenalty,
    RelativeSavings,
    StepBudget,
    TimeLimit,
)


@dataclass(frozen=True, slots=True)
class Recipe:
    """The configuration of an environment for a policy network."""

    env: str = field(default_factory=partial(default_environment, Use.LEARNING))
    """The id; it must have an observation of counts and a reward."""
    actions: Sequence[str] = ()
    """The names of the actions to offer; all if empty."""
    action_space: str | None = None
    """The space of these actions; None is the environment's default."""
    macros: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """Names for sequences of actions; `actions` may include them."""
    ends: bool = False
    """True adds a last action that ends the episode."""
    savings: str | None = None
    """The cost whose relative savings are the reward; None keeps the environment's reward."""
    keeps_best: bool = False
    """True rewards the savings of the best state of an episode, so that stopping is free."""
    episode_length: int = 20
    """The number of actions after which an episode ends."""
    history: int = 4
    """The number of last actions to observe; 0 observes none."""
    no_effect_penalty: float = 0.0
    """The penalty for an action that changes nothing."""

    @property
    def arguments(self) -> dict[str, Any]:
        """The keyword arguments for `make`."""
        return {} if self.action_space is None else {"action_space": self.action_space}

    def wrap(self, env: Any) -> gymnasium.Env[Any, Any]:
        """Return `env` with all wrappers applied."""
        env = LogCounts(env)
        if self.savings:
            env = (BestSavings if self.keeps_best else RelativeSavings)(env, self.savings)
        if self.macros:
            env = MacroActions(env, self.macros)
        if self.actions:
            env = ConstrainedCommandline(env, self.actions)
        if self.ends:
            env = CommandlineWithTerminalAction(env)
        env = ActionMasks(env)
        if self.no_effect_penalty:
            env = NoEffectPenalty(env, self.no_effect_penalty)
        env = TimeLimit(env, self.episode_length)
        if self.history:
            env = ActionHistory(env, self.history)
        return _Flat(StepBudget(env))


def learning_env(
    recipe: Recipe | None = None,
    *,
    cache: TranspositionCache | None = None,
    **arguments: Any,
) -> gymnasium.Env[Any, Any]:
    """Return an environment set up by `recipe`; `arguments` are those of `make`."""
    recipe = recipe or Recipe()
    return recipe.wrap(make(recipe.env, cache=cache, **recipe.arguments, **arguments))


def learning_vec(
    num_envs: int,
    recipe: Recipe | None = None,
    *,
    sampler: Any = None,
    autoreset_mode: str = "SameStep",
    **arguments: Any,
) -> CompilerVectorEnv:
    """Return `num_envs` such environments as one vector; `sampler` chooses the programs."""
    recipe = recipe or Recipe()
    return make_vec(
        recipe.env,
        num_envs,
        wrappers=[recipe.wrap],
        sampler=sampler,
        autoreset_mode=autoreset_mode,
        **recipe.arguments,
        **arguments,
    )


def plain_env(env: gymnasium.Env[Any, Any]) -> gymnasium.Env[Any, Any]:
    """Return `env` with float32 vectors as observations, and Gymnasium's own space classes.

    RLlib, TorchRL and Minari require exactly these classes, and networks of RLlib require floats.
    Numbers above 2**24 are rounded.

    Raises `InvalidParameterError` if the observations are not numbers of a fixed shape.
    """
    return _Plain(_Flat(env))


class _Flat(gymnasium.wrappers.FlattenObservation):
    """One float32 vector, with the action masks as a method, where libraries look for it."""

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        super().__init__(env)
        flat = self.observation_space
        if not isinstance(flat, gymnasium.spaces.Box):
            raise InvalidParameterError(
                f"observations must be numbers of a fixed shape (got {env.observation_space}); "
                "choose another observation_space"
            )
        box = cast("gymnasium.spaces.Box[Any]", flat)
        self.observation_space = gymnasium.spaces.Box(
            box.low.astype(np.float32), box.high.astype(np.float32), dtype=np.float32
        )

    def observation(self, observation: Any) -> NDArray[np.float32]:
        """Return the observation as one vector."""
        return super().observation(observation).astype(np.float32)

    def action_masks(self) -> Any:
        """Return the masks of the environment below."""
        return self.env.get_wrapper_attr("action_masks")()


class _Plain(gymnasium.Wrapper[Any, Any, Any, Any], gymnasium.utils.RecordConstructorArgs):
    """Actions and rewards with Gymnasium's own space classes."""

    reward_space = gymnasium.spaces.Box(-np.inf, np.inf, (1,))
    """The range of rewards: TorchRL would otherwise find the environment's `Reward`."""

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        gymnasium.utils.RecordConstructorArgs.__init__(self)  # Minari makes the same wrapper again
        gymnasium.Wrapper.__init__(self, env)  # pyright: ignore[reportUnknownMemberType]
        space = env.action_space
        if isinstance(space, gymnasium.spaces.Discrete):
            self.action_space = gymnasium.spaces.Discrete(int(space.n), start=int(space.start))
