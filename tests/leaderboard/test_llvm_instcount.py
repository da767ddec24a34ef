# SPDX-License-Identifier: MIT
"""The evaluation of CompilerGym 0.2.5, by its name and its options."""

from pathlib import Path
from typing import Any

import pytest

from compiler_gym import CompilerEnvStateReader
from compiler_gym.envs.llvm.leaderboard import instcount
from compiler_gym.leaderboard.llvm_instcount import eval_llvm_instcount_policy

FEW = ["--max_benchmarks=2", "--n=2"]


def policy(env: Any) -> None:
    for name in ("sroa", "instcombine", "simplifycfg", "gvn"):
        env.step(env.action_space[name])


def test_results_are_states_and_are_summed_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = tmp_path / "results.csv"
    eval_llvm_instcount_policy(policy, [*FEW, f"--leaderboard_results={results}"])
    printed = capsys.readouterr().out
    states = list(CompilerEnvStateReader.read_paths([results]))
    assert [state.benchmark.rpartition("/")[2] for state in states] == [
        "adpcm", "bitcount", "adpcm", "bitcount",
    ]  # fmt: skip
    assert all(state.reward is not None and state.reward > 0 for state in states)
    assert "Number of inferences: 4" in printed
    assert "Geometric mean of the reward: 0." in printed
    assert "4 states validated" in printed
    assert ", 0 wrong" in printed


def test_what_is_there_is_not_repeated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = tmp_path / "results.csv"
    arguments = [*FEW, f"--leaderboard_results={results}", "--novalidate", "--resume"]
    eval_llvm_instcount_policy(policy, arguments)
    text = results.read_text()

    def never(env: Any) -> None:
        raise AssertionError("played again")

    eval_llvm_instcount_policy(never, arguments)
    assert results.read_text() == text


def test_without_resume_a_file_of_results_begins_anew(tmp_path: Path) -> None:
    results = tmp_path / "results.csv"
    results.write_text("benchmark,reward,walltime,commandline\nbenchmark://x-v0/y,1.0,1.0,opt\n")
    arguments = [
        "--max_benchmarks=1", "--n=1", f"--leaderboard_results={results}", "--validate=false",
        "--test_dataset=cbench-v1", f"--leaderboard_logfile={tmp_path / 'log'}",
    ]  # fmt: skip
    eval_llvm_instcount_policy(policy, arguments)
    (state,) = CompilerEnvStateReader.read_paths([results])
    assert state.benchmark == "benchmark://cbench-v1/adpcm"


@pytest.mark.parametrize(
    ("arguments", "validate", "resume"),
    [
        ([], True, False),
        (["--novalidate", "--resume"], False, True),
        (["--validate=false", "--resume=true"], False, True),
        (["--no-validate", "--noresume"], False, False),
    ],
)
def test_switches_are_spelled_as_absl_does(
    arguments: list[str], validate: bool, resume: bool
) -> None:
    options = instcount._options(arguments)
    assert (options.validate, options.resume) == (validate, resume)


@pytest.mark.parametrize("wrong", ["--nonsense=1", "--n=0", "--validate=perhaps"])
def test_unknown_options_are_refused(wrong: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        instcount._options([wrong])
    assert wrong.partition("=")[0] in capsys.readouterr().err


def test_flags_that_a_script_defines_with_absl_are_handed_to_absl() -> None:
    flags = pytest.importorskip("absl.flags", reason="absl is not installed")
    values = flags.FlagValues()
    flags.DEFINE_float("epsilon", 0.1, "of the policy", flag_values=values)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(flags, "FLAGS", values)
        assert instcount._options(["--n=3", "--epsilon=0.5"]).n == 3
        assert values.epsilon == 0.5
