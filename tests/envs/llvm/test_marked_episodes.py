# SPDX-License-Identifier: MIT
"""Marks go through vectors, wrappers, pickles and the command line."""

import dataclasses
import json
import pickle
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import compiler_gym
from compiler_gym.envs.llvm import LlvmEnv
from compiler_gym.errors import InvalidActionError
from compiler_gym.vector import CompilerVectorEnv
from compiler_gym.wrappers import TimeLimit

MakeEnv = Callable[..., LlvmEnv]


def make_one() -> Any:
    return compiler_gym.make(
        "llvm-v0",
        action_space="Marks",
        benchmark="cbench-v1/crc32",
        observation_space="Autophase",
        reward_space="IrInstructionCount",
    )


def test_rows_of_a_vector_take_marks() -> None:
    vector = CompilerVectorEnv([make_one, make_one])
    try:
        vector.reset()
        space = vector.envs[0].action_space
        level = space["-Oz"]
        _, rewards, *_ = vector.step(np.array([space["call:0=never"], level]))
        assert rewards[0] == 0
        _, more, *_ = vector.step(np.array([level, level]))
        assert more[0] > 0
    finally:
        vector.close()


def test_wrapped_and_pickled_episodes_go_on() -> None:
    with TimeLimit(make_one(), max_episode_steps=9) as env:
        env.reset()
        env.step(env.action_space["call:0=never"])
        env.step(env.action_space["sroa"])
        again = pickle.loads(pickle.dumps(env))
        with again:
            assert again.observation["IrHash"] == env.observation["IrHash"]
            assert repr(again.action_space) == repr(env.action_space)


@pytest.mark.parametrize("action", ["dce", "call:0=never", "-Oz"])
def test_a_pickle_lists_what_there_is_whether_or_not_a_step_changed_it(action: str) -> None:
    with make_one() as env:
        env.reset()
        env.step(env.action_space[action])
        with pickle.loads(pickle.dumps(env)) as again:
            assert again.action_space == env.action_space
            assert again.action_space.points


def test_the_command_line_marks_and_writes(tmp_path: Path, make_env: MakeEnv) -> None:
    made, marked = tmp_path / "made.bc", tmp_path / "marked.bc"
    words = ["call:0=never", "-Oz"]
    arguments = [
        sys.executable, "-m", "compiler_gym.cli", "run",
        "--action-space", "Marks", "--json", "--reward", "IrInstructionCountOz",
        "--write-bitcode", str(made), "--write-marked", str(marked), "--", "cbench-v1/crc32",
        *words,
    ]  # fmt: skip
    printed = subprocess.run(arguments, check=True, stdout=subprocess.PIPE).stdout
    document = json.loads(printed)
    assert document["action_names"] == words
    assert "default<Oz>" in document["marked_commandline"]
    env = make_env(action_space="Marks", benchmark="cbench-v1/crc32")
    env.reset()
    env.multistep([env.action_space[word] for word in words])
    assert env.observation["Bitcode"].tobytes() == made.read_bytes()


def test_marks_go_with_options_of_the_code_generator(
    make_env: MakeEnv, tool: Callable[..., bytes], tmp_path: Path
) -> None:
    env = make_env(action_space="MarksAndCodegen", benchmark="cbench-v1/crc32")
    env.reset()
    words = ["enable-ipra=true", "call:0=never", "sroa", "regalloc=basic", "-Oz"]
    env.multistep([env.action_space[word] for word in words])
    assert env.codegen == {"enable-ipra": "true", "regalloc": "basic"}
    made = env.observation["Bitcode"].tobytes()
    command = shlex.split(env.write_marked(tmp_path / "marked.bc"))
    assert [word for word in command if "default<Oz>" in word or "sroa" in word] == [
        "-passes=default<Oz>"
    ]
    command[command.index("output.bc")] = str(tmp_path / "output.bc")
    tool("opt-22", *command[1:])
    assert (tmp_path / "output.bc").read_bytes() == made
    again = make_env(action_space="Marks")
    again.apply(env.state)  # the state names its action space
    assert again.action_space.name == "MarksAndCodegen"
    assert again.observation["Bitcode"].tobytes() == made
    assert again.commandline_to_actions(env.commandline()) == env.actions
    assert "--action-space MarksAndCodegen" in env.commandline()
    again.codegen = {"regalloc": "basic"}
    assert again.codegen == {"regalloc": "basic"}


def test_a_state_that_is_moved_to_another_program_is_refused(make_env: MakeEnv) -> None:
    env = make_env(action_space="Marks", benchmark="cbench-v1/crc32")
    env.reset()
    env.multistep([env.action_space[word] for word in ("call:0=never", "function:1=cold", "-Oz")])
    state = env.state
    moved = dataclasses.replace(state, benchmark="cbench-v1/qsort")
    with pytest.raises(InvalidActionError, match="not recorded on benchmark://cbench-v1/qsort"):
        env.apply(moved)
    assert env.actions == []
    assert not env.validate(moved).okay()
    env.apply(state)
    assert env.state.state_hash == state.state_hash
    env.apply(dataclasses.replace(moved, version="0.1"))  # where hashes may be others
    assert env.actions
    plain = make_env(action_space="PassesAndPipelines", benchmark="cbench-v1/crc32")
    plain.reset()
    plain.step(plain.action_space["-Oz"])
    plain.apply(dataclasses.replace(plain.state, benchmark="cbench-v1/qsort"))  # passes mean it
