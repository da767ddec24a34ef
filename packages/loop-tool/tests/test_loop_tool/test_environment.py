# SPDX-License-Identifier: MIT
"""The environment as users hold it: timed, forked, replayed, drawn, and wrong in every way."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import compiler_gym
from compiler_gym.errors import (
    BenchmarkInitError,
    ObservationError,
    UnknownNameError,
    WorkerTimeoutError,
)
from compiler_gym.wrappers import TimeLimit
from compiler_gym_loop_tool import LoopToolEnv

MATMUL = "loop_tool://matmul/m=64,n=64,k=64"
FAST = (
    "split_4 down swap_down swap_down unroll up up split_32 down swap_down swap_down vectorise"
).split()


def make(**arguments: Any) -> LoopToolEnv:
    env = compiler_gym.make("loop_tool-v0", **arguments)
    assert isinstance(env, LoopToolEnv)
    return env


def play(env: LoopToolEnv, words: Sequence[str]) -> Any:
    return env.multistep([env.action_space[word] for word in words])


def test_an_old_agent_runs() -> None:
    with make() as env:
        observation, _ = env.reset(benchmark="benchmark://loop_tool-cpu-v0/1024")
        assert observation.tolist() == [0, 1024, 0]
        assert env.reward_space == "flops"
        names = env.action_space.names
        assert names == ["toggle_mode", "up", "down", "toggle_thread"]
        for name in ("toggle_thread", "toggle_mode", "up", "toggle_mode", "up", "up"):
            observation, reward, terminated, truncated, info = env.step(names.index(name))
            assert (terminated, truncated) == (False, False)
        assert observation.tolist() == [1, 3, 0]
        assert env.observation["loop_tree"].splitlines()[0] == "for a in 341 r 1 : L0"
        assert isinstance(reward, float)
        assert info["timing"]["gflops"] > 0


def test_a_schedule_makes_a_matmul_many_times_as_fast() -> None:
    with make(action_space="loops", reward_space="flops_gain") as env:
        env.reset(benchmark=MATMUL)
        before = env.observation["flops"]
        _, gain, _, truncated, info = play(env, FAST)
        assert not truncated
        assert env.observation["flops"] > 5 * before
        assert gain > 3 * before
        assert info["timing"]["runs"] > 1


def test_forks_and_states_go_on_from_the_same_tree(tmp_path: Path) -> None:
    with make(action_space="loops", reward_space="flops_deterministic") as env:
        env.reset(benchmark=MATMUL)
        play(env, FAST[:6])
        with env.fork() as fork:
            play(fork, FAST[6:])
            play(env, FAST[6:])
            assert fork.observation["tree_hash"] == env.observation["tree_hash"]
            assert fork.observation["flops"] > 0
        with make() as other:
            other.apply(env.state)
            assert other.observation["loop_tree"] == env.observation["loop_tree"]
        play(env, ["undo"])


def test_numpy_is_the_judge() -> None:
    with make(action_space="loops") as env:
        env.reset(benchmark="loop_tool://softmax/m=9,n=33")
        play(env, ["fuse", "split_4", "down", "vectorise"])
        result = env.validate()
        assert result.okay(), result.error_details
        assert [rung.name for rung in result.rungs][:3] == ["replay", "numpy", "interpreter"]


def test_a_time_that_cannot_be_had_ends_the_episode_and_no_other() -> None:
    with make() as env:
        env.reset(benchmark=MATMUL)
        env.reset(benchmark="loop_tool-cuda-v0/64", reward_space=None)
        *_, truncated, info = env.step(0, observation_spaces="flops")
        assert truncated
        assert isinstance(info["error"], ObservationError)
        env.reset(benchmark=MATMUL)
        assert env.observation["flops"] > 0


@pytest.mark.parametrize(
    "uri",
    [
        *("loop_tool-cpu-v0/0", "loop_tool://matmul/m=0", "loop_tool://matmul/q=4"),
        *("loop_tool://matmul/m=99999999,n=99999999", "loop_tool://nothing/m=4"),
        "loop_tool://einsum/mk,kn->mn/m=4,k=4",
    ],
)
def test_bad_programs_are_refused_and_the_next_reset_works(uri: str) -> None:
    with make(reward_space=None) as env:
        with pytest.raises((BenchmarkInitError, UnknownNameError), match=r"\w"):
            env.reset(benchmark=uri)
        env.reset(benchmark=MATMUL)
        assert env.in_episode


def test_a_nest_that_outlasts_its_deadline_ends_the_episode_and_no_other() -> None:
    with make(action_space="loops", reward_space=None) as env:
        env.reset(benchmark="loop_tool://matmul/m=768,n=768,k=768")
        *_, truncated, info = env.step(0, observation_spaces="flops", timeout=0.03)
        assert truncated
        assert isinstance(info["error"], WorkerTimeoutError)
        env.reset(benchmark=MATMUL)
        assert env.observation["flops"] > 0


def test_einsum_strings_and_own_programs() -> None:
    with make(reward_space=None) as env:
        env.reset(benchmark="loop_tool://einsum/bij,bjk->bik/b=2,i=3,j=4,k=5")
        assert "Y[b, i, k] += (A[b, i, j] * B[b, j, k])" in env.observation["loop_tree"]
        env.reset(benchmark=env.make_benchmark("sum/m=4,k=5"))
        assert env.observation["flops"] > 0


def test_pictures() -> None:
    with make(action_space="loops", render_mode="ansi") as env:
        env.reset(benchmark=MATMUL)
        assert "┌ m: 64  ◀" in str(env.render())
        for svg in (env.tree_svg(), env.roofline_svg()):
            assert ElementTree.fromstring(svg).tag.endswith("svg")
        assert "GFLOPS" in env.roofline_text()


def test_vectors_and_wrappers() -> None:
    arguments: dict[str, Any] = {
        "observation_space": "loop_vectors",
        "reward_space": "flops_deterministic",
    }
    with compiler_gym.make_vec("loop_tool-v0", 2, **arguments) as vector:
        vector.reset()
        observations, rewards, *_ = vector.step([0, 0])
        assert observations[0].tolist() == observations[1].tolist()
        assert rewards.tolist() == [0, 0]
    with TimeLimit(make(**arguments), max_episode_steps=2) as env:
        env.reset()
        env.step(0)
        assert env.step(0)[3]


def test_the_time_of_a_timing_is_chosen() -> None:
    with make() as env:
        env.reset(benchmark=MATMUL)
        env.timing_seconds = 0.001
        assert env.timing_seconds == 0.001
        with pytest.raises(ValueError, match="must be above 0"):
            env.timing_seconds = -1


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["describe", "loop_tool-v0", "--actions"], "toggle_thread"),
        (
            ["run", "--env=loop_tool-v0", MATMUL, "--reward=flops_deterministic", "toggle_mode"],
            "flops_deterministic",
        ),
        (
            [
                *("search", "--env=loop_tool-loops-v0", MATMUL, "--steps=60", "--jobs=1"),
                *("--reward=flops_deterministic", "--algorithm=greedy"),
            ],
            "flops_deterministic",
        ),
    ],
    ids=lambda words: words[0],
)
def test_the_command_line_knows_it(words: list[str], shown: str) -> None:
    command = (sys.executable, "-m", "compiler_gym.cli", *words)
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert shown in done.stdout
