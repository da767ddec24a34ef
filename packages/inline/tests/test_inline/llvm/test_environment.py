# SPDX-License-Identifier: MIT
"""The environment passes the public suite; episodes end, and are known by their answers."""

import os
import pickle
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ClassVar

import pytest

import compiler_gym
from compiler_gym.core import CompilerEnv
from compiler_gym.envs.llvm import make_benchmark
from compiler_gym.errors import InvalidActionError, MinimizationError, WorkerCrashedError
from compiler_gym.search import minimize_trajectory_iteratively
from compiler_gym.service import kept_programs
from compiler_gym.service.caching import TranspositionCache
from compiler_gym.service.supervisor import zygote_for
from compiler_gym.testing import EnvironmentConformance, worker_pid
from compiler_gym.wrappers import ForkOnStep
from compiler_gym_inline.llvm.actions import LETTERS
from compiler_gym_inline.llvm.environment import InlineCommandLine, LlvmInlineEnv

MIXED = "nidnniddninid"


class TestLlvmInline(EnvironmentConformance):
    env_id = "llvm-inline-v0"
    kwargs: ClassVar = {
        "benchmark": "benchmark://cbench-v1/bitcount",
        "observation_space": "InlineFeatures",
        "reward_space": "IrInstructionCountOz",
    }
    action_spaces = ("Inlining", "InliningAndRest")
    observations = ("IrHash", "InlineFeatures", "InlineDecisions", "IrInstructionCount")
    steps = 4


@pytest.fixture
def env() -> Iterator[LlvmInlineEnv]:
    with compiler_gym.make(
        "llvm-inline-v0", benchmark="cbench-v1/patricia", reward_space="IrInstructionCountOz"
    ) as env:
        assert isinstance(env, LlvmInlineEnv)
        yield env


def finish(env: LlvmInlineEnv, letters: str = MIXED) -> None:
    """Answer with `letters`, again and again, until the pipeline is over."""
    number = len(env.actions)
    while env.in_episode:
        env.step(LETTERS.index(letters[number % len(letters)]))
        number += 1


def test_an_episode_ends_with_the_pipeline_and_its_program_can_be_looked_at(
    env: LlvmInlineEnv,
) -> None:
    env.reset()
    finish(env)
    assert not env.in_episode
    assert env.observation["IrInstructionCount"] > 0
    assert env.state.commandline == env.commandline()
    assert env.ir.startswith("source_filename")
    with env.fork() as fork:
        assert fork.observation["IrHash"] == env.observation["IrHash"]
    with pickle.loads(pickle.dumps(env)) as twin:
        assert twin.state == env.state
        assert twin.observation["IrHash"] == env.observation["IrHash"]


def test_rewards_sum_to_what_the_pipeline_saves(env: LlvmInlineEnv) -> None:
    env.reset()
    finish(env, "d")
    assert env.episode_reward == pytest.approx(1.0)
    env.reset()
    finish(env)
    look = env.observation
    saved = look["IrInstructionCountInitial"] - look["IrInstructionCount"]
    best = look["IrInstructionCountInitial"] - look["IrInstructionCountOz"]
    assert env.episode_reward == pytest.approx(saved / best)


def test_a_reset_earns_nothing_and_the_first_answer_what_was_saved_before_it(
    env: LlvmInlineEnv,
) -> None:
    env.reset()
    for name in ("IrInstructionCount", "IrInstructionCountOz", "ObjectTextSizeOz"):
        assert env.reward[name] == env.reward[name] == 0
    assert env.multistep([])[1] == 0
    assert env.episode_reward == 0
    look = env.observation
    saved = look["IrInstructionCountInitial"] - look["IrInstructionCount"]
    assert saved > 0
    assert env.step(LETTERS.index("n"), reward_spaces="IrInstructionCount")[1] >= saved // 2


def test_an_episode_of_a_kept_program_is_that_of_one_that_was_read(
    env: LlvmInlineEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_programs, "_SHORT_SECONDS", 0.0)
    monkeypatch.setattr(kept_programs, "_PAYING_SHARE", 1e9)
    env.observation_space = "InlineFeatures"
    first, ends, workers = env.reset()[0].tolist(), set[tuple[str, str]](), set[int | None]()
    for _ in range(4):
        workers.add(worker_pid(env))
        finish(env)
        ends.add((env.observation["IrSha1"], env.observation["InlineStateHash"]))
        copies = zygote_for(LlvmInlineEnv.source).programs.workers
        assert all(worker.is_forked(10.0) for worker in copies)
        assert env.reset()[0].tolist() == first
    assert zygote_for(LlvmInlineEnv.source).programs.workers
    assert len(workers) > 1
    assert len(ends) == 1
    with ForkOnStep(env) as undoing:
        undoing.reset()
        for letter in "nid":
            undoing.step(LETTERS.index(letter))
        for _ in range(3):
            undoing.undo()
        again = undoing.unwrapped
        assert isinstance(again, LlvmInlineEnv)
        finish(again)
        assert (again.observation["IrSha1"], again.observation["InlineStateHash"]) in ends


def test_an_episode_whose_worker_is_killed_can_be_repeated(env: LlvmInlineEnv) -> None:
    env.reset()
    for letter in MIXED[:5]:
        env.step(LETTERS.index(letter))
    state, ir = env.state, env.observation["IrHash"]
    worker = worker_pid(env)
    assert worker is not None
    os.kill(worker, signal.SIGKILL)
    *_, truncated, info = env.step(LETTERS.index("d"))
    assert truncated
    assert isinstance(info["error"], WorkerCrashedError)
    assert info["reproducer"].startswith("python -m compiler_gym_inline.llvm -Oz ")
    env.apply(state)
    assert env.state == state
    assert env.observation["IrHash"] == ir
    finish(env)
    assert env.validate().okay()


def test_an_ended_episode_is_made_shorter(env: LlvmInlineEnv) -> None:
    env.reset()
    finish(env)
    goal = env.observation["IrInstructionCount"]

    def is_as_small(env: CompilerEnv) -> bool:
        assert isinstance(env, LlvmInlineEnv)
        finish(env, "d")
        return env.observation["IrInstructionCount"] <= goal

    before = len(env.actions)
    for _ in minimize_trajectory_iteratively(env, is_as_small):
        if len(env.actions) < before:
            break
    assert env.observation["IrInstructionCount"] <= goal


@pytest.mark.parametrize("steps", [3, 1000])
def test_a_state_is_replayed_and_validated(env: LlvmInlineEnv, steps: int) -> None:
    env.reset()
    for number in range(steps):
        if env.in_episode:
            env.step(LETTERS.index(MIXED[number % len(MIXED)]))
    result = env.validate()
    assert result.okay(), result
    with LlvmInlineEnv() as other:
        other.apply(env.state)
        assert other.observation["IrHash"] == env.observation["IrHash"]
        assert other.in_episode == env.in_episode


def test_its_command_line_repeats_it_on_a_file(env: LlvmInlineEnv, tmp_path: Path) -> None:
    env.reset()
    assert env.benchmark is not None
    (tmp_path / "input.bc").write_bytes(env.benchmark.contents)
    finish(env)
    words = shlex.split(env.commandline())
    assert words[:3] == ["python", "-m", "compiler_gym_inline.llvm"]
    subprocess.run([sys.executable, *words[1:]], cwd=tmp_path, check=True)
    assert (tmp_path / "output.bc").read_bytes() == env.observation["Bitcode"].tobytes()


def test_an_unfinished_command_line_leaves_the_rest_to_llvm(
    env: LlvmInlineEnv, tmp_path: Path
) -> None:
    env.reset()
    assert env.benchmark is not None
    (tmp_path / "input.bc").write_bytes(env.benchmark.contents)
    for letter in MIXED[:4]:
        env.step(LETTERS.index(letter))
    words = shlex.split(env.commandline())
    subprocess.run([sys.executable, *words[1:]], cwd=tmp_path, check=True)
    finish(env, "d")
    assert (tmp_path / "output.bc").read_bytes() == env.observation["Bitcode"].tobytes()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-Oz", "--decisions=dxd"], "no decision 'x'"),
        (["-Oz", f"--decisions={'n' * 10_000}"], "calls need a decision"),
        (["--decisions=d"], "one of the arguments"),
    ],
)
def test_a_command_that_cannot_be_obeyed_gives_the_reason(
    env: LlvmInlineEnv, tmp_path: Path, words: list[str], said: str
) -> None:
    (tmp_path / "input.bc").write_bytes(env.datasets.benchmark("cbench-v1/bitcount").contents)
    command = [sys.executable, "-m", "compiler_gym_inline.llvm", *words]
    done = subprocess.run(
        [*command, "input.bc", "-o", "output.bc"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_the_rest_is_what_llvm_would_do_and_ends_the_episode(
    env: LlvmInlineEnv, tmp_path: Path
) -> None:
    env.reset()
    for letter in "nin":
        env.step(LETTERS.index(letter))
    finish(env, "d")
    wanted = env.observation["IrSha1"]
    env.reset(action_space="InliningAndRest")
    assert env.benchmark is not None
    (tmp_path / "input.bc").write_bytes(env.benchmark.contents)
    *_, terminated, truncated, _ = env.multistep(map(LETTERS.index, "ninrdd"))
    assert (terminated, truncated) == (True, False)
    assert env.actions == [LETTERS.index(letter) for letter in "ninr"]
    assert env.observation["IrSha1"] == wanted
    assert env.validate().okay()
    words = shlex.split(env.commandline())
    assert "--decisions=ninr" in words
    subprocess.run([sys.executable, *words[1:]], cwd=tmp_path, check=True)
    assert (tmp_path / "output.bc").read_bytes() == env.observation["Bitcode"].tobytes()
    with LlvmInlineEnv() as other:
        other.apply(env.state)
        assert other.state.commandline == env.state.commandline
        assert other.observation["IrSha1"] == wanted


def test_only_the_space_that_has_it_knows_the_rest(env: LlvmInlineEnv) -> None:
    env.reset()
    assert env.action_space.rest is None
    with pytest.raises(InvalidActionError, match="3"):
        env.step(3)
    with pytest.raises(InvalidActionError, match="not a list of inlining decisions"):
        env.action_space.from_string("dr")
    env.reset(action_space="InliningAndRest")
    assert env.action_space.rest == 3
    assert env.action_space.from_string("dr") == [0, 3]


def test_command_lines_are_read_back(env: LlvmInlineEnv) -> None:
    space = env.action_space
    assert isinstance(space, InlineCommandLine)
    for actions in ([], [0], [0, 1, 2, 2]):
        assert space.from_string(space.to_string(actions)) == actions
        assert space.from_string(space.to_string(actions, level="O3")) == actions
    assert space.from_string("din") == [0, 1, 2]
    old = space.to_string([0, 1]).replace("compiler_gym_inline", "compiler_gym.tools.inline")
    assert space.from_string(old) == [0, 1]  # a state of an older release
    for wrong in ("dix", "d i", "opt -passes=dce", space.to_string([1]) + "; ls", "-m x"):
        with pytest.raises(InvalidActionError, match="not a list of inlining decisions"):
            space.from_string(wrong)


def test_a_step_is_taken_back_at_any_call() -> None:
    with ForkOnStep(compiler_gym.make("llvm-inline-v0", benchmark="cbench-v1/patricia")) as env:
        env.reset()
        hashes = [env.observation["InlineStateHash"]]
        irs = [env.observation["IrHash"]]
        for letter in MIXED[:6]:
            env.step(LETTERS.index(letter))
            hashes.append(env.observation["InlineStateHash"])
            irs.append(env.observation["IrHash"])
        while len(hashes) > 1:
            env.undo()
            hashes.pop()
            irs.pop()
            assert env.observation["InlineStateHash"] == hashes[-1]
            assert env.observation["IrHash"] == irs[-1]


def test_forks_go_their_own_way_from_an_open_question(env: LlvmInlineEnv) -> None:
    env.reset()
    env.step(LETTERS.index("n"))
    ends: list[str] = []
    for letters in ("i", "n", "i"):
        with env.fork() as fork:
            finish(fork, letters)
            ends.append(fork.observation["IrHash"])
    assert ends[0] == ends[2] != ends[1]
    finish(env, "n")
    assert env.observation["IrHash"] == ends[1]


def test_a_cache_gives_what_the_inliner_would() -> None:
    with LlvmInlineEnv(
        benchmark="cbench-v1/bitcount", cache=TranspositionCache(), observation_space="CallSite"
    ) as cached:
        plain = LlvmInlineEnv(benchmark="cbench-v1/bitcount", observation_space="CallSite")
        with plain:
            for letters in ("din", "nid", "din"):
                for one in (cached, plain):
                    one.reset()
                while plain.in_episode:
                    letter = LETTERS.index(letters[len(plain.actions) % 3])
                    assert cached.step(letter)[:4] == plain.step(letter)[:4]
                assert not cached.in_episode
                assert cached.observation["IrHash"] == plain.observation["IrHash"]


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_a_vector_goes_on_with_the_next_episode(mode: str) -> None:
    envs = compiler_gym.make_vec(
        "llvm-inline-v0",
        2,
        sampler=["cbench-v1/bitcount", "cbench-v1/crc32"],
        observation_space="InlineFeatures",
        reward_space="IrInstructionCountOz",
        autoreset_mode=mode,
    )
    try:
        envs.reset(seed=0)
        ends = 0
        for _ in range(80):
            _, rewards, terminated, truncated, _ = envs.step([0, 0])
            assert not truncated.any()
            assert rewards.shape == (2,)
            ends += int(terminated.sum())
        assert ends >= 2
    finally:
        envs.close()


def test_a_program_without_a_question_ends_with_the_first_action(tmp_path: Path) -> None:
    (tmp_path / "alone.c").write_text("int main(void) { return 0; }\n")
    with LlvmInlineEnv() as env:
        env.reset(benchmark=make_benchmark(tmp_path / "alone.c"))
        assert env.in_episode
        _, _, terminated, truncated, info = env.step(env.action_space["inline"])
        assert (terminated, truncated) == (True, False)
        assert info["action_had_no_effect"]
        assert env.observation["IrInstructionCount"] == env.observation["IrInstructionCountOz"]
        env.reset(action_space="InliningAndRest")
        assert env.step(env.action_space["rest"])[2]


def test_debug_information_gives_a_call_its_place_in_the_source(
    tmp_path: Path, tool: Callable[..., bytes]
) -> None:
    source = tmp_path / "two.c"
    source.write_text(
        "static int twice(int n) { return n * 2; }\nint main(int c, char **v)\n{\n"
        "  return twice(c);\n}\n"
    )
    options = ("-g", "-O2", "-Xclang", "-disable-llvm-passes", "-c", "-emit-llvm")
    bitcode = tmp_path / "two.bc"
    tool("clang-22", *options, source, "-o", bitcode)
    with LlvmInlineEnv() as env:
        env.reset(benchmark=make_benchmark(bitcode))
        site = env.observation["CallSite"]
        assert (site["caller"], site["callee"]) == ("main", "twice")
        assert site["location"].endswith("two.c:4:10")
        assert site["is_callee_local"]


def test_a_report_for_llvms_tracker_is_refused_with_a_reason(
    env: LlvmInlineEnv, tmp_path: Path
) -> None:
    env.reset()
    with pytest.raises(MinimizationError, match="decisions about calls"):
        env.write_bug_report(tmp_path)
