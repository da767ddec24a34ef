# SPDX-License-Identifier: MIT
"""Programs come in order, in a circle or at random, also after a fork."""

import pickle
from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest

import compiler_gym
from compiler_gym.errors import InvalidParameterError
from compiler_gym.testing import FakeEnv
from compiler_gym.wrappers import (
    Counter,
    CycleOverBenchmarks,
    CycleOverBenchmarksIterator,
    IterateOverBenchmarks,
    RandomOrderBenchmarks,
)

URIS = [f"benchmark://fake-v0/{number}" for number in range(1, 4)]


def taken(env: Any, count: int) -> list[str]:
    found: list[str] = []
    for _ in range(count):
        env.reset()
        found.append(str(env.benchmark))
    return found


@pytest.mark.parametrize("make", [list, iter])
def test_programs_are_taken_once_in_order(env: FakeEnv, make: Any) -> None:
    ordered = IterateOverBenchmarks(env, make(URIS))
    assert taken(ordered, 3) == URIS
    with pytest.raises(StopIteration):
        ordered.reset()


@pytest.mark.parametrize("make", [list, iter])
def test_a_circle_starts_again(env: FakeEnv, make: Any) -> None:
    assert taken(CycleOverBenchmarks(env, make(URIS)), 7) == [*URIS, *URIS, URIS[0]]


@pytest.mark.parametrize("make", [list, iter])
@pytest.mark.parametrize("cls", [IterateOverBenchmarks, CycleOverBenchmarks])
def test_forks_take_the_same_programs_or_share_them(env: FakeEnv, cls: Any, make: Any) -> None:
    ordered = cls(env, make(URIS))
    taken(ordered, 1)
    with ordered.fork() as fork:
        assert taken(fork, 2) == taken(ordered, 2) == URIS[1:]
    sharing = cls(env, make(URIS), fork_shares_iterator=True)
    taken(sharing, 1)
    with sharing.fork() as fork:
        assert [*taken(fork, 1), *taken(sharing, 1)] == URIS[1:]


def test_a_program_that_is_given_leaves_the_order_alone(env: FakeEnv) -> None:
    ordered = IterateOverBenchmarks(env, URIS)
    ordered.reset(benchmark="fake-v0/9")
    assert str(ordered.benchmark) == "benchmark://fake-v0/9"
    ordered.reset(options={"benchmark": "fake-v0/8"})
    assert str(ordered.benchmark) == "benchmark://fake-v0/8"
    assert taken(ordered, 1) == URIS[:1]


def test_an_iterator_is_made_again_when_it_has_ended(env: FakeEnv) -> None:
    made: list[int] = []

    def make() -> Any:
        made.append(1)
        return iter(URIS[:2])

    cycling = CycleOverBenchmarksIterator(env, make)
    assert taken(cycling, 5) == [*URIS[:2], *URIS[:2], URIS[0]]
    assert len(made) == 3
    with cycling.fork() as fork:
        assert taken(fork, 1) == URIS[:1]


def test_the_programs_of_a_dataset_can_be_cycled(env: FakeEnv) -> None:
    uris = env.datasets["benchmark://fake-v0"].benchmark_uris
    assert len(set(taken(CycleOverBenchmarksIterator(env, uris), 11))) == 10


def test_random_programs_are_all_taken_and_a_seed_repeats_them(env: FakeEnv) -> None:
    shuffled = RandomOrderBenchmarks(env, iter(URIS), np.random.default_rng(1))
    assert set(taken(shuffled, 30)) == set(URIS)
    runs: list[list[str]] = []
    for _ in range(2):
        shuffled.reset(seed=4)
        runs.append([str(shuffled.benchmark), *taken(shuffled, 8)])
    assert runs[0] == runs[1]
    with shuffled.fork() as fork:
        assert taken(fork, 8) == taken(shuffled, 8)


def test_a_fork_before_the_first_reset_takes_no_program(env: FakeEnv) -> None:
    cycling = CycleOverBenchmarks(env, URIS)
    with cycling.fork() as fork:
        assert taken(cycling, 2) == taken(fork, 2) == URIS[:2]


@pytest.mark.parametrize("cls", [IterateOverBenchmarks, CycleOverBenchmarks, RandomOrderBenchmarks])
def test_no_programs_are_refused(env: FakeEnv, cls: Any) -> None:
    with pytest.raises(InvalidParameterError, match="at least one program"):
        cls(env, [])


def test_one_program_in_the_place_of_several_is_refused(env: FakeEnv) -> None:
    with pytest.raises(InvalidParameterError, match="must be a list of programs"):
        IterateOverBenchmarks(env, "fake-v0/1")
    with pytest.raises(InvalidParameterError, match="iterator over programs is empty"):
        CycleOverBenchmarksIterator(env, lambda: []).reset()


def test_a_list_is_pickled_with_its_place_and_an_iterator_is_refused(env: FakeEnv) -> None:
    ordered = CycleOverBenchmarks(env, URIS)
    taken(ordered, 2)
    with pickle.loads(pickle.dumps(ordered)) as twin:
        assert taken(twin, 2) == [URIS[2], URIS[0]]
    with pytest.raises(TypeError, match="pass a list instead"):
        pickle.dumps(IterateOverBenchmarks(env, iter(URIS)))


@pytest.mark.parametrize("cls", [IterateOverBenchmarks, CycleOverBenchmarks, RandomOrderBenchmarks])
def test_a_stack_over_a_generator_has_a_spec(cls: Any) -> None:
    def programs() -> Iterator[str]:
        yield from ("benchmark://cbench-v1/crc32", "benchmark://cbench-v1/sha")

    with Counter(cls(compiler_gym.make("llvm-v0"), programs())) as env:
        assert env.spec is not None
        env.reset()
        with gymnasium.make(env.spec, disable_env_checker=True) as made:
            made.reset()
            assert isinstance(made, Counter)
            found = [str(one.benchmark) for one in (env, made)]
            if cls is not RandomOrderBenchmarks:
                assert found == list(programs())
        assert gymnasium.wrappers.TimeLimit(env, 3).spec is not None


def test_a_seed_does_not_restart_an_order(env: FakeEnv) -> None:
    for ordered in (
        CycleOverBenchmarks(env, URIS),
        IterateOverBenchmarks(env, URIS),
        CycleOverBenchmarksIterator(env, lambda: URIS),
    ):
        found: list[str] = []
        for _ in range(2):
            ordered.reset(seed=1)
            found.append(str(ordered.benchmark))
        assert found == URIS[:2]


def test_random_programs_are_iterated_over_and_pickled(env: FakeEnv) -> None:
    shuffled = RandomOrderBenchmarks(env, (uri for uri in URIS))
    assert isinstance(shuffled, IterateOverBenchmarks)
    shuffled.reset()
    with pickle.loads(pickle.dumps(shuffled)) as twin:
        assert taken(twin, 8) == taken(shuffled, 8)
    with pytest.raises(InvalidParameterError, match="must be a list of programs"):
        RandomOrderBenchmarks(env, "fake-v0/1")
