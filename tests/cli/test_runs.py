# SPDX-License-Identifier: MIT
"""``runs``, ``search --run`` and ``leaderboard`` as a shell sees them."""

import json
from pathlib import Path

from tests.command_line import Run, run_until_killed

CRC = "cbench-v1/crc32"


def test_a_killed_search_resumes_with_its_results(cli: Run, tmp_path: Path) -> None:
    arguments = ("search", CRC, "--steps", "100", "--jobs", "1", "--run", str(tmp_path / "run"))
    run_until_killed("compiler_gym.runs:RunFolder.record", 2, *arguments)
    kept = tmp_path / "run" / "episodes.jsonl"
    best = max(json.loads(line)["result"]["reward"] for line in kept.read_text().splitlines())
    unfinished = cli("runs", str(tmp_path), "--json").json
    assert [run["is_done"] for run in unfinished] == [False]
    ran = cli(*arguments, "--json")
    assert ran.json["results"][0]["reward"] >= best
    assert cli("runs", str(tmp_path), "--json").json[0]["is_done"]
    other = cli("search", CRC, "--steps", "9", "--run", str(tmp_path / "run"))
    assert other.status == 2
    assert "has a run whose config" in other.errors


def test_runs_are_listed_compared_and_drawn(cli: Run, tmp_path: Path) -> None:
    for name, steps in (("one", "20"), ("two", "30")):
        cli("search", CRC, "--steps", steps, "--jobs", "1", "--run", f"runs/{name}")
    ran = cli("runs", "runs", "--compare", "--plot", "rewards.png")
    assert "runs/one" in ran.output
    assert "config.steps" in ran.output
    assert (tmp_path / "rewards.png").read_bytes().startswith(b"\x89PNG")


def test_headings_and_times_are_broken_between_words_next_to_long_names(cli: Run) -> None:
    for name in ("a" * 60, "short"):
        cli("search", CRC, "--steps", "5", "--jobs", "1", "--run", name)
    screen = {"TTY_COMPATIBLE": "1", "TERM": "dumb", "NO_COLOR": "1", "COLUMNS": "80"}
    words = cli("runs", "a" * 60, "short", **screen).output.split()
    assert {"Run", "Kind", "Started", "Episodes", "Mean", "reward", "Seconds"} <= {*words}
    assert sum(len(word) == len("2026-11-24") and word.count("-") == 2 for word in words) == 2
    assert sum(word.count(":") == 2 for word in words) == 2


def test_a_policy_is_evaluated_submitted_verified_and_ranked(cli: Run) -> None:
    few = ("--program", f"benchmark://{CRC}", "--program", "benchmark://cbench-v1/sha")
    folder = "board/llvm-ic-1s/Oz"
    ran = cli(
        "leaderboard", "run", "llvm-ic-1s", "level:-Oz", *few, "--output", folder, "--name", "Oz"
    )
    assert ran.status == 0, ran.errors
    assert "1.0000 [1.0000, 1.0000]" in ran.output
    verified = cli("leaderboard", "verify", folder, "--rungs", "run")
    assert verified.status == 1
    assert "a program of the task is missing" in verified.output
    assert "another cost" not in verified.output
    assert "| 1 | Oz |" in cli("leaderboard", "table", "--root", "board").output


def test_tasks_are_listed(cli: Run) -> None:
    names = [task["task"] for task in cli("leaderboard", "tasks", "--json").json]
    assert {"llvm-ic-1s", "llvm-ic-10s", "llvm-ic-60s", "llvm-textsize-10s"} <= set(names)
    assert {"llvm-ic-unseen", "llvm-instructions-60s"} <= set(names)


def test_a_folder_of_runs_that_is_not_there_is_reported(cli: Run, tmp_path: Path) -> None:
    ran = cli("runs", "missing")
    assert ran.status == 2
    assert "there is no folder missing" in ran.errors
    assert "no runs found" in cli("runs", str(tmp_path)).output
