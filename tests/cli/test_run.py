# SPDX-License-Identifier: MIT
import shutil
import subprocess
from pathlib import Path

import pytest

import compiler_gym
from tests.command_line import SOURCE, Run

PROGRAM = "cbench-v1/crc32"


def test_actions_are_applied_and_reported(cli: Run) -> None:
    ran = cli("run", PROGRAM, "sroa", "instcombine", "--json").json
    with compiler_gym.make("llvm-v0", reward_space="IrInstructionCountOz") as env:
        env.reset(benchmark=PROGRAM)
        before = env.observation["IrInstructionCount"]
        actions = [env.action_space["sroa"], env.action_space["instcombine"]]  # type: ignore[index]
        _, reward, *_ = env.multistep(actions)
        count = {"before": before, "after": env.observation["IrInstructionCount"]}
    assert ran["observations"]["IrInstructionCount"] == count
    assert ran["rewards"]["IrInstructionCountOz"] == pytest.approx(reward)
    assert ran["actions"] == actions
    assert ran["action_names"] == ["sroa", "instcombine"]


def test_an_action_may_look_like_an_option_and_may_be_a_number(cli: Run) -> None:
    by_name = cli("run", PROGRAM, "-Oz", "--action-space", "Pipelines", "--json").json
    number = str(by_name["actions"][0])
    by_number = cli("run", PROGRAM, number, "--action-space", "Pipelines", "--json").json
    assert by_name == by_number
    assert by_name["action_names"] == ["-Oz"]


def test_a_pipeline_does_what_opt_does(cli: Run, tmp_path: Path) -> None:
    if shutil.which("opt-22") is None:
        pytest.skip("needs opt-22 (apt install llvm-22)")
    cli("run", PROGRAM, "--write-bitcode", "start.bc", "--json")
    passes = "function(sroa,instcombine<no-verify-fixpoint>),globaldce"
    ran = cli("run", PROGRAM, "--pipeline", passes, "--write-ir", "end.ll", "--json").json
    assert (
        ran["observations"]["IrInstructionCount"]["after"]
        < ran["observations"]["IrInstructionCount"]["before"]
    )
    done = subprocess.run(
        ["opt-22", "-discard-value-names", "-S", f"-passes={passes}", "start.bc"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert _code(done.stdout) == _code((tmp_path / "end.ll").read_text())


def test_a_pipeline_earns_what_the_same_action_does(cli: Run) -> None:
    wanted = ("--reward", "IrInstructionCountOz", "--json")
    pipeline = cli("run", PROGRAM, "--pipeline", "default<Oz>", *wanted).json
    assert pipeline["rewards"] == {"IrInstructionCountOz": 1}
    both = cli("run", PROGRAM, "instcombine", "--pipeline", "function(mem2reg)", *wanted).json
    assert both["rewards"] == cli("run", PROGRAM, "mem2reg", "instcombine", *wanted).json["rewards"]
    assert both["rewards"]["IrInstructionCountOz"] > 0.5


def _code(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.startswith("; ModuleID")]


def test_a_program_is_the_same_as_source_text_bitcode_path_and_standard_input(
    cli: Run, source: Path, tmp_path: Path
) -> None:
    wanted = ("--observe", "IrInstructionCount", "--reward", "IrInstructionCountOz", "--json")
    first = cli(
        "run", str(source), "sroa", *wanted, "--write-ir", "x.ll", "--write-bitcode", "x.bc"
    ).json
    assert first["benchmark"] == f"file://{source}"
    from_stdin = cli("run", "-", "sroa", *wanted, stdin=SOURCE.encode()).json
    assert from_stdin["observations"] == first["observations"]
    assert from_stdin["rewards"] == first["rewards"]
    for name in ("x.ll", "x.bc"):
        again = cli("run", name, *wanted).json
        piped = cli("run", "-", *wanted, stdin=(tmp_path / name).read_bytes()).json
        after = first["observations"]["IrInstructionCount"]["after"]
        assert again["observations"]["IrInstructionCount"]["before"] == after
        assert piped["observations"] == again["observations"]


def test_the_goal_may_follow_a_path(cli: Run, source: Path) -> None:
    size = cli("run", str(source), "--observe", "Ir", "--reward", "IrInstructionCount", "--json")
    speed = cli(
        "run", f"{source}?goal=speed", "--observe", "Ir", "--reward", "IrInstructionCount", "--json"
    )
    assert "minsize" in size.json["observations"]["Ir"]["before"]
    assert "minsize" not in speed.json["observations"]["Ir"]["before"]


def test_ir_on_standard_output_comes_alone(cli: Run) -> None:
    ran = cli("run", PROGRAM, "sroa", "--write-ir", "-", "--reward", "IrInstructionCount")
    again = cli("run", "-", "--json", "--reward", "IrInstructionCount", stdin=ran.output.encode())
    assert "define" in ran.output
    assert "Observation" in ran.errors
    assert again.status == 0


def test_people_see_what_changed(cli: Run) -> None:
    shown = cli("run", PROGRAM, "sroa").output
    assert "applied: sroa" in shown
    assert "IrInstructionCount" in shown
    assert "Reward" not in shown
    assert "Reward" in cli("run", PROGRAM, "sroa", "--reward", "IrInstructionCountOz").output
    assert "the program is unchanged" in cli("run", PROGRAM, "always-inline").output


def test_a_file_that_cannot_be_written_is_refused(cli: Run) -> None:
    ran = cli("run", PROGRAM, "sroa", "--write-ir", "/proc/nowhere.ll")
    assert ran.status == 2
    assert ran.errors.startswith("error: cannot write /proc/nowhere.ll")
