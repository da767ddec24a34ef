# SPDX-License-Identifier: MIT
"""What was given to this process is the user's own; what a dataset holds is not."""

import pytest

from compiler_gym.sandbox import is_own


@pytest.mark.parametrize(
    ("uri", "own"),
    [
        ("benchmark://user-v0/0a1b", True),
        ("benchmark://user-v0/0a1b?goal=speed", True),
        ("file:///home/me/program.c", True),
        ("benchmark://cbench-v1/crc32", False),
        ("benchmark://anghabench-v1/x/user-v0/y", False),
        ("benchmark://user-v00/x", False),
        ("generator://csmith-v0/7", False),
    ],
)
def test_whose_a_program_is(uri: str, own: bool) -> None:
    assert is_own(uri) is own
