# SPDX-License-Identifier: MIT
"""A state says how it was made, and is replayed wherever it can be."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import compiler_gym
from compiler_gym import CompilerEnvState
from compiler_gym.core import StateVersionWarning
from compiler_gym.envs.llvm import LlvmEnv
from compiler_gym.errors import InvalidActionError, UnknownNameError

MakeEnv = Callable[..., LlvmEnv]
CRC = "benchmark://cbench-v1/crc32"


def test_a_state_names_all_that_its_replay_needs(make_env: MakeEnv) -> None:
    env = make_env(reward_space="IrInstructionCountOz")
    env.reset(benchmark="cbench-v1/crc32?goal=speed")
    env.step(env.action_space["sroa"])
    state = env.state
    assert (state.goal, state.reward_space, state.action_space) == (
        "speed", "IrInstructionCountOz", "Passes",
    )  # fmt: skip
    assert state.compiler_version == env.compiler_version
    assert state.state_hash == env.observation["IrHash"]
    env.reset(benchmark=CRC)
    assert env.state.goal == "size"


def test_a_state_of_another_llvm_is_replayed_with_a_warning(make_env: MakeEnv) -> None:
    env = make_env()
    state = CompilerEnvState(CRC, "sroa", compiler_version="17.0.6")
    with pytest.warns(StateVersionWarning, match=r"recorded with version 17\.0\.6.*with 22\."):
        env.apply(state)
    assert len(env.actions) == 1


def test_a_command_line_of_0_2_5_is_replayed_in_its_action_space(make_env: MakeEnv) -> None:
    env = make_env()
    env.apply(CompilerEnvState(CRC, "opt -mem2reg -simplifycfg input.bc -o output.bc"))
    assert env.action_space.name == "CompilerGymV0"
    assert env.actions == [env.action_space["-mem2reg"], env.action_space["-simplifycfg"]]


def test_without_an_action_space_the_first_that_fits_is_taken(make_env: MakeEnv) -> None:
    env = make_env()
    env.apply(CompilerEnvState(CRC, "opt -passes='default<Oz>' input.bc -o output.bc"))
    assert env.action_space.name == "Pipelines"
    with pytest.raises(InvalidActionError, match="'nope' is not an action of Pipelines"):
        env.apply(CompilerEnvState(CRC, "nope"))
    assert env.action_space.name == "Pipelines"


@pytest.mark.parametrize(
    ("commandline", "message"),
    [
        ("opt -passes='function(sr", "is cut short"),
        ("opt -no-such-pass input.bc -o output.bc", "'-no-such-pass' is not an action"),
        ("opt -passes=function(sr input.bc", r"is not an action"),
    ],
)
def test_a_damaged_command_line_is_refused(
    make_env: MakeEnv, commandline: str, message: str
) -> None:
    with pytest.raises(InvalidActionError, match=message):
        make_env().apply(CompilerEnvState(CRC, commandline))


def test_an_unknown_program_or_action_space_is_named(make_env: MakeEnv) -> None:
    env = make_env()
    with pytest.raises(UnknownNameError, match="no program 'nope'"):
        env.apply(CompilerEnvState("cbench-v1/nope"))
    with pytest.raises(UnknownNameError, match="no action space 'Nope'"):
        env.apply(replace(CompilerEnvState(CRC), action_space="Nope"))


@pytest.mark.parametrize("command", ["opt -passes='function(sroa)'", "opt -mem2reg -simplifycfg"])
@pytest.mark.parametrize(
    "behind",
    [
        "; rm -rf x", ";rm -rf x", " && rm x", " || true", " | sh", " & rm x", " > /etc/passwd",
        " >/etc/passwd", " 2>x", " < x", "\nrm -rf x", "\n", "\r\nid", " `id`", " $(id)", " # id",
        " other.bc", " -o again.bc", " 'a;b'", " -o", " ;", "\0",
        " -load=evil.so", " -load evil.so",
        " <(id)", " {id,}", " ~", " !id",
    ],
)  # fmt: skip
def test_nothing_follows_the_command(make_env: MakeEnv, command: str, behind: str) -> None:
    env = make_env()
    text = f"{command} input.bc -o output.bc"
    env.apply(CompilerEnvState(CRC, text))
    with pytest.raises(InvalidActionError):
        env.apply(CompilerEnvState(CRC, text + behind))


@pytest.mark.parametrize(
    "text",
    [
        "rm -rf x; opt -mem2reg input.bc -o output.bc", "opt;id -mem2reg", "opt-22;id -mem2reg",
        "sudo opt -mem2reg", "opt -mem2reg $(id) -o output.bc", "opt -mem2reg input.bc -o `id`",
        "opt -passes=`id` input.bc", "opt -passes='function(sroa)';id input.bc", "sroa;id",
        "sroa,simplifycfg\nid",
    ],
)  # fmt: skip
def test_nothing_stands_before_or_within_the_command(make_env: MakeEnv, text: str) -> None:
    with pytest.raises(InvalidActionError):
        make_env().apply(CompilerEnvState(CRC, text))


@pytest.fixture(scope="module")
def shared_env() -> Iterator[LlvmEnv]:
    """Return one environment for many examples."""
    with compiler_gym.make("llvm-v0") as env:
        assert isinstance(env, LlvmEnv)
        yield env


@given(st.text() | st.sampled_from(sorted(";&|<>`$\n#-,('")), st.integers(0, 70), st.booleans())
def test_a_command_line_with_anything_in_it_is_read_or_refused(
    shared_env: LlvmEnv, junk: str, at: int, is_old: bool
) -> None:
    name = "CompilerGymV0" if is_old else "Passes"
    space = next(space for space in shared_env.action_spaces if space.name == name)
    passes = "-mem2reg -simplifycfg" if is_old else "-passes='function(dce),globaldce'"
    whole = f"opt {passes} input.bc -o output.bc"
    text = whole[:at] + junk + whole[at:]
    try:
        actions = space.from_string(text)
    except InvalidActionError:
        return
    again = space.to_string(actions)
    assert space.from_string(again) == actions
    assert not set(text) & set(";&|`$\n")  # no shell does anything else with it
