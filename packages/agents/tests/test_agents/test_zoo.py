# SPDX-License-Identifier: MIT
"""Agents of the zoo start after ``clang -Oz``, and no episode is worse than that."""

from functools import partial
from typing import Any

import pytest

import compiler_gym
from tests.stand_ins import always

from .conftest import load_agent

PROGRAM = "cbench-v1/crc32"


@pytest.fixture
def zoo(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the agent's file as a module that trains and scores on one program."""
    pytest.importorskip("sb3_contrib", reason="sb3-contrib is missing")
    module = load_agent("zoo")
    monkeypatch.setattr(module, "TRAIN", [PROGRAM])
    monkeypatch.setattr(module, "TEST", [PROGRAM])
    return module


def test_a_program_starts_as_clang_leaves_it(zoo: Any) -> None:
    with compiler_gym.make("llvm-v0", benchmark=PROGRAM) as env:
        env.reset()
        expected = env.observation["IrInstructionCountOz"]
        env.reset(benchmark=zoo.compile_with_oz(PROGRAM))
        assert env.observation["IrInstructionCount"] == expected


def test_an_episode_is_worth_its_best_prefix(zoo: Any) -> None:
    (best,) = zoo.find_fixed_list(steps=1)
    with compiler_gym.make("llvm-v0", benchmark=zoo.compile_with_oz(PROGRAM)) as env:
        env.reset()
        worse = env.action_space["reg2mem"]
        name = env.action_space.names[best]

    def choose(_seen: Any, _mask: Any, number: int) -> int:
        return worse if number else best

    saved, passes = zoo.play(choose, PROGRAM)
    assert passes == [name]
    assert 0 < saved < 5
    assert zoo.play(always(worse), PROGRAM) == (0.0, [])


def test_a_training_is_scored_on_unseen_programs(zoo: Any) -> None:
    curve, model = zoo.fit("ppo", *zoo.LEARNERS["ppo"], 0, zoo.Options(128, rows=1, points=1))
    assert (curve.agent, curve.steps) == ("ppo", [128])
    saved, _ = zoo.play(partial(zoo.choose_with, model), PROGRAM)
    assert min(saved, *curve.scores) >= 0
