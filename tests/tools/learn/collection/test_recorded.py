# SPDX-License-Identifier: MIT
"""What a policy sees is what it asked for, and what is kept is all that happened."""

from collections.abc import Iterator

import pytest

from compiler_gym.errors import PolicyError
from compiler_gym.testing import FakeEnv
from compiler_gym.tools.learn.collection.recorded import Recorded, Tape
from compiler_gym.tools.learn.leaderboard import Limit, LimitReached, Meter
from compiler_gym.wrappers import EpisodeRecord

KEPT = ("number", "digits")


class Kept:
    def __init__(self) -> None:
        self.episodes: list[tuple[int, EpisodeRecord]] = []

    def __call__(self, episode: EpisodeRecord, number: int) -> None:
        self.episodes.append((number, episode))


@pytest.fixture
def kept() -> Kept:
    return Kept()


@pytest.fixture
def env(kept: Kept) -> Iterator[Recorded]:
    with FakeEnv(action_space="Safe", reward_space="number") as below:
        yield Recorded(below, KEPT, Tape(kept), Meter(Limit(compilations=9)))


def test_the_policy_sees_what_it_chose(env: Recorded) -> None:
    assert env.observation_space is None
    assert env.reset(benchmark="fake-v0/7")[0] is None
    assert env.step(0)[0] is None
    env.observation_space = "half"
    assert env.observation_space == env.observation.spec("half").space
    assert env.reset()[0] == 3
    assert env.step(0)[0] == 4
    env.observation_space = ["half", "digits"]
    assert env.reset()[0] == {"half": 3, "digits": "7"}
    assert env.step(0)[0] == {"half": 4, "digits": "8"}
    assert env.multistep([])[0] == {"half": 4, "digits": "8"}
    assert env.step(0, "vector")[0].tolist() == [9, 81, 1]
    assert env.step(0, ["number", "half"])[0] == [10, 5]
    assert env.reset(observation_space=None)[0] is None


def test_every_step_is_kept_with_its_name(env: Recorded, kept: Kept) -> None:
    env.reset(benchmark="fake-v0/7", seed=3)
    assert env.multistep([0, 0, 0])[1] == -3.0
    env.step(1, "half")
    env.reset()
    ((number, episode),) = kept.episodes
    assert (number, episode.benchmark, episode.seed) == (0, "benchmark://fake-v0/7", 3)
    assert episode.observation == (7, "7")
    names = list(env.action_space.names)
    assert [step.name for step in episode.steps] == [names[0]] * 3 + [names[1]]  # type: ignore[attr-defined]
    assert [step.observation for step in episode.steps][:3] == [(8, "8"), (9, "9"), (10, "10")]
    assert episode.steps[3].observation[0] == 20
    assert [step.reward for step in episode.steps] == [-1.0, -1.0, -1.0, -10.0]


def test_a_step_beyond_the_limit_is_not_made(env: Recorded) -> None:
    env.reset()
    env.multistep([0] * 9)
    with pytest.raises(LimitReached):
        env.step(0)
    assert len(env.actions) == 9


def test_forks_are_charged_and_not_kept(env: Recorded, kept: Kept) -> None:
    env.reset()
    env.step(0)
    with env.fork() as twin:
        twin.multistep([0, 0])
        twin.reset()
    env.episode_ended()
    ((_, episode),) = kept.episodes
    assert len(episode.steps) == 1
    assert env.meter.compilations == 3


def test_an_episode_that_cannot_be_recorded_is_refused(env: Recorded) -> None:
    env.reset()
    state = env.state
    with pytest.raises(PolicyError, match="cannot apply a state"):
        env.apply(state)
    env.reward_space = "number"
    with pytest.raises(PolicyError, match="cannot change the recorded reward"):
        env.reward_space = None
    with pytest.raises(PolicyError, match="cannot change the recorded reward"):
        env.reset(reward_space=None)
    env.reset()
    env.step(0)
    env.unwrapped.step(0)
    with pytest.raises(PolicyError, match="1 steps were not recorded"):
        env.episode_ended()
