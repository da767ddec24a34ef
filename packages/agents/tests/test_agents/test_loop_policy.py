# SPDX-License-Identifier: MIT
"""The agent learns within seconds, searches keep to their time, and a run is gone on with."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import compiler_gym
from tests.stand_ins import stand_in

from .conftest import load_agent

PROGRAM = "benchmark://looptune-matmul-v0/64x64x64"
WORDS = ["--train_seconds=0.1", "--seconds=0.02,0.04", "--programs=1", "--population=10"]


@pytest.fixture(scope="module")
def agent() -> Any:
    return load_agent("loop_policy")


def trial(agent: Any, env: Any, seconds: float, length: int = 4) -> Any:
    policy = agent.LoopPolicy(agent.parse([f"--length={length}"]), env.action_space.names)
    return agent.Trial(env, PROGRAM, policy, seconds)


@pytest.fixture
def env() -> Any:
    with compiler_gym.make(
        "loop_tool-v0", action_space="loops", reward_space=None, isolation="in-process"
    ) as made:
        yield made


def test_it_learns_compares_and_prints(agent: Any, capsys: pytest.CaptureFixture[str]) -> None:
    results = agent.main(WORDS)
    ((program, by),) = results["speedups"].items()
    assert program.startswith(agent.TEST)
    assert set(by) == set(agent.METHODS)
    assert all(found.keys() == {"0.02", "0.04"} for found in by.values())
    assert all(x >= 1 for found in by.values() for x in found.values())
    text = capsys.readouterr().out
    assert "learnt from" in text
    assert text.count(" s   1 x ") == 2 * len(by)


def test_a_run_that_was_stopped_is_gone_on_with(agent: Any, tmp_path: Path) -> None:
    path = tmp_path / "found.json"
    words = [*WORDS, f"--results={path}", "--seconds=0.02"]
    agent.main([*words, "--minutes=0"])
    first = json.loads(path.read_text())
    assert not any(by for found in first["speedups"].values() for by in found.values())
    agent.main(words)
    second = json.loads(path.read_text())
    assert second["policy"] == first["policy"], "nothing is learnt anew"
    assert len(next(iter(second["speedups"].values()))) == len(agent.METHODS)
    agent.main([*words, "--long_programs=1", "--long_seconds=0.03"])
    third = json.loads(path.read_text())
    for name, found in next(iter(third["speedups"].values())).items():
        assert found.keys() == {"0.02", "0.03"}, name


def test_the_table_is_moved_towards_what_earns_most(
    agent: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = agent.LoopPolicy(agent.parse(["--length=5"]), [f"a{at}" for at in range(9)])
    monkeypatch.setattr(
        agent, "modelled", stand_in(lambda env, program, taken: 1.0 + taken.count(3))
    )
    tried = policy.train(None, ["one", "two"], 60.0, rounds=25)
    assert tried == 25 * 2 * 160
    assert policy.likeliest() == [3] * 5
    assert np.allclose(policy.table.sum(axis=1), 1)
    assert (policy.table > 0).all()


def test_every_change_is_tried_at_every_loop(agent: Any, env: Any) -> None:
    search = trial(agent, env, 60.0)
    first = search.look(())
    assert (first.loops, first.cursor) == (3, 0)
    trees = {nest.tree for nest in search.after([first])}
    words = "down swap_down".split(), "down down split_16".split(), "down down unroll".split()
    for way in words:
        nest = search.look(tuple(env.action_space[word] for word in way))
        assert nest.tree in trees, way
        assert nest.tree != first.tree
    assert len(trees) > 20


@pytest.mark.parametrize("name", ["greedy", "beam of 4", "beam on the model"])
def test_a_search_finds_what_no_single_action_from_the_top_does(
    agent: Any, env: Any, name: str
) -> None:
    seconds = 0.3 if name == "beam on the model" else 2.0  # the others end before
    search = trial(agent, env, seconds, length=2)
    with suppress(agent.TimeUp):
        agent.METHODS[name](search)
    times = [at for at, _, _ in search.found]
    assert times == sorted(times)
    assert times[-1] <= seconds
    assert search.best(2.0) == search.found[-1][2]
    assert search.best(0.0) == ()
    assert agent.confirmed(env, PROGRAM, search.best(2.0)) > 3


def test_no_action_is_not_a_speed_up(agent: Any, env: Any) -> None:
    assert agent.confirmed(env, PROGRAM, ()) == 1.0
