# SPDX-License-Identifier: MIT
"""The copy of a project is built once, and its own binaries return to it."""

from dataclasses import replace
from pathlib import Path

import pytest

from compiler_gym.errors import ProjectError
from compiler_gym.tools.tune import Request, TuningWatcher
from compiler_gym.tools.tune.project import ProjectCopy
from tests.tools.tune.builds.projects import write_project
from tests.tools.tune.simple_tuner import SimpleTuner


def copied(tmp_path: Path, **options: object) -> ProjectCopy:
    request = Request(("make",), write_project(tmp_path / "project"), tmp_path / "out")
    request = replace(request, **options)  # type: ignore[arg-type]
    project = ProjectCopy(request, SimpleTuner(), TuningWatcher(), lambda: False)
    assert project.prepare(lambda: 7) == 7
    project.copy(is_new=True)
    return project


def test_the_original_of_a_binary_is_kept_and_put_back(tmp_path: Path) -> None:
    project = copied(tmp_path)
    recording = project.record()
    (binary,) = project.choose(recording)
    before = binary.path.read_bytes()
    original = project.keep_original(binary)
    binary.path.write_bytes(b"another build")
    assert project.keep_original(binary) == original
    assert binary.path.read_bytes() == original.read_bytes() == before
    binary.path.write_bytes(b"another build")
    assert project.record().tree == recording.tree
    assert binary.path.read_bytes() == before


def test_an_unknown_binary_is_named_with_the_known_ones(tmp_path: Path) -> None:
    project = copied(tmp_path, binaries=("none",))
    with pytest.raises(ProjectError, match="does not link 'none': choose one of program"):
        project.choose(project.record())


def test_nothing_is_written_if_the_request_cannot_be_read(tmp_path: Path) -> None:
    request = Request(("make",), write_project(tmp_path / "project"), tmp_path / "out")

    def fail() -> None:
        raise ProjectError("no such recipe")

    with pytest.raises(ProjectError, match="no such recipe"):
        ProjectCopy(request, SimpleTuner(), TuningWatcher(), lambda: False).prepare(fail)
    assert not request.output.exists()
