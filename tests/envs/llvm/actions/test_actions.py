# SPDX-License-Identifier: MIT
"""The action spaces: what they hold, and that their text means what it says."""

import copy
import pickle
import random
import shlex
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from compiler_gym.envs.llvm import LlvmEnv
from compiler_gym.errors import InvalidActionError
from compiler_gym.wrappers import ConstrainedCommandline

MakeEnv = Callable[..., LlvmEnv]
OPT_SPACES = ("Passes", "PassesAll", "Pipelines", "PassesAndPipelines", "CompilerGymV0")
"""Those whose command line is one of opt."""
SPACES = (*OPT_SPACES, "Parameters", "Marks")
CODEGEN = ("Codegen", "CodegenOptions", "PassesAndCodegen", "PipelinesAndCodegen")
"""Those that `opt` alone does not say; see test_codegen.py."""


def test_the_action_spaces_are_those_documented(env: LlvmEnv) -> None:
    names = tuple(space.name for space in env.action_spaces)
    assert names == (*SPACES, *CODEGEN, "MarksAndCodegen")
    assert env.action_space.name == "Passes"
    sizes = {space.name: space.n for space in env.action_spaces if hasattr(space, "n")}
    assert 100 <= sizes["Passes"] <= 125
    assert sizes["PassesAll"] > sizes["Passes"]
    assert sizes["Pipelines"] == 6
    assert sizes["CompilerGymV0"] == 124


def test_the_old_actions_keep_their_names_and_order(env: LlvmEnv) -> None:
    old = env.action_spaces[SPACES.index("CompilerGymV0")]
    assert old.names[:4] == [
        "-add-discriminators",
        "-adce",
        "-aggressive-instcombine",
        "-alignment-from-assumptions",
    ]
    assert old["-mem2reg"] == 103
    assert old.names[-1] == "-mergereturn"
    assert len(set(old.names)) == 124


def test_the_old_actions_have_their_flags_and_todays_pipelines(make_env: MakeEnv) -> None:
    env = make_env(action_space="CompilerGymV0")
    space = env.action_space
    assert space.flags == space.names
    assert [space.flags.index(flag) for flag in ("-mem2reg", "-adce")] == [103, 1]
    assert "-mem2reg" in space.flags
    assert space.pipelines[103] == "function(mem2reg)"
    env.reset()
    env.multistep([103, 111])
    text = env.commandline()
    assert "function(mem2reg)" in text
    assert space.to_string(env.commandline_to_actions(text)) == text
    old = env.commandline_to_actions("opt -mem2reg -sroa input.bc -o output.bc")
    assert old == [103, 111]
    narrowed = ConstrainedCommandline(env, flags=["-sroa", "-mem2reg"])
    assert narrowed.action_space.flags == ["-sroa", "-mem2reg"]
    assert "function(sroa)" in narrowed.action_space.to_string([0])
    copied = pickle.loads(pickle.dumps(copy.deepcopy(space)))
    assert copied == space
    assert copied.flags.index("-mem2reg") == 103


OLD_LINES: dict[str, Callable[[LlvmEnv], object]] = {
    "index": lambda env: env.action_space.flags.index("-mem2reg"),
    "item": lambda env: env.action_space["-mem2reg"],
    "command line": lambda env: env.commandline_to_actions("opt -mem2reg input.bc -o output.bc"),
    "wrapper": lambda env: ConstrainedCommandline(env, flags=["-mem2reg"]),
}


@pytest.mark.parametrize("line", OLD_LINES)
def test_an_old_flag_on_another_space_says_where_it_is(env: LlvmEnv, line: str) -> None:
    with pytest.raises((ValueError, LookupError), match='use action_space="CompilerGymV0"'):
        OLD_LINES[line](env)


def test_a_flag_that_never_was_is_not_said_to_be_old(env: LlvmEnv) -> None:
    for ask in (env.action_space.flags.index, env.action_space.__getitem__):
        with pytest.raises((ValueError, LookupError)) as failure:
            ask("-frobnicate")
        assert "CompilerGymV0" not in str(failure.value)


def test_old_sequences_replay(make_env: MakeEnv) -> None:
    env = make_env(action_space="CompilerGymV0", reward_space="IrInstructionCountO3")
    env.reset()
    _, reward, _, truncated, _ = env.multistep(
        [env.action_space[name] for name in ("-mem2reg", "-reg2mem", "-mem2reg", "-instcombine")]
    )
    assert not truncated
    assert reward > 0


@pytest.mark.parametrize("name", [*OPT_SPACES, "Marks", "MarksAndCodegen"])
def test_text_becomes_the_actions_it_came_from(make_env: MakeEnv, name: str) -> None:
    env = make_env(action_space=name)
    generator = random.Random(name)
    actions = [generator.randrange(env.action_space.n) for _ in range(30)]
    text = env.action_space.to_string(actions)
    again = env.action_space.from_string(text)
    assert env.action_space.to_string(again) == text
    if name != "CompilerGymV0":  # there several old names stand for one pipeline
        assert again == actions


@pytest.mark.parametrize("name", OPT_SPACES)
@pytest.mark.parametrize("seed", range(3))
def test_the_command_gives_the_same_bytes(
    make_env: MakeEnv, tool: Callable[..., bytes], tmp_path: Path, name: str, seed: int
) -> None:
    if name == "PassesAll":
        pytest.skip("holds passes that are known to crash, hang or differ between runs")
    env = make_env(action_space=name, benchmark="cbench-v1/sha")
    env.reset()
    env.write_bitcode(tmp_path / "input.bc")
    generator = random.Random(seed)
    env.multistep([generator.randrange(env.action_space.n) for _ in range(12)])
    words = shlex.split(env.commandline())
    assert words[0] == "opt"
    words = [str(tmp_path / word) if word.endswith(".bc") else word for word in words[1:]]
    tool("opt-22", *words)
    assert (tmp_path / "output.bc").read_bytes() == env.observation["Bitcode"].tobytes()


@pytest.mark.parametrize(
    "action", [-1, 10_000, 1.0, "sroa", None, True, [1], np.float32(1), np.array([1, 2])]
)
def test_an_action_outside_the_space_is_refused_and_nothing_is_lost(
    env: LlvmEnv, action: object
) -> None:
    env.reset()
    env.step(env.action_space["sroa"])
    before = env.ir_sha1
    with pytest.raises(InvalidActionError, match="is not an action of"):
        env.step(action)
    assert env.in_episode
    assert env.ir_sha1 == before
    assert len(env.actions) == 1


def test_numpy_integers_are_actions(env: LlvmEnv) -> None:
    env.reset()
    env.step(np.int64(3))
    env.step(np.uint8(4))
    assert env.actions == [3, 4]


def test_text_that_is_not_an_action_is_named(env: LlvmEnv) -> None:
    with pytest.raises(InvalidActionError, match=r"'function\(nope\)' is not an action of Passes"):
        env.action_space.from_string("opt -passes='function(sroa),function(nope)' in.bc")
