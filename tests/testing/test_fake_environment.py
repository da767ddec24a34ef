# SPDX-License-Identifier: MIT
"""The environment around the fake lowers a number, and lists the first ten."""

import pytest

from compiler_gym.datasets import BenchmarkUri
from compiler_gym.errors import UnknownNameError
from compiler_gym.testing import FakeEnv
from compiler_gym.testing.fake_environment import NumbersDataset


def test_the_dataset_lists_ten_numbers_and_knows_every_other() -> None:
    dataset = NumbersDataset()
    uris = list(dataset.benchmark_uris())
    assert len(uris) == dataset.size == 10
    assert [dataset.benchmark(uri).contents for uri in uris] == [b"%d" % n for n in range(10)]
    far = BenchmarkUri.from_string("benchmark://fake-v0/-12")
    assert dataset.benchmark_from_parsed_uri(far).contents == b"-12"
    with pytest.raises(UnknownNameError, match=r"no program 'seven' in .*; name a number"):
        dataset.benchmark("benchmark://fake-v0/seven")


def test_a_reward_is_what_the_number_fell_by() -> None:
    with FakeEnv(isolation="in-process", reward_space="number", observation_space="half") as env:
        half, _ = env.reset()
        assert half == 3
        half, reward, *_ = env.step(2)
        assert (half, reward) == (-4, 14)


def test_another_session_and_its_options_can_be_chosen() -> None:
    with FakeEnv(
        session="compiler_gym.testing.fakes:UnforkableSession", options=[("version", "fake 2")]
    ) as env:
        assert env.compiler_version == "fake 2"
        env.reset(benchmark="benchmark://fake-v0/3")
        with env.fork() as fork:
            assert fork.observation["number"] == 3
