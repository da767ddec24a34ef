# SPDX-License-Identifier: MIT
"""What the next episode runs on is drawn with the environment's own generator."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from compiler_gym.datasets import Benchmark
from compiler_gym.errors import InvalidParameterError
from compiler_gym.testing import FakeEnv
from compiler_gym.vector.sampler import make_sampler

DATASET = "benchmark://fake-v0"


@pytest.fixture
def env() -> Iterator[FakeEnv]:
    with FakeEnv(isolation="in-process") as made:
        made.np_random = np.random.default_rng(7)
        yield made


def drawn(choice: Any, env: FakeEnv, count: int = 200) -> Counter[str]:
    draw = make_sampler(choice)
    assert draw is not None
    return Counter(str(draw(env)) for _ in range(count))


def test_without_a_choice_nothing_is_drawn() -> None:
    assert make_sampler(None) is None


@pytest.mark.parametrize("choice", [[], (), "", "benchmark://fake-v0/7"])
def test_an_invalid_choice_is_refused(choice: Any) -> None:
    with pytest.raises(InvalidParameterError, match="must be a function or a list of programs"):
        make_sampler(choice)


def test_a_function_is_given_the_environments_generator(env: FakeEnv) -> None:
    given: list[np.random.Generator] = []

    def draw(generator: np.random.Generator) -> str:
        given.append(generator)
        return f"{DATASET}/{generator.integers(9)}"

    sampler = make_sampler(draw)
    assert sampler is not None
    found = [sampler(env) for _ in range(4)]
    assert all(generator is env.np_random for generator in given)
    same = np.random.default_rng(7)
    assert found == [f"{DATASET}/{same.integers(9)}" for _ in range(4)]


def test_each_item_is_equally_likely_and_each_program_of_a_dataset(env: FakeEnv) -> None:
    user = Benchmark("benchmark://user-v0/mine", b"3")
    found = drawn([DATASET, "benchmark://fake-v0/77", user], env, 600)
    of_dataset = {uri: n for uri, n in found.items() if not uri.endswith(("/77", "/mine"))}
    assert set(of_dataset) == {f"{DATASET}/{number}" for number in range(10)}
    for count in (found["benchmark://fake-v0/77"], found[str(user)], sum(of_dataset.values())):
        assert 150 < count < 250


@pytest.mark.parametrize("address", [DATASET, f"{DATASET}/", "fake-v0"])
def test_a_dataset_may_be_named_or_given(env: FakeEnv, address: str) -> None:
    by_name = drawn([address], env)
    env.np_random = np.random.default_rng(7)
    assert drawn([env.datasets[DATASET]], env) == by_name
    assert len(by_name) == 10


def test_a_generator_that_is_the_same_draws_the_same(env: FakeEnv) -> None:
    found = [list(drawn((DATASET, f"{DATASET}/5"), env).items())]
    env.np_random = np.random.default_rng(7)
    found.append(list(drawn([DATASET, f"{DATASET}/5"], env).items()))
    assert found[0] == found[1]


def test_the_list_may_change_afterwards(env: FakeEnv) -> None:
    programs = [f"{DATASET}/1"]
    draw = make_sampler(programs)
    programs.clear()
    assert draw is not None
    assert draw(env) == f"{DATASET}/1"
