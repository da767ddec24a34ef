# SPDX-License-Identifier: MIT
"""Actions are restricted, combined, masked and ended by name."""

import pickle
from typing import Any

import numpy as np
import pytest

import compiler_gym
from compiler_gym.errors import InvalidActionError, InvalidParameterError, UnknownNameError
from compiler_gym.spaces import CommandlineFlag
from compiler_gym.testing import FakeEnv
from compiler_gym.wrappers import (
    ActionMasks,
    CommandlineWithTerminalAction,
    ConstrainedCommandline,
    ForkOnStep,
    MacroActions,
    TimeLimit,
)
from tests.stand_ins import stand_in

ADD, DOUBLE, NEGATE, NOTHING, CHILD = range(5)


def test_only_the_flags_given_are_offered_in_their_order(env: FakeEnv) -> None:
    wrapped = ConstrainedCommandline(env, ["negate", "add"], name="few")
    assert wrapped.action_space.names == ["negate", "add"]
    assert wrapped.action_space.name == "few"
    wrapped.reset()
    wrapped.multistep([1, 0, 1])
    assert env.actions == [ADD, NEGATE, ADD]
    assert wrapped.actions == [1, 0, 1]
    assert wrapped.commandline() == "add negate add"
    with pytest.raises(InvalidActionError, match="2"):
        wrapped.step(2)
    with pytest.raises(InvalidActionError, match="double is not among"):
        wrapped.commandline_to_actions("double")


def test_flags_that_do_not_exist_are_refused(env: FakeEnv) -> None:
    with pytest.raises(UnknownNameError, match="no action 'multiply'"):
        ConstrainedCommandline(env, ["multiply"])
    with pytest.raises(InvalidParameterError, match="pass at least one"):
        ConstrainedCommandline(env, [])


def test_actions_without_names_are_refused(make_env: Any) -> None:
    for wrap in (
        CommandlineWithTerminalAction,
        stand_in(lambda env: ConstrainedCommandline(env, ["add"])),
        stand_in(lambda env: MacroActions(env, {"twice": ["add", "add"]})),
    ):
        with pytest.raises(InvalidParameterError, match="needs named actions"):
            wrap(make_env(action_space="Menu"))


def test_the_constraint_follows_another_action_space(env: FakeEnv) -> None:
    wrapped = ConstrainedCommandline(env, ["nothing", "double"])
    wrapped.reset(action_space="Behaviours")
    assert wrapped.action_space.names == ["nothing", "double"]
    wrapped.step(1)
    assert env.actions == [DOUBLE]
    wrapped.action_space = "Safe"
    wrapped.reset()
    assert wrapped.action_space.names == ["nothing", "double"]  # type: ignore[attr-defined]  # no text


def test_the_terminal_action_ends_the_episode_and_hides_what_follows(env: FakeEnv) -> None:
    wrapped = CommandlineWithTerminalAction(env)
    end = wrapped.action_space["end-of-episode"]
    assert end == CHILD + 1
    wrapped.reset(benchmark="fake-v0/7")
    *_, terminated, _, info = wrapped.step(ADD)
    assert terminated is False
    assert "terminal_action" not in info
    observation, reward, terminated, truncated, info = wrapped.multistep([ADD, end, ADD])
    assert info["terminal_action"] is True
    assert (terminated, truncated) == (True, False)
    assert (observation[0], reward) == (9, -1)
    assert wrapped.actions == [ADD, ADD]
    wrapped.reset()
    observation, reward, terminated, *_ = wrapped.step(end)
    assert (observation[0], reward, terminated) == (7, 0, True)


def test_a_failure_before_the_terminal_action_is_a_truncation(make_env: Any) -> None:
    wrapped = CommandlineWithTerminalAction(
        make_env(action_space="Behaviours"), CommandlineFlag("stop", "stop", "")
    )
    wrapped.reset()
    space = wrapped.action_space
    *_, terminated, truncated, _ = wrapped.multistep([space["abort"], space["stop"]])
    assert (terminated, truncated) == (False, True)


def test_macros_are_several_actions_under_one_name(env: FakeEnv) -> None:
    wrapped = MacroActions(env, {"thrice": ["add"] * 3, "mixed": [NEGATE, "double"]})
    assert wrapped.action_space.names[-2:] == ["thrice", "mixed"]
    wrapped.reset(benchmark="fake-v0/7")
    assert wrapped.step(wrapped.action_space["thrice"])[1] == -3
    wrapped.multistep([ADD, wrapped.action_space["mixed"]])
    assert env.actions == wrapped.actions == [ADD, ADD, ADD, ADD, NEGATE, DOUBLE]


def test_macros_of_nothing_or_of_unknown_actions_are_refused(env: FakeEnv) -> None:
    with pytest.raises(InvalidParameterError, match="at least one action"):
        MacroActions(env, {"empty": []})
    with pytest.raises(UnknownNameError, match="no action 'multiply'"):
        MacroActions(env, {"wrong": ["multiply"]})
    with pytest.raises(InvalidActionError, match="99 is not an action"):
        MacroActions(env, {"wrong": [99]})
    with pytest.raises(InvalidParameterError, match="add is already an action"):
        MacroActions(env, {"add": ["double"]})


def test_wrappers_of_actions_go_together(env: FakeEnv) -> None:
    macros = MacroActions(env, {"twice": ["add", "add"]})
    wrapped = CommandlineWithTerminalAction(ConstrainedCommandline(macros, ["twice", "negate"]))
    assert wrapped.action_space.names == ["twice", "negate", "end-of-episode"]
    wrapped.reset()
    assert wrapped.multistep([0, 1, 2])[2]
    assert env.actions == [ADD, ADD, NEGATE]
    with wrapped.fork() as fork, pickle.loads(pickle.dumps(wrapped)) as twin:
        for other in (fork, twin):
            assert other.action_space == wrapped.action_space
            other.step(0)
            assert other.unwrapped.actions == [ADD, ADD, NEGATE, ADD, ADD]


def test_a_fork_draws_the_same_actions_from_then_on(env: FakeEnv) -> None:
    wrapped = ConstrainedCommandline(env, ["negate", "add", "double"])
    wrapped.reset(seed=3)
    wrapped.action_space.sample()
    with wrapped.fork() as fork:
        draws = [[e.action_space.sample() for _ in range(20)] for e in (fork, wrapped)]
    assert draws[0] == draws[1]


def test_masks_pass_through_to_other_actions(env: FakeEnv) -> None:
    class Masked(ConstrainedCommandline):
        def action_masks(self) -> Any:
            return np.array([True, False, True, False])

    below = Masked(env, ["add", "double", "negate", "nothing"])
    assert ConstrainedCommandline(below, ["double", "negate"]).action_masks().tolist() == [
        False,
        True,
    ]
    assert CommandlineWithTerminalAction(below).action_masks().tolist()[-1] is True
    macros = MacroActions(below, {"no": ["double", "nothing"], "yes": ["double", "add"]})
    assert macros.action_masks().tolist() == [True, False, True, False, False, True]
    none_left = ConstrainedCommandline(below, ["double", "nothing"])
    assert none_left.action_masks().tolist() == [True, True]
    assert ConstrainedCommandline(env, ["add"]).action_masks().tolist() == [True]


def test_llvm_takes_names_and_pipelines_and_writes_one_command() -> None:
    macros = {"clean": ["sroa", "function(simplifycfg)"]}
    base = compiler_gym.make("llvm-v0", reward_space="IrInstructionCount")
    names = base.action_space.names
    flags = [base.action_space.flags[names.index("simplifycfg")], "sroa"]
    with ConstrainedCommandline(base, flags) as wrapped:
        assert wrapped.action_space.names == ["simplifycfg", "sroa"]
        wrapped.reset(benchmark="cbench-v1/crc32")
        assert wrapped.step(1)[1] > 0
        assert wrapped.commandline_to_actions(wrapped.commandline()) == [1]
    macros = {"clean": ["sroa", "simplifycfg"]}
    with MacroActions(compiler_gym.make("llvm-v0"), macros) as wrapped:
        wrapped.reset(benchmark="cbench-v1/crc32")
        wrapped.step(wrapped.action_space["clean"])
        assert wrapped.actions == [names.index("sroa"), names.index("simplifycfg")]
        assert wrapped.commandline() == wrapped.action_space.to_string(
            [wrapped.action_space["clean"]]
        )


def test_an_action_may_be_offered_twice_and_several_are_reported_at_once() -> None:
    with compiler_gym.make("llvm-v0") as below:
        for flags in (["sroa", "licm", "sroa"], ["sroa"] * 2):
            with ConstrainedCommandline(below, flags).fork() as env:
                assert env.action_space.names == flags
                assert env.action_space.n == len(flags)
                numbers = [below.action_space[flag] for flag in flags]
                assert env.action(list(range(len(flags)))) == numbers
                assert [env.action_space[flag] for flag in flags] == list(map(flags.index, flags))
                env.multistep(range(len(flags)))
                assert env.actions == list(map(flags.index, flags))


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
