# SPDX-License-Identifier: MIT
"""Searches of the table of decisions: equal numbers of compilations, taken apart, resumable."""

import json
from pathlib import Path

import pytest

import compiler_gym
from scripts.decisions_table import Compilations, SpentError, is_default, main, without

CRC32 = "benchmark://cbench-v1/crc32"


def test_a_compilation_that_is_known_is_not_made_again() -> None:
    with compiler_gym.make("llvm-v0", action_space="PassesAndPipelines") as env:
        env.reset(benchmark=CRC32)
        level = env.action_space["-Oz"]
        compilations = Compilations(env, CRC32, "instructions", most=2)
        first = compilations.cost([level])
        assert compilations.cost([level]) == first
        assert compilations.made == 1
        nothing = compilations.cost([])
        assert first is not None
        assert nothing is not None
        assert first[0] < nothing[0]
        assert compilations.best == (first[0], (level,))
        with pytest.raises(SpentError, match="2"):
            compilations.cost([level, level])
        compilations.allow(1)
        assert compilations.cost([level, level]) is not None


def test_settings_go_on_from_the_level_and_give_what_a_run_gives() -> None:
    with compiler_gym.make("llvm-v0", action_space="PipelinesAndCodegen") as env:
        env.reset(benchmark=CRC32)
        actions = [env.action_space[name] for name in ("-Oz", "enable-ipra=true")]
        compilations = Compilations(env, CRC32, "text", most=9)
        found = compilations.cost(actions)
        compilations.close()
        env.reset(benchmark=CRC32)
        env.multistep(actions)
        seen = (float(env.observation["ObjectTextSizeBytes"]), env.observation["IrHash"])
        assert found == seen


def test_decisions_are_taken_away_kind_by_kind() -> None:
    names = ["call:1=never", "loop:2=off", "call:3=never", "licm", "regalloc=basic"]
    assert dict(without(names)) == {
        "call=never (2)": ["loop:2=off", "licm", "regalloc=basic"],
        "loop:2=off": ["call:1=never", "call:3=never", "licm", "regalloc=basic"],
        "regalloc=basic": ["call:1=never", "loop:2=off", "call:3=never", "licm"],
        "passes": ["-Oz", "regalloc=basic"],
    }
    assert is_default("regalloc=default")
    assert not is_default("sroa<x=default>")


def test_searches_that_are_there_are_not_made_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "found.jsonl"
    options = ["--many", "12", "--cost", "text", "--output", str(output), "crc32"]
    main(["--space", "all", "--space", "codegen", *options])
    rows = [json.loads(line) for line in output.read_text().splitlines()]
    assert [row["space"] for row in rows] == ["all", "codegen"]
    for row in rows:
        assert row["compilations"] <= 12
        assert row["found"] <= row["Oz"] <= row["OptOz"]
        assert row["valid"] == "yes"
    capsys.readouterr()
    main(["--space", "all", *options])
    assert output.read_text().count("\n") == 2
    assert capsys.readouterr().err == ""
