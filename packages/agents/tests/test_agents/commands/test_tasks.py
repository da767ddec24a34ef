# SPDX-License-Identifier: MIT
"""``compiler-gym tasks`` lists tasks and writes them as JSON lines."""

from pathlib import Path

from compiler_gym_agents import AgentTask, find_task, tasks
from tests.command_line import Run

TASK = "fewer-instructions/cbench-v1/crc32"


def test_tasks_are_written_as_json_lines_that_are_read_again(cli: Run, tmp_path: Path) -> None:
    file = tmp_path / "tasks.jsonl"
    said = cli("tasks", "--split", "test", "--family", "inline-by-hand", "--output", str(file))
    written = tuple(AgentTask.parse_raw(line) for line in file.read_text().splitlines())
    assert written == tasks("test", "inline-by-hand")
    assert f"wrote {len(written)} tasks to" in said.output


def test_families_are_counted_by_split_and_a_task_shows_its_prompt(cli: Run) -> None:
    shown = cli("tasks").output
    for word in ("Family", "validation", "find-the-miscompile"):
        assert word in shown
    assert "IrInstructionCountOz" in cli("tasks", TASK).output
    assert cli("tasks", TASK, "--json").json["tasks"][0]["id"] == find_task(TASK).id


def test_an_unknown_split_is_refused_with_those_there_are(cli: Run) -> None:
    ran = cli("tasks", "--split", "exam")
    assert ran.status != 0
    assert "no split 'exam'" in ran.errors
