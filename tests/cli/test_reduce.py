# SPDX-License-Identifier: MIT
"""``compiler-gym reduce``: fewer actions that keep what matters."""

import json
import shlex
import shutil
import sys
from pathlib import Path

import pytest

import compiler_gym
from tests.command_line import Run


def state_file(path: Path, benchmark: str, *names: str, space: str = "Passes") -> str:
    with compiler_gym.make("llvm-v0", reward_space="IrInstructionCount", action_space=space) as env:
        env.reset(benchmark=benchmark)
        env.multistep([env.action_space[name] for name in names])
        known = {"commandline": env.commandline(), "benchmark": benchmark, "action_space": space}
        path.write_text(json.dumps(known | {"reward_space": "IrInstructionCount"}) + "\n")
    return str(path)


def test_a_reward_is_kept_and_attributed(cli: Run, tmp_path: Path) -> None:
    names = ("always-inline", "sroa", "strip-dead-prototypes", "instcombine")
    path = state_file(tmp_path / "s.jsonl", "cbench-v1/crc32", *names)
    found = cli("reduce", path, "--output", "out", "--json").json
    assert found["actions"] == ["sroa", "instcombine"]
    assert found["reward"] == found["reward_before"]
    assert [c["action"] for c in found["contributions"]] == ["sroa", "instcombine"]
    assert all(c["cost_of_removal"] > 0 for c in found["contributions"])
    assert json.loads((tmp_path / "out" / "reduced.json").read_text()) == found
    assert cli("replay", "out/state.jsonl").status == 0


@pytest.mark.slow
@pytest.mark.skipif(
    any(shutil.which(t) is None for t in ("opt-22", "llvm-reduce-22", "llvm-stress-22")),
    reason="needs LLVM's tools",
)
def test_a_crash_is_kept_and_reported(cli: Run, tmp_path: Path) -> None:
    names = ("sroa", "loop-rotate", "scalarizer<load-store>", "gvn")
    program = "generator://llvm-stress-v0/0"
    path = state_file(tmp_path / "s.jsonl", program, *names, space="PassesAll")
    found = cli("reduce", path, "--keep", "crash", "--output", "out", "--json").json
    assert found["actions"] == ["scalarizer<load-store>"]
    assert found["report"]["is_reduced"]
    assert (tmp_path / "out" / "reduced.ll").is_file()


def test_missing_functions_cannot_be_kept(cli: Run, tmp_path: Path) -> None:
    path = state_file(tmp_path / "s.jsonl", "cbench-v1/crc32", "sroa")
    ran = cli("reduce", path, "--keep", "crash")
    assert ran.status == 2
    assert "the hypothesis is false for the whole episode (1 actions)" in ran.errors
    assert "choose one with --number, from 1" in cli("reduce", path, "--number", "3").errors
    nothing = state_file(tmp_path / "n.jsonl", "cbench-v1/crc32")
    assert "this state has no actions" in cli("reduce", nothing, "--keep", "failure").errors


LINKER = """
import os, sys
switches = dict(part.split("=") for part in os.environ["COMPILER_GYM_SIZE"].split(","))
limit, broken = int(switches["limit"]), int(sys.argv[1])
rows = [f"exchange\\t{min(limit, 40)}", f"last\\texchange in f{min(limit, 40)}"]
open(switches["stats"], "w").write("\\n".join(rows))
print("it is wrong")
sys.exit(limit >= broken)
"""
"""Stands for a link with the size plug-in and a test: 40 rewrites, wrong after so many."""


@pytest.mark.parametrize("broken", [1, 23, 40])
def test_a_rewrite_that_breaks_a_program_is_found(cli: Run, tmp_path: Path, broken: int) -> None:
    (tmp_path / "link.py").write_text(LINKER)
    command = f"{shlex.quote(sys.executable)} link.py {broken}"
    found = cli("reduce", command, "--keep", "rewrite", "--json").json
    assert (found["rewrite"], found["place"]) == (broken, f"exchange in f{broken}")
    assert found["without_rule"] == "COMPILER_GYM_SIZE=rules=-exchange"
    assert found["tests"] <= 3 + 6
    assert f"rewrite {broken} breaks it" in cli("reduce", command, "--keep", "rewrite").output


@pytest.mark.parametrize(
    ("broken", "why"), [(0, "fails without any rewrite too:\n  it is wrong"), (41, "no rewrite")]
)
def test_a_build_that_no_rewrite_breaks_is_refused(
    cli: Run, tmp_path: Path, broken: int, why: str
) -> None:
    (tmp_path / "link.py").write_text(LINKER)
    ran = cli("reduce", f"{shlex.quote(sys.executable)} link.py {broken}", "--keep", "rewrite")
    assert ran.status == 2
    assert why in ran.errors
