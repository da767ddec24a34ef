# SPDX-License-Identifier: MIT
import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

import compiler_gym
from compiler_gym.search import ALGORITHMS
from compiler_gym.testing import wait_until
from tests.command_line import COMMAND, SOURCE, Run
from tests.loading import needs_packages

PROGRAM = "cbench-v1/crc32"


@pytest.mark.parametrize(
    "algorithm",
    [
        pytest.param(name, marks=() if name in ("portfolio", "random") else pytest.mark.slow)
        for name in ALGORITHMS
    ],
)
def test_a_search_is_never_worse_than_oz_and_can_be_repeated(
    cli: Run, tmp_path: Path, algorithm: str
) -> None:
    arguments = ("search", PROGRAM, "--algorithm", algorithm, "--steps", "15", "--seed", "5")
    first = cli(*arguments, "--jobs", "1", "--output", "found.json", "--json").json
    second = cli(*arguments, "--jobs", "2", "--json").json
    (result,) = first["results"]
    assert result["reward"] >= 1  # as a share of what -Oz saves
    for key in ("actions", "reward", "steps", "sequences"):
        assert result[key] == second["results"][0][key]
    written = json.loads((tmp_path / "found.json").read_text())
    assert written["results"] == first["results"]
    log = (tmp_path / "found.json.progress.jsonl").read_text().splitlines()
    assert json.loads(log[-1])["reward"] == result["improvements"][-1]["reward"]
    with compiler_gym.make(
        "llvm-v0", reward_space=result["reward_space"], action_space=result["action_space"]
    ) as env:
        env.reset(benchmark=result["benchmark"])
        assert env.multistep(result["actions"])[1] == pytest.approx(result["reward"])


@pytest.mark.parametrize(
    ("env", "space"),
    [
        ("llvm-v0", "PassesAndPipelines"),
        pytest.param("llvm-v0", "Codegen", marks=pytest.mark.slow),
        ("llvm-v0", "Marks"),
        pytest.param("llvm-v0", "Parameters", marks=pytest.mark.slow),
        ("llvm-inline-v0", ""),
    ],
)
def test_the_output_of_a_search_can_be_validated_replayed_and_run(
    cli: Run, env: str, space: str
) -> None:
    spaces = ("--action-space", space) if space else ()
    # From options of the code generator there is no level to start from: random ones will do.
    ways = ("--algorithm", "random") if space == "Codegen" else ()
    searched = cli(
        "search",
        PROGRAM,
        "--env",
        env,
        *spaces,
        *ways,
        "--reward",
        "ObjectTextSizeOz",
        "--steps",
        "12",
        "--seed",
        "1",
        "--output",
        "found.json",
        "--json",
    )
    (result,) = searched.json["results"]
    validated = cli("validate", "found.json", "--rungs", "replay")
    assert validated.status == 0, validated.errors
    assert "1 state, 0 wrong" in validated.output
    replayed = cli("replay", "found.json")
    assert replayed.status == 0, replayed.errors
    again = cli(
        "run",
        "--env",
        env,
        "--action-space",
        result["action_space"],
        "--reward",
        result["reward_space"],
        "--json",
        PROGRAM,
        "--",
        *result["action_names"],
    )
    assert again.status == 0, again.errors
    assert again.json["rewards"]["ObjectTextSizeOz"] == pytest.approx(result["reward"])
    assert again.json["commandline"] == result["commandline"]


def test_several_programs_and_standard_input_are_searched_in_one_run(cli: Run) -> None:
    ran = cli("search", PROGRAM, "-", "--steps", "20", "--json", stdin=SOURCE.encode()).json
    assert [result["benchmark"] for result in ran["results"]] == [
        "benchmark://cbench-v1/crc32",
        "benchmark://user-v0/stdin",
    ]


def test_a_search_starts_from_the_given_sequence(cli: Run) -> None:
    ran = cli(
        "search",
        PROGRAM,
        "--action-space",
        "Passes",
        "--reward",
        "IrInstructionCount",
        "--start",
        "sroa instcombine simplifycfg",
        "--algorithm",
        "random",
        "--steps",
        "1",
        "--json",
    ).json
    with compiler_gym.make("llvm-v0", reward_space="IrInstructionCount") as env:
        env.reset(benchmark=PROGRAM)
        names = ("sroa", "instcombine", "simplifycfg")
        _, reward, *_ = env.multistep([env.action_space[n] for n in names])  # type: ignore[index]
    assert ran["results"][0]["reward"] >= reward


def test_people_see_the_command_that_repeats_the_result(cli: Run) -> None:
    shown = cli("search", PROGRAM, "--steps", "20").output
    assert "-passes=" in shown
    assert "cbench-v1/crc32" in shown


def test_several_programs_end_with_their_total_gain(cli: Run) -> None:
    programs = (PROGRAM, "cbench-v1/crc32")
    shown = cli("search", *programs, "--steps", "20", COLUMNS="80").output
    assert "by hand" not in shown
    summary, note = shown.splitlines()[-2:]
    assert re.fullmatch(
        r"On average [+-]\d\.\d% IrInstructionCount against -Oz: "
        r"[012] lower, [012] equal, 0 higher\.",
        summary,
    )
    assert note == "For the command lines, add --output FILE or search one program."
    kept = cli("search", *programs, "--steps", "20", "--output", "found.json").output
    assert "found.json has the command lines" in kept
    assert kept.rstrip().endswith("compiler-gym replay found.json")


def test_a_result_is_shown_in_the_units_of_its_cost(cli: Run) -> None:
    ran = cli("search", PROGRAM, "--steps", "20", "--json").json
    (cost,), (result,) = ran["costs"], ran["results"]
    with compiler_gym.make("llvm-v0", action_space=result["action_space"]) as env:
        env.reset(benchmark=PROGRAM)
        assert cost["observation"] == "IrInstructionCount"
        assert cost["unit"] == "instructions"
        assert cost["before"] == env.observation["IrInstructionCount"]
        for option in ("-Oz", "-O3"):
            name = f"IrInstructionCount{option[1:]}"
            assert cost["levels"][option] == env.observation[name]
        env.multistep(result["actions"])
        assert cost["found"] == env.observation["IrInstructionCount"]
    shown = cli("search", PROGRAM, "--steps", "20", COLUMNS="80").output
    assert "IrInstructionCount (instructions)" in shown
    for text in ("Before", "-Oz", "-O3", "Found", "IrInstructionCountOz", f"{cost['found']:,}"):
        assert text in shown


@needs_packages
def test_a_search_for_bytes_of_gcc_shows_bytes(cli: Run) -> None:
    shown = cli("search", PROGRAM, "--env", "gcc-v0", "--steps", "3", COLUMNS="80").output
    assert "(bytes)" in shown
    assert all(text in shown for text in ("Before", "-Os", "-O3", "Found"))


def test_an_output_that_cannot_be_written_is_refused_before_the_search(cli: Run) -> None:
    ran = cli("search", PROGRAM, "--time", "600", "--output", "/proc/x/found.json")
    assert ran.status == 2
    assert "error: cannot write /proc/x/found.json" in ran.errors


def test_ctrl_c_reports_what_was_found_and_leaves_nothing_behind(tmp_path: Path) -> None:
    """The whole process group gets SIGINT, as from a terminal."""
    process = subprocess.Popen(
        [*COMMAND, "search", PROGRAM, "--time", "300", "--output", "out", "--json"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, "MARK_OF_THIS_TEST": str(tmp_path)},
    )
    assert wait_until(lambda: _has_begun(tmp_path), seconds=120)
    os.killpg(process.pid, signal.SIGINT)
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 130, errors.decode()
    assert b"Traceback" not in errors
    document = json.loads(output)
    assert document["results"][0]["is_interrupted"]
    assert document["results"][0]["reward"] >= 1
    assert json.loads((tmp_path / "out").read_text())["results"] == document["results"]
    assert wait_until(lambda: _marked(str(tmp_path)) == [])


def _has_begun(directory: Path) -> bool:
    log = directory / "out.progress.jsonl"
    return log.is_file() and log.stat().st_size > 0


def _marked(mark: str) -> list[str]:
    """Return the processes whose environment holds `mark`."""
    found: list[str] = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark.encode() in path.read_bytes():
                found.append(path.parent.name)
        except OSError:
            continue
    return found


def test_failures_say_why_and_limits_are_options(cli: Run) -> None:
    limits = ("--step-seconds", "0.0001", "--level-seconds", "0.0001")
    done = cli("search", PROGRAM, "--steps", "6", *limits)
    assert done.status == 0, done.errors
    assert ": WorkerTimeoutError: no answer within" in done.output
    assert "failed at -O" in done.output


@pytest.mark.parametrize("command", [("run", PROGRAM, "mem2reg"), ("search", PROGRAM)])
def test_a_limit_is_a_number_above_0(cli: Run, command: tuple[str, ...]) -> None:
    refused = cli(*command, "--step-seconds", "0")
    assert refused.status != 0
    assert "--step-seconds must be a number above 0" in refused.errors
