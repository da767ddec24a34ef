# SPDX-License-Identifier: MIT
"""What a tuning writes to its output folder, with debug information on request."""

import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from compiler_gym.builds import CompilerCommand, read_code
from compiler_gym.tools.tune import BinaryPlan, Found, Request, TuningJob, read_tuned
from compiler_gym.tools.tune.builds import Binary
from compiler_gym.tools.tune.handing_over import HandOver, Result, folder_name
from tests.tools.tune.builds.projects import write_project
from tests.tools.tune.simple_tuner import SimpleTuner

# SPDX-License-Identifier: MIT


class Scripted(SimpleTuner):
    """Makes scripts of the names of profiles."""

    def script(self, binary: Binary, plan: BinaryPlan) -> str:
        return f"echo {plan.profile}\n"


def handed_over(folder: Path) -> tuple[Path, list[Result]]:
    made, profile = folder / "made", folder / "program.profdata"
    made.write_bytes(b"the tuned file")
    profile.write_bytes(b"counts")
    command = CompilerCommand.parse(["cc", "a.o", "-o", "a/tool"], folder)
    binary = Binary("a/tool", folder / "a/tool", command, (), folder)
    plan = BinaryPlan("a/tool", "simple", profile=str(profile))
    found = Found(plan, made, {}, 0, 1)
    result = Result(found, binary, {})
    request = Request(("make",), folder, folder / "out")
    told = HandOver(request, Scripted(), lambda text: None).write([result])
    return folder / "out", told


def test_a_binary_a_plan_and_a_script_are_written(tmp_path: Path) -> None:
    output, told = handed_over(tmp_path)
    assert (output / "bin/a/tool").read_bytes() == b"the tuned file"
    (plan,) = read_tuned(output / "tuned.toml").binaries
    assert (output / plan.profile).read_bytes() == b"counts"
    script = output / "reproduce.sh"
    assert f"echo profiles/{Path(plan.profile).name}\n" in script.read_text()
    assert script.stat().st_mode & 0o111
    assert told[0].found.notes == ()


@pytest.mark.parametrize(("one", "other"), [("a/b_c", "a_b/c"), ("a b", "a_b"), ("x", "./x")])
def test_no_two_names_share_a_folder(one: str, other: str) -> None:
    assert folder_name(one) != folder_name(other)


@pytest.fixture
def request_(tmp_path: Path) -> Request:
    project = write_project(tmp_path / "project")
    return Request(("make",), project, tmp_path / "out", seconds=100.0)


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
