# SPDX-License-Identifier: MIT
"""The groups are the choices of `--by`."""

from compiler_gym.tools.sizes import Grouping
from tests.command_line import Run


def test_the_help_lists_every_group(cli: Run) -> None:
    said = cli("size", "--help").output
    assert all(str(group) in said for group in Grouping)


def test_another_group_is_refused(cli: Run) -> None:
    said = cli("size", "none", "--by", "planet")
    assert said.status == 2
    assert "namespace" in said.errors
