# SPDX-License-Identifier: MIT
import os
import re
import subprocess
import sys

import pytest

import compiler_gym
from compiler_gym.core import Listing
from compiler_gym.core.rendering import difference, fold
from compiler_gym.spaces import action_name
from compiler_gym.wrappers import TimeLimit

PLAIN = Listing("text", "#", begin=r"fn (\w+)", end=r"end")


def program(**functions: int) -> str:
    lines = ["top"]
    for name, count in functions.items():
        lines += [f"fn {name}", *(f"  line {i}" for i in range(count)), "end", ""]
    return "\n".join(lines)


def test_a_text_that_fits_is_left_as_it_is() -> None:
    text = program(one=5, two=5)
    assert fold(text, PLAIN, height=text.count("\n") + 1) == text


def test_a_longer_one_loses_the_bodies_of_its_functions_and_reports_it() -> None:
    text = program(one=500, two=2, three=3)
    folded = fold(text, PLAIN, height=20)
    assert "fn one\n  # ... 500 lines\nend" in folded
    assert "line 7" not in folded
    assert folded.endswith(f'# {text.count(chr(10)) + 1} lines in all: render("ansi") returns them')


def test_functions_beyond_some_screens_are_counted() -> None:
    folded = fold(program(**{f"f{i}": 9 for i in range(300)}), PLAIN, height=10)
    assert folded.count("\n") < 50
    shown = folded.count("fn f")
    assert f"# ... {300 - shown} more functions" in folded


def test_the_text_between_functions_is_cut_too() -> None:
    folded = fold("\n".join(f"global {i}" for i in range(100)), PLAIN, height=10)
    assert "# ... 92 lines" in folded


def test_a_difference_names_the_functions_that_changed_and_counts_lines() -> None:
    before, after = program(one=3, two=3, gone=1), program(one=3, two=4, new=2)
    lines, added, removed = difference(before, after, PLAIN)
    text = "\n".join(lines)
    assert "+++ two" in text
    assert "+  line 3" in lines
    assert "--- new" in text
    assert "--- gone" in text
    assert "+++ one" not in text
    assert (added, removed) == (1 + 4, 3)


def test_equal_texts_have_no_difference() -> None:
    assert difference(program(one=3), program(one=3), PLAIN)[0] == []


@pytest.mark.parametrize(
    ("id", "reward", "action"),
    [("llvm-v0", "IrInstructionCount", "sroa"), ("gcc-v0", "obj_size", "-Os")],
)
def test_a_difference_says_what_the_last_action_did(id: str, reward: str, action: str) -> None:
    with compiler_gym.make(id, benchmark="cbench-v1/crc32", reward_space=reward) as env:
        env.reset()
        assert "no action yet" in (env.render("ansi_diff") or "")
        env.step(0)
        before = env.observation[reward]
        earned = env.step(env.action_space[action])[1]
        text = env.render("ansi_diff") or ""
        after = env.observation[reward]
        assert f"action 2, {action}" in text
        assert f"reward {earned:.6g} ({reward})" in text
        assert f"{reward} {before} before, {after} after" in text
        changes = [line for line in text.splitlines() if re.match(r"[+-](?![+-])", line)]
        plus = sum(line.startswith("+") for line in changes)
        assert f"{plus:,} lines added, {len(changes) - plus:,} lines removed" in text
        assert TimeLimit(env, max_episode_steps=5).render("ansi_diff") == text
        assert env.actions[1:] == [env.action_space[action]]
        assert env.episode_reward is not None


@pytest.mark.parametrize("space", ["OptionThenValue", "Categorical"])
def test_a_difference_is_shown_in_every_action_space_of_gcc(space: str) -> None:
    with compiler_gym.make("gcc-v0", action_space=space, benchmark="cbench-v1/crc32") as env:
        env.reset(seed=1)
        name = action_name(env.action_space, 1)
        env.step(1)
        assert f"action 1, {name}\n" in (env.render("ansi_diff") or "")


def test_a_difference_without_a_reward_space_has_no_reward() -> None:
    with compiler_gym.make("llvm-v0", benchmark="cbench-v1/crc32") as env:
        env.reset()
        env.step(env.action_space["sroa"])
        assert "reward" not in (env.render("ansi_diff") or "").partition("---")[0]


PROGRAM = """
import compiler_gym
with compiler_gym.make("llvm-v0", benchmark="cbench-v1/crc32") as env:
    env.reset()
    env.render()
"""


def test_output_to_a_file_is_the_whole_program_without_colours() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, check=True)
    assert b"\x1b[" not in done.stdout
    assert done.stdout.count(b"\n") > 500


def test_a_terminal_gets_colours_and_a_screen_or_so() -> None:
    ours, theirs = os.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", "LINES": "24"}
    environment.pop("NO_COLOR", None)
    with subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=theirs, env=environment) as run:
        os.close(theirs)
        shown = b""
        while True:
            try:
                part = os.read(ours, 1 << 16)
            except OSError:  # how Linux says that the other end is closed
                break
            shown += part
            if not part:
                break
    os.close(ours)
    assert run.returncode == 0
    assert b"\x1b[" in shown
    text = re.sub(rb"\x1b\[[0-9;]*m", b"", shown)
    assert b"lines in all" in text
    assert text.count(b"\n") < 6 * 24
