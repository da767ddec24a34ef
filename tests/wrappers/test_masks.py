# SPDX-License-Identifier: MIT
"""Actions known to do nothing are hidden, on that program only."""

from typing import Any

import pytest

import compiler_gym
from compiler_gym.errors import InvalidParameterError
from compiler_gym.testing import FakeEnv
from compiler_gym.wrappers import (
    ActionMasks,
    CommandlineWithTerminalAction,
    ForkOnStep,
    TimeLimit,
)

ADD, DOUBLE, NEGATE, NOTHING, CHILD = range(5)


def test_an_action_is_hidden_where_it_did_nothing(env: FakeEnv) -> None:
    masked = ActionMasks(env)
    masked.reset(benchmark="fake-v0/0")
    assert masked.action_masks().tolist() == [True] * 5
    masked.step(NOTHING)
    masked.step(DOUBLE)
    assert masked.action_masks().tolist() == [True, False, True, False, True]
    masked.step(ADD)
    assert masked.action_masks().all()
    masked.reset(benchmark="fake-v0/0")
    assert masked.action_masks().tolist() == [True, False, True, False, True]
    masked.multistep([ADD, NEGATE])
    masked.step(ADD)
    assert masked.action_masks().tolist() == [True, False, True, False, True]


def test_several_actions_that_did_nothing_are_all_hidden(env: FakeEnv) -> None:
    masked = ActionMasks(env)
    masked.reset(benchmark="fake-v0/0")
    masked.multistep([NOTHING, NEGATE])
    assert masked.action_masks().tolist() == [True, True, False, False, True]
    masked.multistep([])
    assert masked.action_masks().sum() == 3


def test_masks_learned_by_a_fork_are_shared(env: FakeEnv) -> None:
    masked = ActionMasks(TimeLimit(env, 9))
    masked.reset(benchmark="fake-v0/0")
    with masked.fork() as fork:
        fork.step(NOTHING)
    assert masked.action_masks().tolist() == [True, True, True, False, True]


def test_an_agent_always_has_something_to_do(make_env: Any) -> None:
    masked = ActionMasks(make_env(), capacity=1)
    masked.reset(benchmark="fake-v0/0")
    place = masked._position()  # pyright: ignore[reportPrivateUsage]  # no public name tells
    assert place is not None
    masked._ineffective[place] = set(range(5))  # pyright: ignore[reportPrivateUsage]  # no public name tells
    assert masked.action_masks().all()


def test_remembered_programs_are_bounded(env: FakeEnv) -> None:
    masked = ActionMasks(env, capacity=2)
    masked.reset(benchmark="fake-v0/0")
    for _ in range(4):
        masked.step(NOTHING)
        masked.step(ADD)
    assert len(masked._ineffective) == 2  # pyright: ignore[reportPrivateUsage]  # no public name tells


def test_it_needs_a_hash_and_numbered_actions(make_env: Any) -> None:
    with pytest.raises(InvalidParameterError, match="name one that hashes the program"):
        ActionMasks(make_env(), key="no such observation")
    masked = ActionMasks(make_env(action_space="Composite"))
    masked.reset()
    with pytest.raises(InvalidParameterError, match="numbered actions"):
        masked.action_masks()


def test_hidden_actions_of_llvm_really_do_nothing() -> None:
    with ActionMasks(compiler_gym.make("llvm-v0", benchmark="cbench-v1/crc32")) as masked:
        masked.reset(seed=2)
        for _ in range(30):
            masked.step(masked.action_space.sample())
        for action in (~masked.action_masks()).nonzero()[0]:
            with masked.fork() as fork:
                assert fork.step(int(action))[4]["action_had_no_effect"]


def test_an_undone_step_teaches_nothing_about_the_earlier_program(env: FakeEnv) -> None:
    masked = ActionMasks(ForkOnStep(env))
    masked.reset(benchmark="fake-v0/0")
    masked.step(0)
    masked.step(3)  # the mask of 1 is known now
    masked.undo()
    masked.undo()
    masked.step(1)  # twice 0 is 0
    masked.reset(benchmark="fake-v0/1")
    assert masked.action_masks()[1]


def test_to_end_the_episode_is_an_effect(env: FakeEnv) -> None:
    masked = ActionMasks(CommandlineWithTerminalAction(env))
    for _ in range(2):
        masked.reset(benchmark="fake-v0/7")
        assert masked.action_masks().all()
        *_, terminated, _, info = masked.step(5)
        assert terminated
        assert not info["action_had_no_effect"]
