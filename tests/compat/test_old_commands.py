# SPDX-License-Identifier: MIT
"""``python -m compiler_gym.bin.NAME``, and the words of its prompt."""

import os
import subprocess
import sys

import pytest

from compiler_gym.compat.old_commands import todays_command
from test_explorer.commands.test_explore import explore
from tests.command_line import Run


def old(name: str, *arguments: str, stdin: str = "") -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", f"compiler_gym.bin.{name}", *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "200"},
    )


def test_the_old_prompt_is_that_of_today() -> None:
    done = old(
        "manual_env",
        "--env=llvm-v0",
        "--benchmark=cbench-v1/crc32",
        "--reward",
        "IrInstructionCount",
        stdin="action sroa\nexit\n",
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines() == [
        "compiler_gym.bin.manual_env is now: "
        "compiler-gym explore --env llvm-v0 --reward IrInstructionCount cbench-v1/crc32"
    ]
    assert "applied sroa" in done.stdout


@pytest.mark.slow
def test_old_states_are_validated_from_standard_input() -> None:
    header = "benchmark,reward,walltime,commandline\n"
    state = "cbench-v1/crc32,,1.2,opt -mem2reg input.bc -o output.bc\n"
    done = old("validate", "--env=llvm-ic-v0", "--inorder", "-", stdin=header + state)
    assert done.returncode == 0, done.stderr
    assert "is now: compiler-gym validate --env llvm-ic-v0 -" in done.stderr


@pytest.mark.parametrize("name", ["random_search", "random_replay", "random_eval", "service"])
def test_every_old_command_shows_the_help_of_todays(name: str) -> None:
    done = old(name, "--help")
    assert done.returncode == 0, done.stderr
    assert f"compiler_gym.bin.{name} is now: compiler-gym " in done.stderr
    assert "Usage:" in done.stdout


def test_an_option_without_an_equivalent_is_named_and_nothing_runs() -> None:
    done = old("random_search", "--patience=3", "--benchmark=cbench-v1/crc32")
    assert done.returncode == 2
    assert done.stdout == ""
    assert "compiler-gym search --algorithm random cbench-v1/crc32, which has no" in done.stderr
    assert "has no --patience" in done.stderr


def test_old_options_are_read_as_absl_reads_them() -> None:
    given = ["-nproc=2", "--runtime", "9", "--noskip_done", "--output_dir=out"]
    assert todays_command("random_search", given) == (
        "search --algorithm random --jobs 2 --time 9 --run out cbench-v1/qsort".split(),
        [],
    )
    assert todays_command("service", ["--env=gcc-v0"]) == (["describe", "gcc-v0"], [])
    assert todays_command("service", ["--ls_env"]) == (["envs"], [])


def test_the_words_of_the_old_prompt_work(cli: Run) -> None:
    replies = explore(
        cli,
        "set_default_reward IrInstructionCount",
        "greedy 2",
        "no-op",
        "hill_climb 3",
        "set_default_observation IrInstructionCountOz",
        "set_benchmark cbench-v1/sha",
        "list_datasets",
        "list_benchmarks cbench-v1",
        "list_actions sroa",
        "list_rewards",
        "list_observations",
        "observation IrInstructionCount",
        "try_all_actions 1",
        "tutorial",
        "set_benchmark",
        "set_default_observation Colour",
        "stack",
    )[1:]
    assert replies[0]["reward_space"] == "IrInstructionCount"
    assert len(replies[1]["actions"]) == 2
    assert replies[1]["reward"] > 0
    assert replies[3]["reward"] >= replies[1]["reward"]
    assert set(replies[4]["observations"]) == {"IrInstructionCount", "IrInstructionCountOz"}
    assert replies[5]["actions"] == []
    assert replies[5]["observations"] != replies[4]["observations"]
    assert "cbench-v1" in str(replies[6]["datasets"])
    assert any(uri.endswith("cbench-v1/sha") for uri in replies[7]["benchmarks"])
    assert "sroa" in replies[8]["actions"]
    assert "IrInstructionCountOz" in replies[9]["rewards"]
    assert "Autophase" in replies[10]["observations"]
    assert replies[11]["observations"]["IrInstructionCount"] > 0
    assert len(replies[12]["best"]) == 1
    assert "greedy" in replies[13]["tutorial"]
    assert replies[14]["error"] == "InvalidActionError"
    assert replies[15]["error"] == "UnknownNameError"
    assert replies[16]["history"] == []


def test_a_stack_is_simplified_to_what_earns(cli: Run) -> None:
    replies = explore(cli, "sroa", "dce dce dce", "simplify_stack", "undo 9")
    assert replies[2]["actions"] == ["sroa", "dce", "dce", "dce"]
    assert replies[3]["actions"] == ["sroa", "dce"]
    assert replies[3]["reward"] == replies[2]["reward"]
    assert replies[4]["actions"] == []


def test_an_old_flag_is_looked_for_where_it_is(cli: Run) -> None:
    (_, reply) = explore(cli, "-mem2reg")
    assert 'use action_space="CompilerGymV0"' in reply["details"]
