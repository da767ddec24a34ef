# SPDX-License-Identifier: MIT
"""LLVM's rule in C decides as LLVM does, and a search over its constants judges what it finds."""

import shutil
from pathlib import Path

import pytest

import compiler_gym
from compiler_gym_inline.llvm.policies import heuristic_policy
from tests.loading import load_script

pytestmark = pytest.mark.skipif(shutil.which("clang-22") is None, reason="needs clang-22")

FOLDER = Path(__file__).parents[2] / "examples" / "inliner"


def test_the_rule_decides_as_llvm_does() -> None:
    policy = heuristic_policy(FOLDER / "llvm_rule.c")
    with compiler_gym.make("llvm-inline-v0") as env:
        for name in ("bitcount", "sha", "patricia", "susan"):
            env.reset(benchmark=f"cbench-v1/{name}")
            policy(env)
            assert env.observation["ObjectTextSizeBytes"] == env.observation["ObjectTextSizeOz"]
    assert policy.asked == policy.agreed > 200


def test_constants_are_searched_for_on_some_programs_and_judged_on_others(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = load_script(FOLDER / "search_constants.py", "search_constants")
    monkeypatch.setattr(script, "VALUES", {"THRESHOLD": (-10_000, 5), "LOOP": (0,)})
    train, test = "benchmark://cbench-v1/sha", "benchmark://cbench-v1/crc32"
    script.main(["--train", train, "--test", test])
    said = capsys.readouterr().out
    assert '{"THRESHOLD": 5, "LOOP": 0}' in said
    assert "searched on: 1 programs, geometric mean 1.0000" in said
    assert "judged on: 1 programs, geometric mean 1.0000" in said
