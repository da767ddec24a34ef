# SPDX-License-Identifier: MIT
"""Profiles of our own runs and from elsewhere, and what is wrong with them."""

import shutil
from pathlib import Path

import pytest

from compiler_gym.errors import ProjectError
from compiler_gym.tools.tune.llvm.linking import Linker
from compiler_gym.tools.tune.llvm.profiling import Profiler
from tests.stand_ins import always
from tests.tools.tune.llvm.hot_and_cold import linker_of, make_project, run_of

SAMPLES = "hot:9000:1\n 3: 1000\n 4: 1000\n 5: 1000\nmain:100:1\n 2: 1\n"
"""What AutoFDO writes as text: functions, lines from their first one, and counts."""


@pytest.fixture
def linker(tmp_path: Path) -> Linker:
    return linker_of(make_project(tmp_path / "project"))


def test_a_profile_from_another_tool_is_used(linker: Linker, tmp_path: Path) -> None:
    profiler = Profiler(linker)
    made = profiler.train_profile(run_of(linker.binary))
    assert made is not None
    raw = next(made.with_name("raw").glob("*.profraw"))
    samples = tmp_path / "samples.txt"
    samples.write_text(SAMPLES)
    found = [profiler.read_profile(file, linker.binary.path) for file in (made, raw, samples)]
    assert [path.suffix for path in found] == [".profdata", ".profdata", ".afdo"]
    assert profiler.notes[0] == f"the profile {made.name} covers 3 of 3 functions"
    assert "2 of 3 functions" in profiler.notes[2]


def test_a_run_that_fails_or_runs_something_else_leaves_no_profile(linker: Linker) -> None:
    profiler = Profiler(linker)
    for text, said in (
        ("./program 100; exit 3", "exited with status 3"),
        ("true", "wrote no profile; it must run the program"),
    ):
        assert profiler.train_profile(run_of(linker.binary, text)) is None
        assert said in profiler.notes[-1]


def test_a_profile_of_another_program_is_refused(linker: Linker, tmp_path: Path) -> None:
    samples = tmp_path / "other.txt"
    samples.write_text("elsewhere:9000:1\n 3: 1000\n")
    with pytest.raises(ProjectError, match=r"the profile .* matches none of .* 3 functions"):
        Profiler(linker).read_profile(samples, linker.binary.path)


def test_an_invalid_profile_is_refused(
    linker: Linker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    profiler, file = Profiler(linker), tmp_path / "some.profile"
    with pytest.raises(ProjectError, match="cannot read the profile"):
        profiler.read_profile(file, linker.binary.path)
    file.write_bytes(b"hello, world, nothing of use")
    with pytest.raises(ProjectError, match="clang cannot use the profile"):
        profiler.read_profile(file, linker.binary.path)
    file.write_bytes(b"PERFILE2 and no more")
    if shutil.which("create_llvm_prof"):
        with pytest.raises(ProjectError, match="perf record -b"):
            profiler.read_profile(file, linker.binary.path)
    monkeypatch.setattr(shutil, "which", always(None))
    with pytest.raises(ProjectError, match="apt install autofdo"):
        profiler.read_profile(file, linker.binary.path)
