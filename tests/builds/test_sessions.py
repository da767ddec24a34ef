# SPDX-License-Identifier: MIT
"""Nothing that a build starts outlives whoever started it."""

import subprocess
import time
from pathlib import Path

import pytest

from compiler_gym.builds import in_own_session


def test_a_command_has_a_group_of_its_own_and_no_input(tmp_path: Path) -> None:
    # The fifth word of a process's status is its group: that of the shell is its own.
    text = 'test "$(cut -d" " -f5 /proc/$$/stat)" = $$ && ! read line'
    with in_own_session(["sh", "-c", text], cwd=tmp_path) as command:
        assert command.wait(timeout=60) == 0


def test_what_raises_ends_the_command_and_all_that_it_started() -> None:
    seen: list[int] = []

    def interrupted() -> None:
        words = ["sh", "-c", "sleep 300 & echo $!; wait"]
        with in_own_session(words, stdout=subprocess.PIPE, text=True) as command:
            assert command.stdout is not None
            seen.append(int(command.stdout.readline()))
            raise KeyError

    with pytest.raises(KeyError):
        interrupted()
    deadline = time.monotonic() + 60
    while _is_running(seen[0]) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not _is_running(seen[0])


def _is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
