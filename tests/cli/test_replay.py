# SPDX-License-Identifier: MIT
"""``compiler-gym replay`` as a shell sees it."""

from dataclasses import replace
from pathlib import Path

import pytest

from compiler_gym import CompilerEnvState, CompilerEnvStateReader
from tests.command_line import Run, States, write


def test_states_that_replay_say_so(cli: Run, tmp_path: Path, states: States) -> None:
    ran = cli("replay", write(tmp_path / "s.jsonl", states), "--json")
    assert [row["differences"] for row in ran.json] == [[], []]
    assert [row["replayed_hash"] for row in ran.json] == [s.state_hash for s in states]


def test_a_replay_that_differs_is_shown_and_fails(cli: Run, tmp_path: Path, states: States) -> None:
    wrong = [states[0], replace(states[1], reward=0.9)]
    ran = cli("replay", write(tmp_path / "s.jsonl", wrong))
    assert ran.status == 1
    assert "bitcount: the replay earns a different reward, reward=0.9" in ran.output


def test_csv_of_0_2_5_is_replayed_with_a_reward_that_the_user_names(
    cli: Run,
    tmp_path: Path,
    states: States,
) -> None:
    path = write(tmp_path / "s.csv", states)
    assert "name its space with --reward" in cli("replay", path).output
    ran = cli("replay", path, "--reward", "IrInstructionCountOz", "--json")
    assert [row["replayed_reward"] for row in ran.json] == pytest.approx([s.reward for s in states])


def test_another_version_is_reported_and_not_a_failure(
    cli: Run, tmp_path: Path, states: States
) -> None:
    old = replace(states[0], compiler_version="17.0.6", reward=0.1)
    ran = cli("replay", write(tmp_path / "s.jsonl", [old]))
    assert ran.status == 0
    assert "recorded with version 17.0.6 of the compiler, replayed with 22" in ran.output


def test_unknown_programs_and_actions_are_rows_of_the_table(cli: Run, tmp_path: Path) -> None:
    bad = [CompilerEnvState("cbench-v1/nope"), CompilerEnvState("cbench-v1/sha", "nope")]
    ran = cli("replay", write(tmp_path / "s.jsonl", bad), "--trace", "t.jsonl")
    assert ran.status == 1
    assert "no program 'nope'" in ran.output
    assert "'nope' is not an action" in ran.output
    bisected = cli("bisect", "t.jsonl", "--json")
    assert bisected.status == 0
    assert ["'nope'" in error for row in bisected.json for error in row["errors"]] == [True] * 4


def test_states_written_by_the_library_are_read_from_standard_input(
    cli: Run,
    tmp_path: Path,
    states: States,
) -> None:
    text = Path(write(tmp_path / "s.jsonl", states)).read_bytes()
    assert cli("replay", "-", stdin=text).status == 0
    assert len(list(CompilerEnvStateReader.read_paths([tmp_path / "s.jsonl"]))) == 2


def test_a_file_that_is_not_there_is_one_line_and_no_empty_table(cli: Run) -> None:
    for command in ("replay", "validate"):
        ran = cli(command, "missing.csv")
        assert (ran.status, ran.output) == (2, "")
        assert ran.errors.startswith("error: cannot read missing.csv: No such file")
