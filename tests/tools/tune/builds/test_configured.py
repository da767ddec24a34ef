# SPDX-License-Identifier: MIT
"""A copy of a project that was configured builds itself, and never the original."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from compiler_gym.errors import ProjectError
from compiler_gym.tools.tune.builds import configuring, copy_tree

CMAKE = """cmake_minimum_required(VERSION 3.16)
project(p C)
option(LOUD "Print more." OFF)
add_executable(program main.c)
"""
MESON = "project('p', 'c')\nexecutable('program', 'main.c')\n"
PATH = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
needs_cmake = pytest.mark.skipif(shutil.which("cmake") is None, reason="needs cmake")


def run(text: str, cwd: Path) -> str:
    environment = {**os.environ, "PATH": PATH}
    done = subprocess.run(
        ["sh", "-ec", text], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "a project"
    folder.mkdir()
    (folder / "main.c").write_text("int main(void) { return 0; }\n")
    (folder / "CMakeLists.txt").write_text(CMAKE)
    (folder / "meson.build").write_text(MESON)
    return folder


def names_in(folder: Path, text: str) -> list[str]:
    """Return the files below `folder` that name the place `text`."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return [str(path) for path in files if text.encode() in path.read_bytes()]


@needs_cmake
@pytest.mark.parametrize("place", ["build", "deep/er/build", "."])
@pytest.mark.parametrize("generator", ["Unix Makefiles", "Ninja"])
def test_a_configured_cmake_project_builds_in_its_copy(
    project: Path, tmp_path: Path, place: str, generator: str
) -> None:
    run(f"cmake -B {place} -G '{generator}' -DLOUD=ON && cmake --build {place}", project)
    before = (project / place / "CMakeCache.txt").read_bytes()
    copy = tmp_path / "copy"
    copy_tree(project, copy)
    assert names_in(copy, f"{project}/") == []
    assert configuring(project, copy) == [f"cmake {place}"]
    run(f"cmake {place} && cmake --build {place}", copy)
    cache = (copy / place / "CMakeCache.txt").read_text()
    assert "LOUD:BOOL=ON" in cache
    assert f"CMAKE_HOME_DIRECTORY:INTERNAL={copy}\n" in cache
    assert f"CMAKE_GENERATOR:INTERNAL={generator}\n" in cache
    assert (project / place / "CMakeCache.txt").read_bytes() == before


@needs_cmake
def test_a_command_that_configures_works_in_the_copy(project: Path, tmp_path: Path) -> None:
    build = "cmake -B build -DLOUD=ON && cmake --build build"
    run(build, project)
    copy_tree(project, tmp_path / "copy")
    run(build, tmp_path / "copy")


@needs_cmake
def test_a_build_directory_alone_is_refused_with_what_to_do(project: Path, tmp_path: Path) -> None:
    run("cmake -B build", project)
    with pytest.raises(ProjectError, match="is a build directory, but its sources are in"):
        copy_tree(project / "build", tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


@pytest.mark.skipif(
    not (shutil.which("meson", path=PATH) and shutil.which("ninja", path=PATH)),
    reason="needs meson and ninja",
)
def test_a_configured_meson_project_builds_in_its_copy(project: Path, tmp_path: Path) -> None:
    run("meson setup out -Dbuildtype=release -Dc_args='-DA -DB=1' && ninja -C out", project)
    copy = tmp_path / "copy"
    copy_tree(project, copy)
    (command,) = configuring(project, copy)
    run(f"{command} && ninja -C out", copy)
    assert "-O3 -DA -DB=1" in (copy / "out" / "build.ninja").read_text()
    assert names_in(copy / "out", f"{project}/") == []


def test_configured_files_name_the_copy_and_keep_their_times(project: Path, tmp_path: Path) -> None:
    (project / "config.status").write_text(f"srcdir='{project}'\nother='{project}-2'\n")
    (project / "Makefile").write_text(f"top = {project}\nprogram: main.c\n")
    (project / "notes.txt").write_text(str(project))
    copy = tmp_path / "copy"
    copy_tree(project, copy)
    assert (copy / "Makefile").read_text() == f"top = {copy}\nprogram: main.c\n"
    assert (copy / "config.status").read_text() == f"srcdir='{copy}'\nother='{project}-2'\n"
    assert (copy / "notes.txt").read_text() == str(project)
    for name in ("Makefile", "config.status"):
        assert (copy / name).stat().st_mtime_ns == (project / name).stat().st_mtime_ns


def test_the_users_makefile_is_copied_unchanged(project: Path, tmp_path: Path) -> None:
    (project / "Makefile").write_text(f"top = {project}\n")
    copy_tree(project, tmp_path / "copy")
    assert (tmp_path / "copy" / "Makefile").read_text() == f"top = {project}\n"
    assert configuring(project, tmp_path / "copy") == []
