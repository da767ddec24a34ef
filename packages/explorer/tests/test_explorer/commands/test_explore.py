# SPDX-License-Identifier: MIT
import json
from pathlib import Path
from typing import Any

import pytest

import compiler_gym
from tests.command_line import SOURCE, Run

PROGRAM = "cbench-v1/crc32"


def explore(cli: Run, *lines: str) -> list[Any]:
    ran = cli("explore", PROGRAM, "--json", stdin="\n".join(lines).encode())
    assert ran.status == 0, ran.errors
    return [json.loads(line) for line in ran.output.splitlines()]


def test_actions_are_applied_by_name_number_and_unmistakable_part(cli: Run) -> None:
    with compiler_gym.make("llvm-v0") as env:
        number = str(env.action_space["dce"])  # type: ignore[index]
    replies = explore(cli, "sroa", f"{number} vector-comb", "simp")
    assert replies[1]["actions"] == ["sroa"]
    assert replies[2]["actions"] == ["sroa", "dce", "vector-combine"]
    assert replies[3]["error"] == "InvalidActionError"


def test_undo_goes_back_exactly(cli: Run) -> None:
    replies = explore(
        cli, "observe IrHash", "sroa", "observe IrHash", "instcombine gvn", "undo 2",
        "observe IrHash", "back", "observe IrHash", "undo 5",
    )  # fmt: skip
    hashes = [r["observations"]["IrHash"] for r in replies if "IrHash" in r.get("observations", {})]
    assert hashes[0] == hashes[3] != hashes[1] == hashes[2]
    assert replies[-1]["actions"] == []
    assert replies[-1]["reward"] == 0


def test_history_rewards_and_choice_of_reward_agree(cli: Run) -> None:
    replies = explore(cli, "sroa", "simplifycfg", "history", "reward IrInstructionCountOz")
    history = replies[3]["history"]
    assert [step["action"] for step in history] == ["sroa", "simplifycfg"]
    assert sum(step["reward"] for step in history) == replies[2]["reward"] > 0
    assert replies[4]["reward_space"] == "IrInstructionCountOz"
    assert replies[4]["actions"] == ["sroa", "simplifycfg"]
    assert 0 < replies[4]["reward"] < 2


def test_try_names_the_best_next_action_and_changes_nothing(cli: Run) -> None:
    replies = explore(cli, "try 1", "observe IrInstructionCount", "history")
    best = replies[1]["best"]
    assert len(best) == 1
    after = explore(cli, best[0]["action"])[1]
    assert after["reward"] == best[0]["reward"]
    assert replies[3]["history"] == []


def test_mistakes_are_answered_and_the_prompt_goes_on(cli: Run) -> None:
    replies = explore(
        cli, "srao", "observe Colour", "reward Fame", "undo many", "save", "# remark", "", "sroa"
    )
    assert [reply.get("error") for reply in replies[1:]] == [
        "InvalidActionError",
        "UnknownNameError",
        "UnknownNameError",
        "InvalidActionError",
        "InvalidActionError",
        None,
    ]
    assert "did you mean sroa" in replies[1]["details"]
    assert replies[-1]["actions"] == ["sroa"]


def test_the_command_and_the_program_are_saved(cli: Run, tmp_path: Path) -> None:
    replies = explore(cli, "sroa", "commandline", "save run.sh", "save out.ll", "save /proc/x")
    assert (tmp_path / "run.sh").read_text().strip() == replies[2]["commandline"]
    assert "define" in (tmp_path / "out.ll").read_text()
    assert replies[5]["error"] == "InvalidActionError"


def test_quit_leaves_before_the_end_of_the_input(cli: Run) -> None:
    assert len(explore(cli, "quit", "sroa")) == 1


def test_people_get_text_and_help(cli: Run) -> None:
    shown = cli("explore", PROGRAM, stdin=b"help\nlist sroa\nsroa\nsroa\nhistory\n").output
    for text in ("undo [N]", "sroa<preserve-cfg>", "applied sroa", "changed nothing", "Reward"):
        assert text in shown


def test_a_program_on_standard_input_needs_a_terminal_for_commands(cli: Run) -> None:
    ran = cli("explore", "-", stdin=SOURCE.encode())
    assert ran.status == 2
    assert "pass the program as a file" in ran.errors


@pytest.mark.parametrize(
    ("space", "letters", "listed"),
    [
        ("Codegen", "regalloc", "regalloc"),
        ("Parameters", "allowspec", "licm allowspeculation"),
        ("Marks", "call:1", "call:1"),
    ],
)
def test_the_choices_of_an_action_are_listed(
    cli: Run, space: str, letters: str, listed: str
) -> None:
    lines = f"list {letters}\nhill_climb 3\nhistory\n"
    words = ("explore", "cbench-v1/crc32", "--action-space", space, "--json")
    said = [json.loads(line) for line in cli(*words, stdin=lines.encode()).output.splitlines()]
    assert listed in [part["name"] for part in said[1]["parts"]]
    assert not any("error" in answer for answer in said)
    assert listed in cli(*words[:-1], stdin=f"list {letters}\n".encode()).output


def test_marks_are_applied_by_name_and_told(cli: Run) -> None:
    lines = "call:0=never\n-Oz\nundo\nhistory\n"
    words = ("explore", "cbench-v1/crc32", "--action-space", "Marks", "--json")
    said = [json.loads(line) for line in cli(*words, stdin=lines.encode()).output.splitlines()]
    assert said[2]["actions"] == ["call:0=never", "-Oz"]
    assert [step["action"] for step in said[-1]["history"]] == ["call:0=never"]
