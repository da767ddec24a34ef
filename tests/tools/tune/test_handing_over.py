# SPDX-License-Identifier: MIT
from pathlib import Path

import pytest

from compiler_gym.builds import CompilerCommand
from compiler_gym.tools.tune import BinaryPlan, Found, Request, read_tuned
from compiler_gym.tools.tune.builds import Binary
from compiler_gym.tools.tune.handing_over import HandOver, Result, folder_name
from tests.tools.tune.simple_tuner import SimpleTuner


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
    result = Result(found, binary, {}, ())
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
