# SPDX-License-Identifier: MIT
"""Nothing that a build starts outlives whoever started it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from compiler_gym.sandbox import Printed, in_own_session, run_in_own_session


def test_a_command_has_its_own_group_and_no_input(tmp_path: Path) -> None:
    # The fifth word of a process's status is its group: that of the shell is its own.
    text = 'test "$(cut -d" " -f5 /proc/$$/stat)" = $$ && ! read line'
    with in_own_session(["sh", "-c", text], cwd=tmp_path) as command:
        assert command.wait(timeout=60) == 0


def test_an_exception_ends_the_command_and_its_processes() -> None:
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


def ends(process: int) -> bool:
    deadline = time.monotonic() + 60
    while _is_running(process) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not _is_running(process)


WAITING = "setsid sh -c 'sleep 1000 & echo $!; wait' & timeout 1000 sleep 1000 & echo $!; wait"
"""Starts processes in a session and in groups of their own."""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_outlives_a_killed_caller(number: int) -> None:
    text = (
        "import sys\nfrom pathlib import Path\n"
        "from compiler_gym.sandbox import run_in_own_session\n"
        "run_in_own_session(['sh', '-c', sys.argv[1]], cwd=Path('/'), environment={},"
        " takes=lambda part: print(part.decode(), end='', flush=True))\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", text, WAITING], stdout=subprocess.PIPE, text=True
    ) as asked:
        assert asked.stdout is not None
        started = [int(asked.stdout.readline()) for _ in range(2)]
        assert all(map(_is_running, started))
        asked.send_signal(number)
        asked.wait(timeout=60)
    assert all(map(ends, started))


def test_background_processes_end_with_their_command() -> None:
    printed = Printed()
    ended = run_in_own_session(
        ["sh", "-c", "sleep 1000 & echo $!; exit 3"], cwd=Path("/"), environment={},
        takes=printed.add,
    )  # fmt: skip
    assert ended.status == 3
    assert ends(int(printed.text()))


def test_a_limit_of_time_and_a_poll_end_a_command() -> None:
    printed = Printed()
    words = ["sh", "-c", "echo $$; exec sleep 1000"]
    with pytest.raises(subprocess.TimeoutExpired):
        run_in_own_session(
            words, cwd=Path("/"), environment={}, takes=printed.add, seconds=0.5
        )  # fmt: skip

    def poll() -> None:
        if printed.text().count("\n") == 2:
            raise KeyError

    with pytest.raises(KeyError):
        run_in_own_session(words, cwd=Path("/"), environment={}, takes=printed.add, poll=poll)
    assert all(ends(int(line)) for line in printed.text().split())


def test_a_signal_is_128_plus_its_number_and_a_missing_program_is_reported(tmp_path: Path) -> None:
    words = ["sh", "-c", "kill -9 $$"]
    ended = run_in_own_session(words, cwd=tmp_path, environment={}, takes=lambda part: None)
    assert ended.status == 137
    with pytest.raises(FileNotFoundError):
        run_in_own_session(["/no/such"], cwd=tmp_path, environment={}, takes=lambda part: None)


def test_of_much_output_the_beginning_and_the_end_are_kept() -> None:
    printed = Printed(most=1000)
    run_in_own_session(
        ["sh", "-c", "echo first; yes | head -c 3000000; echo last"], cwd=Path("/"),
        environment={"PATH": os.defpath}, takes=printed.add,
    )  # fmt: skip
    assert printed.count == 3_000_011
    text = printed.text()
    assert text.startswith("first\ny\n")
    assert text.endswith("y\nlast\n")
    assert "bytes left out" in text
    assert len(text) < 2100
