# SPDX-License-Identifier: MIT
"""Passes change the chosen function as ``opt`` does, and nothing else."""

import random
import re
import subprocess
from pathlib import Path

import pytest

import compiler_gym
from compiler_gym.envs.llvm.tails.environment import LlvmTailsEnv
from compiler_gym.errors import BenchmarkInitError
from tests.bundled import every_program
from tests.native.conftest import need


def open_env(program: str) -> LlvmTailsEnv:
    """Return an environment whose worker is this process."""
    env = compiler_gym.make("llvm-tails-v0", benchmark=program, isolation="in-process")
    assert isinstance(env, LlvmTailsEnv)
    return env


def bodies(text: str) -> dict[str, str]:
    """Return the text of each function, without the module's numbers of attributes and metadata."""
    functions = re.findall(r"^define .*?@([\w.]+)(\(.*?^})", text, re.MULTILINE | re.DOTALL)
    return {name: re.sub(r"([#!])\d+", r"\1", body) for name, body in functions}


def run_opt(base: Path, pipelines: list[str]) -> str:
    """Return the IR after ``opt`` ran `pipelines`, and dropped analyses as actions do."""
    passes = ",invalidate<all>,".join(pipelines)
    command = [need("opt-22"), "-S", "-discard-value-names", f"-passes={passes}", str(base)]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout


@pytest.mark.parametrize("program", every_program())
def test_passes_do_on_the_function_what_opt_does_and_others_stay(
    program: str, tmp_path: Path
) -> None:
    draw = random.Random(program)
    with open_env(f"cbench-v1/{program}") as env:
        for seed in range(5):
            env.reset(seed=seed)
            before, base = bodies(env.ir), env.write_bitcode(tmp_path / "base.bc")
            actions = draw.choices(range(env.action_space.n), k=draw.randint(1, 6))
            assert not env.multistep(actions).truncated
            name, after = env.observation["FunctionName"], bodies(env.ir)
            expected = bodies(run_opt(base, [env.action_space.flags[action] for action in actions]))
            assert after[name] == expected[name]
            assert {**after, name: ""} == {**before, name: ""}


def test_the_module_is_what_clang_makes_and_counts_are_of_the_function() -> None:
    with open_env("cbench-v1/gsm?function=main") as env:
        env.reset()
        assert env.observation["IrInstructionCount"] == env.observation["IrInstructionCountOz"]
        for action in random.Random(0).choices(range(env.action_space.n), k=12):
            env.step(action)
            table = env.observation["FunctionFeatures"]
            row = table["features"][table["names"].index("main")]
            counts = env.observation["FunctionCounts"]
            assert counts.tolist() == row.tolist()
            assert env.observation["FunctionInstructionCount"] in counts
            assert env.observation["FunctionInstructionCount"] == sum(row[:67])


def test_large_functions_are_drawn_more_often() -> None:
    with open_env("cbench-v1/crc32") as env:
        env.reset()
        table = env.observation["FunctionFeatures"]
        names, column = table["names"], env.observation["FunctionCounts"].tolist()
        sizes = dict.fromkeys(names, 0)
        for draw in range(int(env.observation["IrInstructionCount"])):
            env.reset(benchmark=f"cbench-v1/crc32?draw={draw}")
            sizes[env.observation["FunctionName"]] += 1
        assert column
        for name, size in sizes.items():
            env.reset(benchmark=f"cbench-v1/crc32?function={name}")
            assert env.observation["FunctionInstructionCount"] == size


@pytest.mark.parametrize(
    ("query", "problem"),
    [("function=mian", "did you mean main"), ("draw=two", "draw must be a whole number")],
)
def test_a_function_that_does_not_exist_is_refused(query: str, problem: str) -> None:
    with open_env("cbench-v1/gsm") as env, pytest.raises(BenchmarkInitError, match=problem):
        env.reset(benchmark=f"cbench-v1/gsm?{query}")


def test_a_module_without_functions_is_refused() -> None:
    empty = compiler_gym.datasets.Benchmark("benchmark://user-v0/empty", b"; ModuleID = 'empty'\n")
    with open_env("cbench-v1/gsm") as env, pytest.raises(BenchmarkInitError, match="no function"):
        env.reset(benchmark=empty)
