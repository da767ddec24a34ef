# SPDX-License-Identifier: MIT
"""The report lies in the output folder, for people and for programs."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from compiler_gym.errors import ProjectError
from compiler_gym.tools.tune import Request, TuningJob, write_report
from tests.tools.tune.builds.projects import write_project
from tests.tools.tune.simple_tuner import SimpleTuner


def test_page_and_json_are_written_or_refused(tmp_path: Path) -> None:
    project = write_project(tmp_path / "project")
    request = Request(("make",), project, tmp_path / "out", seconds=1.0)
    results = TuningJob(request, SimpleTuner("-Os")).run()
    summary = write_report(request, results, compiler="simple 1", others=[], is_interrupted=True)
    assert json.loads((request.output / "report.json").read_text()) == json.loads(
        json.dumps(summary.to_json())
    )
    page = (request.output / "report.html").read_text()
    assert "program" in page
    assert "stopped early" in page
    (tmp_path / "file").touch()
    lost = replace(request, output=tmp_path / "file")
    with pytest.raises(ProjectError, match="cannot write to"):
        write_report(lost, results, compiler="simple 1", others=[], is_interrupted=False)
