# SPDX-License-Identifier: MIT
"""The environment in which a policy acts while its episodes are recorded."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NoReturn, cast

import gymnasium

from compiler_gym.core import (
    CompilerEnv,
    CompilerEnvState,
    ResetArguments,
    ResetResult,
    StepArguments,
    StepTuple,
)
from compiler_gym.errors import PolicyError
from compiler_gym.spaces import action_name, action_names
from compiler_gym.tools.learn.collection.shards import AddEpisode, NamedStep
from compiler_gym.tools.learn.leaderboard import Meter
from compiler_gym.wrappers import EpisodeRecord, EpisodeStream, Lasting, StepRecord

_UNCHANGED = ResetArguments().observation_space


class Tape(Lasting):
    """The destination of an environment's episodes; those of its forks are dropped."""

    def __init__(self, sink: AddEpisode | None = None) -> None:
        self.sink = sink
        self.run = 0
        """The number of the current run."""
        self.episode: EpisodeRecord | None = None

    def end(self) -> EpisodeRecord | None:
        """Pass the episode to the sink and return it."""
        episode, self.episode = self.episode, None
        if episode is not None and episode.steps and self.sink is not None:
            self.sink(episode, self.run)
        return episode

    def __deepcopy__(self, memo: dict[int, Any]) -> "Tape":
        return Tape()


class Recorded(EpisodeStream):
    """A recorder of the episodes of `env`, with the observations `names` in each state.

    The policy's own observations come from the same request. Several actions in one call are
    recorded as several steps. Forks are not recorded.

    Args:
        env: The environment; its reward spaces are those to record.
        names: The observations to record in each state.
        tape: The destination of the episodes.
        meter: Counts the steps, and raises `LimitReached` for a step beyond the limit.
    """

    step_record = NamedStep

    def __init__(self, env: CompilerEnv, names: Sequence[str], tape: Tape, meter: Meter) -> None:
        super().__init__(env)
        self.meter = meter
        """The step limit; each run starts with a new meter."""
        self._tape = tape
        self._kept = tuple(names)
        self._name = ""
        self._own: Any = None
        self._listed_names: tuple[Any, Sequence[str]] = (None, ())
        self.observation_space = env.episode.selection.observations.names

    @property
    def observation_space(self) -> gymnasium.Space[Any] | None:  # type: ignore[override]  # None: none is set
        """The policy's observation space; set it to a name, a list of names or None."""
        choice = self.below.episode.selection.observations
        space = cast("gymnasium.spaces.Dict", choice.space())
        if self._own is None or isinstance(self._own, str):
            return None if self._own is None else space[self._own]
        return gymnasium.spaces.Dict({name: space[name] for name in self._own})

    @observation_space.setter
    def observation_space(self, value: Any) -> None:  # type: ignore[override]  # an attribute there
        several = isinstance(value, (list, tuple))
        spaces = cast("Sequence[Any]", value if several else [value])
        requested: list[Any] = [] if value is None else list(spaces)
        self.below.observation_space = [*self._kept, *requested]
        names: list[str] = self.below.episode.selection.observations.names[len(self._kept) :]
        self._own = None if value is None else names if several else names[0]

    def keep_observation(self, observation: Any) -> tuple[Any, ...]:
        """Return the recorded part of an observation."""
        return tuple([observation[name] for name in self._kept])

    def episode_started(self, episode: EpisodeRecord) -> None:
        """Start the record of an episode."""
        self._tape.episode = episode

    def step_taken(self, step: StepRecord) -> None:
        """Add a step to the record."""
        cast("NamedStep", step).name = self._name
        if self._tape.episode is not None:
            self._tape.episode.steps.append(step)

    def episode_ended(self) -> None:
        """Pass on the record; raise `PolicyError` if steps are missing."""
        episode = self._tape.end()
        if episode is not None and len(episode.steps) != len(self.below.actions):
            raise PolicyError(
                f"{len(self.below.actions) - len(episode.steps)} steps were not recorded; step the "
                "environment that is passed to the policy, not the one it wraps"
            )

    def handle_reset(self, asked: ResetArguments) -> ResetResult:
        """Start an episode; the rewards cannot change."""
        arguments = asked.settle().list_given()
        if "reward_space" in arguments:
            self.reward_space = arguments["reward_space"]
        if "observation_space" in arguments:
            self.observation_space = arguments["observation_space"]
            asked = replace(asked.settle(), observation_space=_UNCHANGED)
        observation, info = super().handle_reset(asked)
        return self._of_the_policy(observation), info

    def handle_step(self, asked: StepArguments) -> StepTuple:
        """Apply the actions one by one and record each."""
        if not asked.actions:
            spaces = asked.observation_spaces, asked.reward_spaces
            result = self.below.multistep([], *spaces, timeout=asked.timeout)
            return result if spaces[0] is not None else self._for_the_policy(result)
        rewards: list[Any] = []
        result: StepTuple = None, None, False, False, {}
        for action in asked.actions:
            result = self._step(replace(asked, actions=[action]))
            rewards.append(result[1])
            if result[2] or result[3]:
                break
        observation, _, terminated, truncated, info = result
        return observation, _sum_rewards(rewards), terminated, truncated, info

    def apply(self, state: CompilerEnvState) -> NoReturn:
        """Raise `PolicyError`: replayed actions are not steps of the policy."""
        raise PolicyError("a policy cannot apply a state here; use reset() and step()")

    @property
    def reward_space(self) -> Any:
        """The reward of a step; it cannot be changed, because it is recorded."""
        return self.below.reward_space

    @reward_space.setter
    def reward_space(self, value: Any) -> None:  # type: ignore[override]  # an attribute there
        before = self.below.reward_space
        if value is not before and (before is None or value != before.name):
            raise PolicyError(
                f"a policy cannot change the recorded reward to {value}; choose it in the options "
                "of the collection"
            )

    def _step(self, asked: StepArguments) -> StepTuple:
        self.meter.charge(1)
        self._name = self._find_name(asked.actions[0])
        explicit = asked.observation_spaces
        if explicit is None:
            return self._for_the_policy(super().handle_step(asked))
        several = isinstance(explicit, (list, tuple))
        names = list(cast("Sequence[Any]", explicit)) if several else [explicit]
        result = super().handle_step(replace(asked, observation_spaces=[*self._kept, *names]))
        values = result[0]
        if self._tape.episode is not None:
            self._tape.episode.steps[-1].observation = tuple(values[: len(self._kept)])
        policy_values = values[len(self._kept) :]
        return (policy_values if several else policy_values[0], *result[1:])

    def _find_name(self, action: Any) -> str:
        """Return the name of an action; the names of a space are listed once."""
        space = self.action_space
        if self._listed_names[0] is not space:
            self._listed_names = space, list(action_names(space))
        names = self._listed_names[1]
        if names and type(action) is int and 0 <= action < len(names):
            return names[action]
        return action_name(space, action) if self.below.episode.selection.takes(action) else ""

    def _of_the_policy(self, observation: Any) -> Any:
        if self._own is None or isinstance(self._own, str):
            return None if self._own is None else observation[self._own]
        return {name: observation[name] for name in self._own}

    def _for_the_policy(self, result: StepTuple) -> StepTuple:
        return (self._of_the_policy(result[0]), *result[1:])


def _sum_rewards(rewards: list[Any]) -> Any:
    """Return the sum of the rewards of all steps."""
    if len(rewards) == 1 or rewards[0] is None:
        return rewards[0]
    if isinstance(rewards[0], list):
        return [sum(column) for column in zip(*rewards, strict=True)]
    return sum(rewards)
