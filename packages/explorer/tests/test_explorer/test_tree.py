# SPDX-License-Identifier: MIT
"""Trees over the fake compiler, which crashes, hangs and ends when it is told to."""

import os
import signal
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pytest

from compiler_gym.errors import ExplorerError, InvalidActionError
from compiler_gym.service import Limits
from compiler_gym.testing import FakeEnv, worker_pid
from compiler_gym_explorer import tree as module
from compiler_gym_explorer.tree import State, Tree

UNFORKABLE = "compiler_gym.testing.fakes:UnforkableSession"


@contextmanager
def grown(space: str = "Behaviours", program: str = "7", **options: Any) -> Generator[Any]:
    """Yield a tree that has its root, and what was recovered."""
    recovered: list[tuple[int, Exception]] = []
    env = FakeEnv(reward_space="number", action_space=space, **options)
    benchmark = env.datasets.benchmark(f"benchmark://fake-v0/{program}")
    tree = Tree(env, benchmark, lambda node, error: recovered.append((node, error)))
    try:
        tree.start()
        yield tree, recovered
    finally:
        tree.close()


def kill_worker(env: Any) -> None:
    pid = worker_pid(env)
    assert pid is not None
    os.kill(pid, signal.SIGKILL)


def number(tree: Tree, state: State) -> int:
    return tree.use(state, lambda env: env.observation["number"])


@pytest.mark.parametrize("session", [None, UNFORKABLE])
def test_states_go_their_own_ways(session: str | None) -> None:
    with grown("Safe", **({} if session is None else {"session": session})) as (tree, _):
        root = tree.state(0)
        one = tree.step(root, "add")
        two = tree.step(one, "add")
        other = tree.step(root, "double")
        assert [number(tree, state) for state in (root, one, two, other)] == [7, 8, 9, 14]
        assert tree.step(root, "add") is one
        assert two.total == pytest.approx(-2.0)
        assert [state.name for state in two.path] == ["add", "add"]


def test_only_some_states_are_kept_and_all_are_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_KEPT_PROCESSES", 2)
    with grown("Safe") as (tree, _):
        way = [tree.state(0)]
        for _ in range(6):
            way.append(tree.step(way[-1], "add"))
        assert len(tree._live) == 2
        assert [number(tree, state) for state in reversed(way)] == [13, 12, 11, 10, 9, 8, 7]


def test_equal_programs_know_each_other() -> None:
    with grown("Safe") as (tree, _):
        root = tree.state(0)
        back = tree.step(tree.step(root, "negate"), "negate")
        assert tree.node(back).same_as == 0
        nothing = tree.step(root, "nothing")
        assert not nothing.changed


def test_a_crash_is_a_node_without_a_program_and_takes_nothing_along() -> None:
    with grown() as (tree, recovered):
        one = tree.step(tree.state(0), "add")
        failed = tree.step(one, "segfault")
        assert failed.error is not None
        assert failed.error.type == "WorkerCrashedError"
        assert failed.reward is None
        with pytest.raises(ExplorerError, match="no action can follow"):
            tree.step(failed, "add")
        with pytest.raises(ExplorerError, match="it has no program"):
            number(tree, failed)
        assert number(tree, one) == 8
        assert tree.step(one, "add").error is None
        again = tree.step(one, "segfault")
        assert again is not failed
        assert failed.id not in tree.ids
        assert recovered == []


def test_a_hang_is_ended_at_its_deadline() -> None:
    with grown(limits=Limits(step_seconds=1.0)) as (tree, _):
        failed = tree.step(tree.state(0), "hang")
        assert failed.error is not None
        assert failed.error.type == "WorkerTimeoutError"
        assert number(tree, tree.state(0)) == 7


@pytest.mark.parametrize("victims", ["root", "leaf", "all"])
def test_lost_workers_are_replaced_by_replay(victims: str) -> None:
    with grown("Safe") as (tree, recovered):
        one = tree.step(tree.state(0), "add")
        two = tree.step(one, "double")
        found = {"root": [tree.env], "leaf": [tree._live[two.id]]}
        for env in found.get(victims, [tree.env, *tree._live.values()]):
            kill_worker(env)
        assert [number(tree, state) for state in (two, one, tree.state(0))] == [16, 8, 7]
        assert recovered
        assert tree.step(two, "add").costs["number"] == 17


def test_a_repeated_failure_is_reported_and_not_retried_forever() -> None:
    with grown("Safe") as (tree, recovered):

        def crash(env: Any) -> None:
            kill_worker(env)
            return env.observation["number"]

        with pytest.raises(Exception, match="worker") as failed:
            tree.use(tree.state(0), crash)
        assert type(failed.value).__name__ == "WorkerCrashedError"
        assert len(recovered) == 1
        assert number(tree, tree.state(0)) == 7


def test_an_episode_that_ends_can_be_looked_at() -> None:
    with grown("Menu") as (tree, _):
        state = tree.state(0)
        while not state.ended:
            state = tree.step(state, 0)
        assert isinstance(number(tree, state), int)
        with pytest.raises(ExplorerError, match="ended there"):
            tree.step(state, 0)


def test_actions_that_are_records_are_plain_in_nodes() -> None:
    with grown("Composite") as (tree, _):
        action = {"levels": [1, 2], "weights": [0.5, 0.0], "order": [0, 1, 2, 3], "pair": [1, 3]}
        state = tree.step(tree.state(0), action)
        assert state.action == action
        assert tree.step(tree.state(0), action) is state


@pytest.mark.parametrize("action", ["nonsense", 99, -1, None, 1.5, [1], {"a": 1}])
def test_an_invalid_action_is_refused_and_adds_nothing(action: Any) -> None:
    with grown("Safe") as (tree, _):
        with pytest.raises(InvalidActionError):
            tree.step(tree.state(0), action)
        assert list(tree.ids) == [0]


def test_the_tree_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_NODES", 2)
    with grown("Safe") as (tree, _):
        tree.step(tree.state(0), "add")
        with pytest.raises(ExplorerError, match="has 2 nodes"):
            tree.step(tree.state(0), "double")
