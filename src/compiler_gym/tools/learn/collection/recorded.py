# SPDX-License-Identifier: MIT
"""The environment that a policy acts in while its episodes are kept."""

import random
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
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
from compiler_gym.tools.learn.collection.columns import NamedStep
from compiler_gym.tools.learn.collection.policies import random_actions
from compiler_gym.tools.learn.leaderboard import Limit, LimitReached, Meter
from compiler_gym.wrappers import EpisodeRecord, EpisodeSink, EpisodeStream, Lasting, StepRecord

__all__ = ["Recorded", "Tape", "record_randomly"]

_UNCHANGED = ResetArguments().observation_space


class Tape(Lasting):
    """Where the episodes of an environment go: those of its forks go nowhere."""

    def __init__(self, sink: EpisodeSink | None = None) -> None:
        self.sink = sink
        self.run = 0
        """The number of the run whose episodes come."""
        self.episode: EpisodeRecord | None = None

    def end(self) -> EpisodeRecord | None:
        """Hand the episode to the sink, and return it."""
        episode, self.episode = self.episode, None
        if episode is not None and episode.steps and self.sink is not None:
            self.sink.add(episode, self.run)
        return episode

    def __deepcopy__(self, memo: dict[int, Any]) -> "Tape":
        return Tape()


class _Listed:
    """A sink that keeps episodes until they are taken."""

    def __init__(self) -> None:
        self.episodes: list[EpisodeRecord] = []

    def add(self, episode: EpisodeRecord, number: int) -> None:
        self.episodes.append(episode)

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass

    def for_copy(self) -> None:
        return None


def record_randomly(
    env: CompilerEnv,
    programs: Iterable[Any],
    names: Sequence[str],
    *,
    episodes: int,
    length: int,
    rewards: Sequence[str],
    seed: int,
) -> Iterator[EpisodeRecord]:
    """Yield `episodes` of random actions on each of `programs`, and what `names` are in each state.

    The environment gets its spaces back.
    """
    before = env.episode.selection.observations.names, env.episode.selection.rewards.names
    listed, generator = _Listed(), random.Random(seed)
    env.reward_space = list(rewards) or None
    recorded = Recorded(env, names, Tape(listed), Meter(Limit(compilations=length)))
    try:
        for program in programs:
            for _ in range(episodes):
                recorded.meter = Meter(Limit(compilations=length))
                recorded.reset(benchmark=program)
                with suppress(LimitReached):
                    random_actions(recorded, generator)
                recorded.episode_ended()
                yield listed.episodes.pop()
    finally:
        env.observation_space, env.reward_space = before


class Recorded(EpisodeStream):
    """Keeps the episodes of `env`, and what `names` are in each state.

    What the policy observes itself is asked for in the same request. Several actions in one call
    are several steps. Forks are not recorded.

    Args:
        env: The environment, with nothing but the rewards that are kept chosen.
        names: What is kept of each state.
        tape: Where episodes go.
        meter: Counts the steps and raises `LimitReached` in the step beyond the limit.
    """

    step_record = NamedStep

    def __init__(self, env: CompilerEnv, names: Sequence[str], tape: Tape, meter: Meter) -> None:
        super().__init__(env)
        self.meter = meter
        """What may be used; a new one begins with each run."""
        self._tape = tape
        self._kept = tuple(names)
        self._name = ""
        self._own: Any = None
        self._listed_names: tuple[Any, Sequence[str]] = (None, ())
        self.observation_space = env.episode.selection.observations.names

    @property
    def observation_space(self) -> gymnasium.Space[Any] | None:  # type: ignore[override]  # None: none is set
        """What the policy observes: a name, a list of names or None sets it."""
        choice = self.below.episode.selection.observations
        space = cast("gymnasium.spaces.Dict", choice.space())
        if self._own is None or isinstance(self._own, str):
            return None if self._own is None else space[self._own]
        return gymnasium.spaces.Dict({name: space[name] for name in self._own})

    @observation_space.setter
    def observation_space(self, value: Any) -> None:  # type: ignore[override]  # an attribute there
        several = isinstance(value, (list, tuple))
        listed = cast("Sequence[Any]", value if several else [value])
        chosen: list[Any] = [] if value is None else list(listed)
        self.below.observation_space = [*self._kept, *chosen]
        names: list[str] = self.below.episode.selection.observations.names[len(self._kept) :]
        self._own = None if value is None else names if several else names[0]

    def keep_observation(self, observation: Any) -> tuple[Any, ...]:
        """Return what is kept of an observation."""
        return tuple([observation[name] for name in self._kept])

    def episode_started(self, episode: EpisodeRecord) -> None:
        """Begin the record of an episode."""
        self._tape.episode = episode

    def step_taken(self, step: StepRecord) -> None:
        """Add a step to the record."""
        cast("NamedStep", step).name = self._name
        if self._tape.episode is not None:
            self._tape.episode.steps.append(step)

    def episode_ended(self) -> None:
        """Hand on the record; raise `PolicyError` if it lacks steps."""
        episode = self._tape.end()
        if episode is not None and len(episode.steps) != len(self.below.actions):
            raise PolicyError(
                f"{len(self.below.actions) - len(episode.steps)} steps were made that are not "
                "recorded: expected a policy that steps the environment it is given, and not the "
                "one below it"
            )

    def handle_reset(self, asked: ResetArguments) -> ResetResult:
        """Start an episode; the rewards stay what they are."""
        given = asked.settle().list_given()
        if "reward_space" in given:
            self.reward_space = given["reward_space"]
        if "observation_space" in given:
            self.observation_space = given["observation_space"]
            asked = replace(asked.settle(), observation_space=_UNCHANGED)
        observation, info = super().handle_reset(asked)
        return self._of_the_policy(observation), info

    def handle_step(self, asked: StepArguments) -> StepTuple:
        """Apply the actions one by one, and record each."""
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
        """Raise `PolicyError`: what a state replays is no step of the policy."""
        raise PolicyError("a policy cannot apply a state here: expected reset() and step()")

    @property
    def reward_space(self) -> Any:
        """The reward of a step; it cannot be changed, because it is kept."""
        return self.below.reward_space

    @reward_space.setter
    def reward_space(self, value: Any) -> None:  # type: ignore[override]  # an attribute there
        before = self.below.reward_space
        if value is not before and (before is None or value != before.name):
            raise PolicyError(
                f"a policy cannot change the reward, which is kept: found {value}, expected "
                "the collection to keep it"
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
        own = values[len(self._kept) :]
        return (own if several else own[0], *result[1:])

    def _find_name(self, action: Any) -> str:
        """Return the name of an action; those of one space are listed once."""
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
    """Return what all steps earned together."""
    if len(rewards) == 1 or rewards[0] is None:
        return rewards[0]
    if isinstance(rewards[0], list):
        return [sum(each) for each in zip(*rewards, strict=True)]
    return sum(rewards)
