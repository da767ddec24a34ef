# SPDX-License-Identifier: MIT
"""The program of an episode: its settings, and where it is built."""

from pathlib import Path
from typing import Any

import pytest

from compiler_gym import _llvm
from compiler_gym.datasets import ExpectedOutput, RunSpec, pack_run
from compiler_gym.envs.llvm.toolchain.executable import Executable
from compiler_gym.errors import InvalidParameterError
from compiler_gym.session import BenchmarkSpec
from tests.envs.llvm.running_programs import HELLO, MakeEnv, program, started


def test_times_are_as_many_as_requested_and_the_setting_lasts(make_env: MakeEnv) -> None:
    env = make_env()
    env.runtime_observation_count = 3
    env.runtime_warmup_runs_count = 1
    env.reset(benchmark=program(HELLO))
    assert len(env.observation["Runtime"]) == 3
    env.runtime_observation_count = 2
    assert len(env.observation["Runtime"]) == 2
    env.reset()
    assert len(env.observation["Runtime"]) == 2
    fork = env.fork()
    assert (fork.runtime_observation_count, fork.runtime_warmup_runs_count) == (2, 1)
    assert len(fork.observation["Runtime"]) == 2
    fork.close()
    assert all(seconds > 0 for seconds in env.observation["Runtime"])


@pytest.mark.parametrize("value", [0, -1, 1.5, "many", None])
def test_a_wrong_number_of_runs_is_refused(make_env: MakeEnv, value: Any) -> None:
    env = make_env()
    with pytest.raises(InvalidParameterError, match="a whole number of at least 1"):
        env.runtime_observation_count = value


def test_the_parameters_of_compiler_gym_0_2_5_work(make_env: MakeEnv) -> None:
    env = started(make_env, program(HELLO))
    env.send_param("llvm.set_runtimes_per_observation_count", "4")
    env.send_param("llvm.set_warmup_runs_count_per_runtime_observation", "0")
    assert len(env.observation["Runtime"]) == 4
    env.send_param("llvm.set_buildtimes_per_observation_count", "2")
    assert len(env.observation["Buildtime"]) == 2
    counts = ("runtimes_per", "buildtimes_per", "warmup_runs_count_per_runtime")
    names = [f"llvm.get_{name}_observation" + "_count" * ("warm" not in name) for name in counts]
    assert [env.send_param(name, "") for name in names] == ["4", "2", "0"]
    with pytest.raises(InvalidParameterError, match=r"runtime_observation_count must be .*'x'"):
        env.send_param("llvm.set_runtimes_per_observation_count", "x")


def test_the_baselines_of_compiler_gym_0_2_5_are_applied(make_env: MakeEnv) -> None:
    env = started(make_env, program(HELLO))
    assert env.send_param("llvm.apply_baseline_optimizations", "-Oz") == "changed"
    assert env.observation["IrInstructionCount"] == env.observation["IrInstructionCountOz"]
    with pytest.raises(InvalidParameterError, match="no optimisation level '-O9'; there are -O0"):
        env.send_param("llvm.apply_baseline_optimizations", "-O9")


def test_a_fork_builds_in_its_own_directory(make_env: MakeEnv) -> None:
    env = started(make_env, program(HELLO))
    size = env.observation["TextSizeBytes"]
    fork = env.fork()
    env.close()
    assert fork.observation["TextSizeBytes"] == size
    assert len(fork.observation["Runtime"]) == 1
    fork.close()


MODULE = (
    'target triple = "x86_64-pc-linux-gnu"\n'
    "define i32 @main() {\n  ret i32 0\n}\ndefine i32 @more() {\n  ret i32 7\n}\n"
)


@pytest.fixture
def made(tmp_path: Path) -> Executable:
    """Return the program of a module that returns at once, and is said to."""
    run = pack_run(RunSpec.single(expected=ExpectedOutput.of(stdout=b"")))
    spec = BenchmarkSpec("benchmark://user-v0/1", MODULE.encode(), run=run)
    return Executable(spec, lambda: _llvm.Module(MODULE.encode()), lambda: tmp_path / "made")


def test_a_program_is_built_run_and_measured_below_the_environment(made: Executable) -> None:
    module = _llvm.Module(MODULE.encode())
    assert made.is_buildable(module)
    assert made.is_runnable(module)
    (seconds,) = made.build_times(module)
    assert seconds > 0
    assert len(made.times(module)) == 1
    assert made.set("runtime_observation_count", "3.0") == "3"
    assert len(made.times(module)) == 3
    assert made.text_size(module) > 0


@pytest.mark.parametrize(
    ("key", "value", "least"),
    [
        ("runtime_observation_count", "0", 1),
        ("runtime_observation_count", "many", 1),
        ("runtime_warmup_runs_count", "-1", 0),
    ],
)
def test_a_setting_has_its_least_value(made: Executable, key: str, value: str, least: int) -> None:
    with pytest.raises(InvalidParameterError, match=f"{key} .* at least {least}"):
        made.set(key, value)
    assert made.set(key, str(least)) == str(least)


def test_a_program_next_to_it_leaves_its_files_alone(made: Executable, tmp_path: Path) -> None:
    smaller = _llvm.Module(MODULE.partition("define i32 @more")[0].encode())
    size = made.text_size(_llvm.Module(MODULE.encode()))
    files = sorted((tmp_path / "made").glob("program-*"))
    assert made.beside().text_size(smaller) < size
    assert sorted((tmp_path / "made").glob("program-*")) == files


def test_a_cost_is_distinguished_by_the_tools_it_depends_on(made: Executable) -> None:
    assert made.identify_tools("text_size") != ""
    assert made.identify_tools("instructions").startswith(made.identify_tools("text_size"))
