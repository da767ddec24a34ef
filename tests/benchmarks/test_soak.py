# SPDX-License-Identifier: MIT
"""The soak breaks workers, counts what happened, and finds what is left behind."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.soak import INTERRUPTED, Options, Report, figures, main, run_apart
from compiler_gym.testing import descendants

ROOT = Path(__file__).parents[2]
SHORT = Options(
    steps=120, programs=("crc32", "sha"), crash_every=25, fork_every=20, observe_every=10,
    validate_every=60, seed=3,
)  # fmt: skip


@pytest.mark.slow
def test_a_short_soak_leaves_nothing() -> None:
    report = run_apart(SHORT, is_quiet=True)
    assert report.is_well, (report.wrong, report.left)
    assert report.steps == SHORT.steps
    assert sum(n for name, n in report.counts.items() if name.startswith("planted")) >= 2
    assert report.counts["actions"] > 60
    assert report.counts["forks"] >= 1
    assert report.counts["observations"] >= 1


@pytest.mark.slow
def test_it_can_be_interrupted_and_reports_it(tmp_path: Path) -> None:
    answer = tmp_path / "report.json"
    command = [
        sys.executable,
        "-m",
        "benchmarks.soak",
        "--programs",
        "crc32",
        "--json",
        str(answer),
    ]
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    assert process.stderr is not None
    assert b"steps in" in process.stderr.readline() + process.stderr.readline()
    os.killpg(process.pid, signal.SIGINT)
    said, _ = process.communicate(timeout=120)
    assert process.returncode == INTERRUPTED, said.decode()
    assert b"all is well" in said
    assert b"actions" in said
    assert '"is_interrupted": true' in answer.read_text()


def test_time_ends_it(capsys: pytest.CaptureFixture[str]) -> None:
    started = time.monotonic()
    assert main(["--seconds", "1", "--programs", "crc32", "--quiet"]) == 0
    assert time.monotonic() - started < 60
    assert "all is well" in capsys.readouterr().out


@pytest.mark.parametrize(
    "report",
    [
        Report(1, 1.0, wrong=["a step raised"]),
        Report(1, 1.0, left=["file tmp/x"]),
        Report(1, 1.0, memory=[100] * 10 + [200] * 10),
    ],
    ids=["wrong", "left", "grown"],
)
def test_errors_and_leftovers_are_not_a_success(report: Report) -> None:
    assert not report.is_well
    assert replace(report, wrong=[], left=[], memory=[]).is_well
    assert any(figure.holds is False for figure in figures(report))


def test_a_file_and_a_process_that_are_left_are_found(tmp_path: Path) -> None:
    from benchmarks import soak

    for part in soak._DIRECTORIES.values():  # pyright: ignore[reportPrivateUsage]  # no public name tells
        (tmp_path / part).mkdir()
    (tmp_path / "tmp" / "left").write_text("x")
    (tmp_path / "cache" / "kept").write_text("12345")
    ours = descendants(os.getpid())  # what other tests of this process keep is not to be ended
    child = subprocess.Popen(["sleep", "100"])
    try:
        report = Report()
        soak._count_outside(report, tmp_path, ours=ours)  # pyright: ignore[reportPrivateUsage]  # tested on its own
        assert any("file tmp/left" in one for one in report.left)
        assert any(f"process {child.pid} sleep" in one for one in report.left)
        assert report.counts == {"bytes in the cache": 5}
    finally:
        assert child.wait(timeout=120) == -signal.SIGKILL
