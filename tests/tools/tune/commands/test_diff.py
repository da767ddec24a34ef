# SPDX-License-Identifier: MIT
"""``compiler-gym tune diff``."""

import json
from pathlib import Path

from compiler_gym.tools.tune import BinaryPlan, BuildPlan, SourceFile, write_plan
from tests.command_line import Run


def write(path: Path, text: int, option: str, digest: str = "1") -> Path:
    binary = BinaryPlan(
        "tool", "program", "function(gvn)", {"misched": option},
        sizes={"tuned": {"text": text, "total": 5000}}, sources=(SourceFile("a.c", digest),),
    )  # fmt: skip
    return write_plan(path, BuildPlan("llvm 22", "size", "1.0", (binary,)))


def test_differences_are_shown_and_more_code_is_status_1(cli: Run, tmp_path: Path) -> None:
    write(tmp_path / "a.toml", 1000, "ilpmax")
    write(tmp_path / "b.toml", 1100, "ilpmin", "9")
    ran = cli("tune", "diff", "a.toml", "b.toml")
    assert ran.status == 1
    for shown in (
        "1,000", "1,100", "10.0 % larger", "- option misched=ilpmax", "+ option misched=ilpmin",
        "sources changed: a.c",
    ):  # fmt: skip
        assert shown in ran.output, shown
    back = cli("tune", "diff", "b.toml", "a.toml")
    assert back.status == 0
    assert "9.1 % smaller" in back.output


def test_json_is_alone_and_keeps_the_status(cli: Run, tmp_path: Path) -> None:
    write(tmp_path / "a.toml", 1000, "ilpmax")
    write(tmp_path / "b.toml", 1100, "ilpmax")
    ran = cli("tune", "diff", "--json", "a.toml", "b.toml")
    assert ran.status == 1
    document = json.loads(ran.output)
    assert document["is_worse"] is True
    assert document["binaries"][0]["sizes"]["text"] == [1000, 1100]


def test_an_invalid_plan_is_refused(cli: Run, tmp_path: Path) -> None:
    write(tmp_path / "a.toml", 1000, "ilpmax")
    (tmp_path / "b.toml").write_text("version = 99\n")
    for second, said in (("b.toml", "has version 99"), ("c.toml", "cannot read")):
        ran = cli("tune", "diff", "a.toml", second)
        assert ran.status == 2
        assert said in ran.errors
    assert cli("tune", "diff", "a.toml").status == 2
    assert "Exit status" in cli("tune", "diff", "--help").output
