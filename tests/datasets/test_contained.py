# SPDX-License-Identifier: MIT
"""Untrusted programs run within limits, and their runs are measured."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from compiler_gym.datasets import (
    ExpectedOutput,
    MeasuredRuns,
    RunCase,
    RunLimits,
    RunSpec,
    counter_identity,
    run_contained,
)
from compiler_gym.errors import BenchmarkInitError, ObservationError
from compiler_gym.testing import wait_until

SHELL = ("/bin/sh", "-c")
PYTHON = shutil.which("python3", path="/usr/bin:/usr/local/bin") or sys.executable
"""One of the system, which a program in a box may read."""


def running(word: str) -> list[str]:
    """Return the command lines of live processes that hold `word`."""
    found: list[str] = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if word in line:
            found.append(line)
    return found


def test_a_program_gets_its_arguments_files_and_input() -> None:
    case = RunCase(("{dir}/a.txt",), {"a.txt": b"one\n"}, b"two\n", ("made.txt", "missing.txt"))
    ran = run_contained([*SHELL, 'cat "$0" -; echo three > made.txt; exit 3'], case)
    assert (ran.exit_status, ran.stdout, dict(ran.files)) == (
        3,
        b"one\ntwo\n",
        {"made.txt": b"three\n"},
    )
    assert ran.stopped_by is None
    expected = ExpectedOutput.of(3, stdout=b"one\ntwo\n", files={"made.txt": b"three\n"})
    assert expected.differences(ran.outcome) == ()


def test_two_runs_see_the_same_environment_wherever_they_run() -> None:
    ran = run_contained([*SHELL, 'echo "$LC_ALL $TZ"; [ "$HOME" = "$PWD" ]; ls -A'])
    assert (ran.exit_status, ran.stdout) == (0, b"C UTC\n")


def test_a_program_that_hangs_is_ended_at_its_deadline() -> None:
    started = time.monotonic()
    ran = run_contained([*SHELL, "sleep 333.25"], limits=RunLimits(seconds=0.2))
    assert time.monotonic() - started < 30
    assert (ran.stopped_by, ran.exit_status) == ("time", -9)
    assert running("sleep 333.25") == []


def test_a_program_that_prints_without_end_is_ended() -> None:
    ran = run_contained([*SHELL, "yes"], limits=RunLimits(output_bytes=1 << 16))
    assert ran.stopped_by == "output"
    assert len(ran.stdout) <= 1 << 16


def test_a_program_that_fills_the_disk_with_small_files_is_ended() -> None:
    program = "i=0; while :; do i=$((i+1)); head -c 30000 /dev/zero > f$i; done"
    ran = run_contained([*SHELL, program], limits=RunLimits(output_bytes=1 << 16, seconds=20))
    assert ran.stopped_by == "output"


def test_a_program_that_forks_without_end_is_ended() -> None:
    program = "while :; do sleep 44.5 & done"
    ran = run_contained([*SHELL, program], limits=RunLimits(processes=20))
    assert ran.stopped_by == "processes"
    assert running("sleep 44.5") == []


def test_a_daemon_that_left_the_session_ends_with_the_run() -> None:
    ran = run_contained([*SHELL, "setsid -f sleep 55.75; echo done"])
    assert ran.stdout == b"done\n"
    assert wait_until(lambda: not running("sleep 55.75"))


def test_memory_is_bounded() -> None:
    program = "import sys\ntry:\n bytearray(1 << 30)\nexcept MemoryError:\n sys.exit(7)"
    limited = RunLimits(memory_bytes=512 << 20)
    assert run_contained([PYTHON, "-S", "-c", program], limits=limited).exit_status == 7


def test_a_program_ended_by_a_signal_says_which() -> None:
    assert run_contained([*SHELL, "kill -SEGV $$"]).exit_status == -11


def test_a_program_that_cannot_start_is_refused(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("no program")
    with pytest.raises(BenchmarkInitError, match=r"cannot run .*plain: no such program"):
        run_contained([plain])


NESTED = "import os, time\nfor _ in range(1200):\n os.mkdir('d')\n os.chdir('d')\ntime.sleep(0.3)"


@pytest.mark.parametrize("sandbox", ["limits", "none"])  # the folder of another is gone at once
@pytest.mark.parametrize(
    "command",
    [
        (*SHELL, "mkdir d; chmod 0 d; echo x > y"),
        (*SHELL, 'rmdir "$PWD" || true'),
        (PYTHON, "-S", "-c", NESTED),
    ],
    ids=["closed", "removed", "deep"],
)
def test_no_scratch_directory_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], sandbox: str
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    ran = run_contained(command, limits=RunLimits(seconds=60), sandbox=sandbox)
    assert (ran.exit_status, ran.stopped_by) == (0, None)
    assert os.listdir(tmp_path) == []


def test_the_directory_of_a_process_that_was_killed_goes_with_the_next_run(tmp_path: Path) -> None:
    run = (
        "from compiler_gym.datasets import run_contained;"
        "run_contained(['/bin/sh', '-c', {!r}], sandbox='none')"
    )
    variables = {**os.environ, "TMPDIR": str(tmp_path)}

    def started(script: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, "-c", run.format(script)], env=variables)

    # Above the program is its watcher, above that its guard, and then the process that asked.
    guard = '$(cut -d" " -f4 /proc/$PPID/stat)'
    assert started(f'kill -9 $(cut -d" " -f4 /proc/{guard}/stat)').wait() == -signal.SIGKILL
    (left,) = os.listdir(tmp_path)
    other = started(f"ls {tmp_path} > {tmp_path}/seen; sleep 0.5")
    assert other.wait() == 0
    (seen,) = [name for name in (tmp_path / "seen").read_text().split() if name != "seen"]
    assert seen != left, "a live run keeps its own"
    assert os.listdir(tmp_path) == ["seen"]


SAYS = ExpectedOutput.of(stdout=b"small\n")


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """Return a program that prints its argument."""
    path = tmp_path / "program"
    path.write_text('#!/bin/sh\necho "$1"\n')
    path.chmod(0o755)
    return path


def test_times_are_of_the_largest_case(program: Path) -> None:
    wrong = ExpectedOutput.of(stdout=b"something else\n")
    small = RunCase(("small",), expected=SAYS, size="small")
    ref = RunCase(("ref",), name="ref/0", size="ref")
    wrong_small = RunCase(("small",), expected=wrong, size="small")
    wrong_ref = RunCase(("ref",), expected=wrong, name="ref/0", size="ref")
    assert len(MeasuredRuns(RunSpec((wrong_small, ref))).seconds(program, count=2, warmups=1)) == 2
    with pytest.raises(ObservationError, match="failed case 'ref/0': standard output"):
        MeasuredRuns(RunSpec((small, wrong_ref))).seconds(program, count=1)


def test_two_programs_are_run_alternately(program: Path) -> None:
    runs = MeasuredRuns(RunSpec.single(("small",), expected=SAYS))
    one, other = runs.in_turns((program, program), count=3, warmups=1)
    assert (len(one), len(other)) == (3, 3)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("echo other", "standard output"),
        ("echo small; exit 3", "exit status 3 instead of 0"),
        ("kill -SEGV $$", "killed by signal 11"),
        ("sleep 5", "exceeded its limit of time"),
        ("echo help >&2; exit 1", "help"),
    ],
)
def test_a_run_that_fails_is_not_a_measurement(text: str, reason: str, program: Path) -> None:
    program.write_text(f"#!/bin/sh\n{text}\n")
    runs = MeasuredRuns(RunSpec.single(("small",), expected=SAYS, time_limit=0.5))
    assert not runs.succeeds(program)
    with pytest.raises(ObservationError, match=reason):
        runs.seconds(program, count=1)


@pytest.mark.parametrize(
    ("spec", "reason"),
    [(None, "has no RunSpec"), (RunSpec(()), "RunSpec has no cases")],
)
def test_a_program_without_a_run_spec_reports_it(
    spec: RunSpec | None, reason: str, program: Path
) -> None:
    runs = MeasuredRuns(spec)
    assert not runs.is_known
    assert not runs.succeeds(program)
    assert runs.link_flags == ()
    with pytest.raises(ObservationError, match=reason):
        runs.seconds(program, count=1)


def test_instructions_are_counted_of_a_binary() -> None:
    try:
        identity = counter_identity()
    except ObservationError as error:
        pytest.skip(str(error))
    assert identity
    counted = MeasuredRuns(RunSpec.single()).instructions(Path("/bin/true"))
    assert 10_000 < counted < 100_000_000
