# SPDX-License-Identifier: MIT
"""The commands of the explorer, on a compiler that is a number."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import compiler_gym
from compiler_gym.testing import FakeEnv
from compiler_gym_explorer.commands.terminal import Explorer


@pytest.fixture
def env() -> Iterator[FakeEnv]:
    with FakeEnv(reward_space="number", action_space="Behaviours") as made:
        yield made


@pytest.fixture
def explorer(env: FakeEnv) -> Iterator[Explorer]:
    with closing(Explorer(env, env.datasets.benchmark("benchmark://fake-v0/7"))) as made:
        made.start()
        yield made


def tell(explorer: Explorer, capsys: pytest.CaptureFixture[str], *lines: str) -> Any:
    """Return the answer to the last of `lines`."""
    for line in lines:
        capsys.readouterr()
        assert explorer.obey(line, as_json=True)
    return json.loads(capsys.readouterr().out)


def test_actions_add_up_and_one_without_effect_reports_it(
    explorer: Explorer, capsys: pytest.CaptureFixture[str]
) -> None:
    said = tell(explorer, capsys, "add double", "nothing")
    assert said["actions"] == ["add", "double", "nothing"]
    assert said["observations"] == {"number": 16}
    assert said["reward"] == -9
    explorer.obey("nothing", as_json=False)
    assert "nothing (changed nothing)" in capsys.readouterr().out
    assert str(explorer) == "7 [4]"


def test_an_action_that_fails_is_taken_back(
    explorer: Explorer, capsys: pytest.CaptureFixture[str]
) -> None:
    said = tell(explorer, capsys, "add", "fatal")
    assert said == {"error": "CompilerFatalError", "details": "the compiler gave up"}
    assert tell(explorer, capsys, "reward")["actions"] == ["add"]
    assert tell(explorer, capsys, "segfault")["error"] == "WorkerCrashedError"
    assert tell(explorer, capsys, "reward")["observations"] == {"number": 8}


@pytest.mark.parametrize(
    ("line", "left"), [("undo", 2), ("undo 2", 1), ("back 3", 0), ("undo 9", 0), ("undo 0", 3)]
)
def test_undo_takes_back_as_many_as_there_are(
    explorer: Explorer, capsys: pytest.CaptureFixture[str], line: str, left: int
) -> None:
    said = tell(explorer, capsys, "add double negate", line)
    assert said["actions"] == ["add", "double", "negate"][:left]
    assert len(tell(explorer, capsys, "history")["history"]) == left


def test_reset_begins_again(explorer: Explorer, capsys: pytest.CaptureFixture[str]) -> None:
    said = tell(explorer, capsys, "add add", "reset")
    assert (said["actions"], said["reward"], said["observations"]) == ([], 0, {"number": 7})


def test_the_only_name_that_the_letters_fit_is_meant(
    explorer: Explorer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert tell(explorer, capsys, "dou")["actions"] == ["double"]
    assert tell(explorer, capsys, "child_")["error"] == "InvalidActionError"


@pytest.mark.parametrize(
    ("line", "details"),
    [
        ("undo -1", "'-1' is not a number"),
        ("save", "usage: save FILE"),
        ("save a b", "usage: save FILE"),
        ("observe Colour", "Colour"),
        ("reward Fame", "Fame"),
    ],
)
def test_a_mistake_is_answered_with_the_expected_form(
    explorer: Explorer, capsys: pytest.CaptureFixture[str], line: str, details: str
) -> None:
    assert details in tell(explorer, capsys, line)["details"]


def test_observations_are_listed_and_shown(
    explorer: Explorer, env: FakeEnv, capsys: pytest.CaptureFixture[str]
) -> None:
    assert tell(explorer, capsys, "observe")["observations"] == [*env.observation]
    said = tell(explorer, capsys, "observe vector summary")
    assert said["observations"] == {"vector": [7, 49, 1], "summary": {"even": 0, "text": "7"}}


def test_the_program_is_drawn_as_it_is_now(
    explorer: Explorer, env: FakeEnv, capsys: pytest.CaptureFixture[str]
) -> None:
    before = tell(explorer, capsys, "show")["shown"]
    assert before == env.render("ansi")
    after = tell(explorer, capsys, "double", "show")["shown"]
    env.step(env.action_space["double"])  # type: ignore[index]
    assert after == env.render("ansi") != before


def test_a_text_of_several_lines_begins_on_its_own_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with compiler_gym.make("loop_tool-v0", reward_space="flops_deterministic") as env:
        explorer = Explorer(env, env.datasets.benchmark("loop_tool-cpu-v0/16"))
        explorer.start()
        explorer.obey("observe loop_tree", as_json=False)
        assert "loop_tree: \nfor a in 16 : L0 [thread]\n for a'" in capsys.readouterr().out


def test_a_saved_file_is_reported_and_a_place_that_cannot_be_written_refused(
    explorer: Explorer, env: FakeEnv, capsys: pytest.CaptureFixture[str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(env, "commandline", lambda: "fake add")
    assert tell(explorer, capsys, f"save {tmp_path}/run.sh")["saved"] == f"{tmp_path}/run.sh"
    assert (tmp_path / "run.sh").read_text() == "fake add\n"
    said = tell(explorer, capsys, f"save {tmp_path}/no/run.sh")
    assert "No such file or directory" in said["details"]


def test_blank_lines_and_remarks_are_passed_over_and_quit_is_the_last(
    explorer: Explorer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert explorer.obey("", as_json=True)
    assert explorer.obey("# a remark", as_json=True)
    assert capsys.readouterr().out == ""
    assert not explorer.obey("quit", as_json=True)
    assert not explorer.obey("exit", as_json=True)


def test_the_tab_key_completes_commands_actions_and_spaces(explorer: Explorer) -> None:
    assert {"undo", "help", "double", "vector", "number"} <= set(explorer.words())


def test_every_command_explains_itself(
    explorer: Explorer, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = tell(explorer, capsys, "help")["help"]
    assert all(": " in line for line in lines)
    assert len(lines) == len(set(lines)) > 8
