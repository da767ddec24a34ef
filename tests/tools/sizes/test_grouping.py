# SPDX-License-Identifier: MIT
"""The names of groups are the choices of `--by`."""

from compiler_gym.tools.sizes import Grouping
from tests.command_line import Run


def test_every_group_is_a_choice_of_the_command(cli: Run) -> None:
    assert f"[{'|'.join(Grouping)}]" in cli("size", "--help").output.replace("\n", "")
