# SPDX-License-Identifier: MIT
"""Policies are found by name: random actions, levels, searches and those in files."""

import random
from dataclasses import replace
from pathlib import Path

import pytest

from compiler_gym.errors import PolicyLoadError, UnknownNameError
from compiler_gym.search import SearchProgress
from compiler_gym.testing import FakeEnv
from compiler_gym.tools.learn.collection.recorded import Recorded, Tape
from compiler_gym.tools.learn.leaderboard import Limit, Meter, evaluate, find_task
from compiler_gym.tools.learn.policies import (
    LevelPolicy,
    RecordedSearch,
    _UntilShortening,  # pyright: ignore[reportPrivateUsage]  # a race decides how far it lets a search go
    find_policy,
    random_actions,
)

from .collection.test_recorded import Kept
from .leaderboard.conftest import TASK


def test_levels_and_searches_are_policies() -> None:
    task = replace(TASK, limit=Limit(seconds=600, compilations=100))
    (level,) = evaluate(find_policy("level:-Oz"), task).outcomes
    assert level.found == level.baseline
    (found,) = evaluate(find_policy("search:random"), task).outcomes
    assert found.compilations > 10
    assert found.found < found.initial
    assert not found.is_late
    with pytest.raises(UnknownNameError, match="no action '-O9'"):
        LevelPolicy("-O9")(__import__("compiler_gym").make("llvm-v0"))


def test_a_search_that_begins_with_the_levels_is_never_worse_than_one() -> None:
    task = replace(TASK, limit=Limit(seconds=600, compilations=12))
    (found,) = evaluate(find_policy("search:portfolio+levels"), task).outcomes
    (level,) = evaluate(find_policy("level:-Oz"), task).outcomes
    assert found.found <= level.found
    assert found.state.action_space == "PassesAndPipelines"
    with pytest.raises(UnknownNameError, match="no starts 'luck' for a search"):
        find_policy("search:portfolio+luck")


def test_a_search_for_few_compilations_ends_before_it_shortens_its_result() -> None:
    watcher = _UntilShortening()
    searching = SearchProgress("crc32", 0.0, 0, 0, 0, 0, "searching")
    watcher.tick(0.0, [searching])
    with pytest.raises(KeyboardInterrupt):
        watcher.tick(0.1, [replace(searching, phase="minimising")])


@pytest.mark.parametrize(("count", "used"), [(1, 0), (3, 3)])
def test_q_learning_keeps_a_compilation_for_its_best_episode(count: int, used: int) -> None:
    task = replace(TASK, limit=Limit(compilations=count, per_sequence=True))
    (outcome,) = evaluate(find_policy("agents/tabular_q.py"), task).outcomes
    assert outcome.compilations == used


def test_policies_come_from_files(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        "def policy(env):\n    env.step(env.action_space['sroa'])\n"
        "class Other:\n    def __call__(self, env):\n        pass\n"
    )
    assert evaluate(find_policy(str(path)), TASK).outcomes[0].compilations == 1
    assert evaluate(find_policy(f"{path}:Other"), TASK).outcomes[0].compilations == 0
    for name, words in (
        (f"{path}:none", "does not define none"),
        ("nowhere.py", "no file"),
        ("x", "no policy"),
    ):
        with pytest.raises(UnknownNameError, match=words):
            find_policy(name)
    with pytest.raises(UnknownNameError, match="no algorithm 'x'"):
        find_policy("search:x")
    with pytest.raises(UnknownNameError, match="no task 'x'; choose from llvm-ic-1s"):
        find_task("x")
    assert find_policy("random") is random_actions
    path.write_text("import no_such_module")
    with pytest.raises(PolicyLoadError, match=r"load the policy .*mine.py: ModuleNotFoundError"):
        find_policy(str(path))


@pytest.mark.parametrize("algorithm", ["random", "greedy"])
def test_a_search_is_repeated_by_its_seed_and_kept_within_its_limit(algorithm: str) -> None:
    def played() -> list[list[int]]:
        kept = Kept()
        with FakeEnv(action_space="Safe", reward_space="number") as below:
            env = Recorded(below, ["number"], Tape(kept), Meter(Limit(compilations=40)))
            random.seed(4)
            env.reset(benchmark="fake-v0/7")
            find_policy(f"search:{algorithm}", RecordedSearch)(env, env.meter)
            env.episode_ended()
            assert 10 < env.meter.compilations <= 40
        return [[s.actions[0] for s in episode.steps] for _, episode in kept.episodes]

    first = played()
    assert len(first) > 2
    assert first == played()
