# SPDX-License-Identifier: MIT
"""Debug information beside a tuned binary."""

import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from compiler_gym.builds import read_code
from compiler_gym.tools.tune import Request, TuningJob
from compiler_gym.tools.tune.builds import Binary
from tests.tools.tune.builds.projects import write_project
from tests.tools.tune.simple_tuner import SimpleTuner


@pytest.fixture
def request_(tmp_path: Path) -> Request:
    project = write_project(tmp_path / "project")
    return Request(("make",), project, tmp_path / "out", seconds=1.0)


def test_debug_information_is_handed_over_and_made_again(request_: Request) -> None:
    plain = TuningJob(request_, SimpleTuner("-O1")).run()[0].found.path
    again = replace(request_, output=request_.output.with_name("debug"), debug=True)
    (result,) = TuningJob(again, SimpleTuner("-O1")).run()
    made = ["sh", again.output / "reproduce.sh", again.output / "work" / "tree", again.output / "3"]
    subprocess.run(made, check=True)
    for name in ("program", "program.debug"):
        handed = (again.output / "bin" / name).read_bytes()
        assert handed == (again.output / "3" / name).read_bytes()
    assert b"program.debug" in (again.output / "bin" / "program").read_bytes()
    assert read_code(again.output / "bin" / "program") == read_code(plain)
    assert result.found.notes == ()


def test_code_that_was_not_tested_is_not_handed_over_with_debug_information(
    request_: Request,
) -> None:
    class Other(SimpleTuner):
        def build(self, binary: Binary, *args: Any, **options: Any) -> Path:
            self.flags = (
                (
                    "-O3",
                    "-DADDED=9",
                )
                if binary.command.debug
                else ()
            )
            plan = replace(args[0], flags=self.flags)
            return super().build(binary, plan, *args[1:], **options)

    (result,) = TuningJob(replace(request_, debug=True), Other()).run()
    (note,) = result.found.notes
    assert "-g would change its code" in note
    assert [path.name for path in (request_.output / "bin").iterdir()] == ["program"]
    subprocess.run(["sh", request_.output / "reproduce.sh", request_.output / "work/tree",
                    request_.output / "3"], check=True)  # fmt: skip
