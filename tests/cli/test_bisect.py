# SPDX-License-Identifier: MIT
"""``compiler-gym bisect`` as a shell sees it."""

import json
from pathlib import Path

from tests.command_line import Run, States, write


def test_a_program_that_one_machine_lacks_disagrees_before_any_action(
    cli: Run, tmp_path: Path, states: States
) -> None:
    cli("replay", write(tmp_path / "s.jsonl", states), "--trace", "t.jsonl")
    theirs = (tmp_path / "t.jsonl").read_text().replace("crc32", "crc33")
    (tmp_path / "u.jsonl").write_text(theirs)
    ran = cli("bisect", "u.jsonl", "--json")
    assert ran.status == 1
    rows = json.loads(ran.output)
    assert {row["benchmark"]: row["after"] for row in rows} == {
        row["benchmark"]: 0 if "crc33" in row["benchmark"] else None for row in rows
    }
    assert any("no program 'crc33'" in row["errors"][1] for row in rows)


def test_two_machines_that_disagree_are_bisected(cli: Run, tmp_path: Path, states: States) -> None:
    trace = tmp_path / "t.jsonl"
    assert cli("replay", write(tmp_path / "s.jsonl", states), "--trace", str(trace)).status == 0
    assert [row["after"] for row in cli("bisect", str(trace), "--json").json] == [None, None]
    lines = [json.loads(line) for line in trace.read_text().splitlines()]
    lines[1]["hashes"][2] = "0" * 32
    lines[1]["compiler_version"] = "21.1.0"
    (tmp_path / "u.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    ran = cli("bisect", "u.jsonl", str(trace))
    assert ran.status == 1
    assert "action 2: gvn" in ran.output
    assert "21.1.0 / 22" in ran.output
