# SPDX-License-Identifier: MIT
"""Rows, their samplers, durations and batches."""

import collections
import copy
import doctest
import pickle
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import VectorEnv
from hypothesis import given, settings
from hypothesis import strategies as st

import compiler_gym.vector.rows
from compiler_gym.datasets import Benchmark
from compiler_gym.errors import InvalidParameterError, ServiceIsClosed
from compiler_gym.testing import FakeEnv, is_running, same, wait_until, worker_pid
from compiler_gym.testing.fakes import BEHAVIOURS
from compiler_gym.vector.rows import (
    Batch,
    DirectRow,
    Durations,
    Rows,
    ThreadRow,
    infos_as_usual,
    make_sampler,
)
from compiler_gym.wrappers import Counter
from tests.stand_ins import stand_in

ACTIONS = {name: number for number, name in enumerate(BEHAVIOURS)}
Wrap = Callable[[FakeEnv], Any]
WRAPPERS: list[Wrap] = [
    lambda env: env,
    Counter,
    lambda env: gymnasium.wrappers.TimeLimit(env, 9),
]


@pytest.fixture
def envs() -> Iterator[list[FakeEnv]]:
    made = [
        FakeEnv(observation_space="packed", reward_space="number", action_space="Behaviours")
        for _ in range(2)
    ]
    for env in made:
        env.reset(benchmark="benchmark://fake-v0/7")
    yield made
    for env in made:
        env.close()


@pytest.mark.parametrize(
    ("wrap", "kind"), list(zip(WRAPPERS, (DirectRow, ThreadRow, ThreadRow), strict=True))
)
def test_a_wrapped_environment_is_used_by_a_thread(
    envs: list[FakeEnv], wrap: Wrap, kind: type
) -> None:
    rows = Rows([wrap(env) for env in envs])
    assert [type(row) for row in rows] == [kind, kind]
    assert rows[1].env.unwrapped is envs[1].unwrapped
    rows.close()


@pytest.mark.parametrize("wrap", WRAPPERS)
def test_every_kind_of_row_takes_the_same_actions(envs: list[FakeEnv], wrap: Wrap) -> None:
    row = Rows([wrap(envs[0])])[0]
    for action in (0, np.int64(1), len(BEHAVIOURS) - 1):
        assert row.takes(action) is True
    for action in (-1, len(BEHAVIOURS), 0.5, "add", None, [0]):
        assert row.takes(action) is False


def test_a_step_in_a_thread_begins_when_it_is_sent(envs: list[FakeEnv]) -> None:
    rows = Rows([Counter(envs[0])])
    pending = rows[0].begin_step(0)
    assert envs[0].actions == []
    pending.send(later=True)
    assert wait_until(lambda: envs[0].actions == [0])
    assert pending.result()[0].tolist() == [8, 64, 1]
    rows.close()


def test_threads_are_those_of_the_rows_and_end_with_them(envs: list[FakeEnv]) -> None:
    names: list[str] = []

    class Named(gymnasium.Wrapper[Any, Any, Any, Any]):
        def step(self, action: Any) -> Any:
            names.append(threading.current_thread().name)
            return super().step(action)

    rows = Rows([Named(env) for env in envs])
    begun = [row.begin_step(0) for row in rows]
    for pending in begun:
        pending.send()
    for pending in begun:
        pending.result()
    assert all(name.startswith("vector-environment") for name in names)
    rows.close()
    assert not any(t.name.startswith("vector-environment") for t in threading.enumerate())


@pytest.mark.parametrize("wrap", WRAPPERS)
@pytest.mark.parametrize("doing", ["step", "reset"])
def test_an_abandoned_call_ends_with_a_result_that_reports_it(
    envs: list[FakeEnv], wrap: Wrap, doing: str
) -> None:
    rows = Rows([wrap(env) for env in envs])
    workers = [worker_pid(env) for env in envs]
    if doing == "step":
        pending: Any = rows[0].begin_step(ACTIONS["hang"])
    else:
        pending = rows[0].begin_reset(None, {"benchmark": "benchmark://fake-v0/7?start=hang"})
    pending.send()
    rows[0].abandon()
    with pytest.raises(ServiceIsClosed, match="closed"):
        pending.result()
    assert wait_until(lambda: workers[0] is not None and not is_running(workers[0]))
    assert worker_pid(envs[0]) is None
    assert envs[1].step(0)[0].tolist() == [8, 64, 1], "the other row goes on"
    rows.close()


def test_queued_calls_are_not_started_after_a_close(envs: list[FakeEnv]) -> None:
    started, go_on = threading.Event(), threading.Event()

    def block() -> None:
        started.set()
        go_on.wait(120)

    with ThreadPoolExecutor(1) as executor:
        executor.submit(block)
        assert started.wait(120)
        row = ThreadRow(Counter(envs[0]), lambda: executor)
        pending = row.begin_step(0)
        pending.send()
        row.abandon()
        go_on.set()
    assert envs[0].actions == []


def test_rows_may_be_closed_twice_and_before_anything_ran() -> None:
    with FakeEnv() as env:
        for wrap in WRAPPERS:
            rows = Rows([wrap(env)])
            rows.close()
            rows.close()


@pytest.mark.parametrize(
    "duplicate", [copy.deepcopy, stand_in(lambda rows: pickle.loads(pickle.dumps(rows)))]
)
def test_a_copy_is_made_anew_around_copies(
    envs: list[FakeEnv], duplicate: Callable[[Rows], Rows]
) -> None:
    envs[0].step(0)
    rows = Rows([envs[0], Counter(envs[1])])
    rows[1].begin_step(0).result()
    twin = duplicate(rows)
    try:
        assert [type(row) for row in twin] == [DirectRow, ThreadRow]
        for row, mine in zip(twin, rows, strict=True):
            assert row.env is not mine.env
            assert row.begin_step(0).result()[0].tolist() == [9, 81, 1]
        assert [env.actions for env in envs] == [[0], [0]]
    finally:
        twin.close()
        rows.close()


ARRAY = spaces.Box(-9, 9, (2,), np.int64)
SPACES: list[tuple[gymnasium.Space[Any], list[Any]]] = [
    (ARRAY, [np.array([1, 2]), np.array([3, 4])]),
    (spaces.Discrete(9), [3, 4]),
    (spaces.Dict({"a": ARRAY, "b": spaces.Discrete(3)}), [{"a": np.array([1, 2]), "b": 0},
                                                          {"a": np.array([3, 4]), "b": 2}]),
    (spaces.Text(9), ["one", "two"]),
]  # fmt: skip


@pytest.mark.parametrize(("space", "seen"), SPACES)
def test_each_row_is_where_it_belongs(space: gymnasium.Space[Any], seen: list[Any]) -> None:
    batch = Batch(space, 2)
    for row in (1, 0):
        batch.enter(row, seen[row], row + 0.5, row == 0, row == 1)
    observed = batch.observe(copy=True)
    rows = list(gymnasium.vector.utils.iterate(spaces_of(space), observed))
    assert all(same(row, one) for row, one in zip(rows, seen, strict=True))
    assert batch.rewards.tolist() == [0.5, 1.5]
    assert [ends.tolist() for ends in batch.ends()] == [[True, False], [False, True]]


def spaces_of(space: gymnasium.Space[Any]) -> gymnasium.Space[Any]:
    return gymnasium.vector.utils.batch_space(space, 2)


@pytest.mark.parametrize(("space", "seen"), SPACES)
def test_a_copy_stays_as_it_is(space: gymnasium.Space[Any], seen: list[Any]) -> None:
    batch = Batch(space, 2)
    for row in range(2):
        batch.see(row, seen[row])
    kept, shared = batch.observe(copy=True), batch.observe(copy=False)
    assert same(kept, shared)
    batch.see(0, seen[1])
    assert not same(kept, batch.observe(copy=False))


def test_an_array_is_the_same_one_each_time() -> None:
    batch = Batch(ARRAY, 2)
    shared = batch.observe(copy=False)
    batch.see(1, np.array([5, 6]))
    assert batch.observe(copy=False) is shared is batch.observations
    assert shared.tolist() == [[0, 0], [5, 6]]


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=6))
@settings(deadline=None)
def test_rows_that_ended_in_either_way_have_ended(ends: list[tuple[bool, bool]]) -> None:
    batch = Batch(ARRAY, len(ends))
    assert batch.find_ended() == []
    for row, (terminated, truncated) in enumerate(ends):
        batch.enter(row, np.zeros(2, np.int64), 0.0, terminated, truncated)
    assert batch.find_ended() == [row for row, either in enumerate(ends) if any(either)]
    terminations, truncations = batch.ends()
    assert list(zip(terminations.tolist(), truncations.tolist(), strict=True)) == ends
    batch.ends()[0][:] = True
    assert batch.ends()[0].tolist() == [terminated for terminated, _ in ends]


def usual(no_effect: bool, new_space: bool) -> dict[str, Any]:
    return {"action_had_no_effect": no_effect, "new_action_space": new_space}


USUAL = st.builds(usual, st.booleans(), st.booleans())


@given(st.lists(USUAL, min_size=1, max_size=5))
@settings(deadline=None)
def test_infos_as_usual_are_those_that_gymnasium_gathers(said: list[dict[str, Any]]) -> None:
    theirs: dict[str, Any] = {}
    vector: Any = VectorEnv()
    vector.num_envs = len(said)
    for row, info in enumerate(said):
        theirs = vector._add_info(theirs, info, row)
    ours = infos_as_usual(said)
    assert ours is not None
    assert list(ours) == list(theirs)
    for key, value in theirs.items():
        assert (ours[key].dtype, ours[key].tolist()) == (value.dtype, value.tolist())


@pytest.mark.parametrize(
    "other",
    [
        {},
        {"action_had_no_effect": True},
        {"action_had_no_effect": True, "new_action_space": None},
        {"action_had_no_effect": True, "new_action_space": 0},
        {"action_had_no_effect": np.True_, "new_action_space": False},
        {"action_had_no_effect": True, "new_action_space": False, "error": "x"},
    ],
)
def test_infos_with_other_keys_are_not_usual(other: dict[str, Any]) -> None:
    assert infos_as_usual([usual(True, False)]) is not None
    assert infos_as_usual([usual(True, False), other]) is None


def test_documented_examples_run() -> None:
    assert doctest.testmod(compiler_gym.vector.rows).failed == 0


def test_actions_and_rows_are_distinguished() -> None:
    generator = np.random.default_rng(0)
    effort = 10 ** generator.uniform(-5, -3, 20)
    size = np.array([1.0, 3.0, 30.0])
    durations = Durations(3)
    for _ in range(3000):
        row, action = int(generator.integers(3)), int(generator.integers(20))
        noise = float(np.exp(generator.normal(0, 0.2)))
        durations.learn([row], [action], [float(effort[action] * size[row]) * noise])
    guesses = np.array([durations.guess([row] * 20, range(20)) for row in range(3)])
    assert np.allclose(guesses, effort * size[:, None], rtol=0.7)
    for row in guesses:
        assert np.corrcoef(np.log(row), np.log(effort))[0, 1] > 0.98


@pytest.mark.parametrize("action", [[1, 2], {"a": 1}, "text", np.int64(3)])
def test_other_actions_have_the_pace_of_their_row(action: object) -> None:
    durations = Durations(2)
    for _ in range(50):
        durations.learn([0, 1], [action] * 2, [1e-4, 1e-1])
    assert durations.guess([0, 1], [action] * 2) == pytest.approx([1e-4, 1e-1], rel=0.01)


def test_nothing_at_all_is_not_a_problem() -> None:
    durations = Durations(1)
    before = durations.guess([0], [0])
    durations.learn([0], [0], [0.0])
    assert durations.guess([0], [0]) == before
    durations.learn([0], [0], [1e-9])
    assert durations.guess([0], [0]) == pytest.approx([1e-9])


def test_remembered_actions_are_bounded() -> None:
    durations = Durations(1)
    for action in range(20_000):
        durations.learn([0], [action], [1e-5])
    guesses = durations.guess([0] * 20_000, range(20_000))
    known = sum(guess == pytest.approx(1e-5, rel=1e-6) for guess in guesses)
    assert 10_000 < known < 20_000


DATASET = "benchmark://fake-v0"


@pytest.fixture
def env() -> Iterator[FakeEnv]:
    with FakeEnv(isolation="in-process") as made:
        made.np_random = np.random.default_rng(7)
        yield made


def drawn(choice: Any, env: FakeEnv, count: int = 200) -> collections.Counter[str]:
    draw = make_sampler(choice)
    assert draw is not None
    return collections.Counter(str(draw(env)) for _ in range(count))


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
