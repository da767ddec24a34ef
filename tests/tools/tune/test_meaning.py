# SPDX-License-Identifier: MIT
"""What a decision does goes from the tuner to what is handed over."""

from pathlib import Path

from compiler_gym.tools.tune import Request, TuningJob, write_report
from tests.tools.tune.builds.projects import write_project
from tests.tools.tune.simple_tuner import SimpleTuner


def test_decisions_and_passes_are_reported(tmp_path: Path) -> None:
    project = write_project(tmp_path / "project")
    request = Request(("make",), project, tmp_path / "out", seconds=1.0)
    tuner = SimpleTuner("-O1", passes="-fno-inline")
    summary = write_report(
        request,
        TuningJob(request, tuner).run(),
        compiler="simple 1",
        others=(),
        is_interrupted=False,
    )
    (binary,) = summary.binaries
    assert {d.name: d.meaning for d in binary.decisions} == {
        "passes": "Says passes.", "flag -O1": "Says flag -O1."
    }  # fmt: skip
    assert {d.link for d in binary.decisions} == {"https://example.org/"}
    assert binary.steps == {"-fno-inline": "Says pass -fno-inline."}
