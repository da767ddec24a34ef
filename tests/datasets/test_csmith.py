# SPDX-License-Identifier: MIT
"""What csmith writes is a program of its seed, which a compiler reads as it likes."""

from pathlib import Path

import pytest

from compiler_gym.datasets import CsmithBenchmark, CsmithPrograms
from compiler_gym.errors import DatasetInitError


class Shouted(CsmithPrograms):
    """A dataset for a compiler that reads capitals."""

    def make_contents(self, source: bytes) -> bytes:
        return source.upper()


@pytest.fixture
def tool(tmp_path: Path) -> Path:
    """Return a generator that prints its arguments, beside headers of csmith."""
    path = tmp_path / "csmith"
    path.write_text('#!/bin/sh\necho "$@"\n')
    path.chmod(0o755)
    (tmp_path / "csmith.h").touch()
    return path


def test_a_seed_is_written_by_csmith_and_read_by_the_compiler(tool: Path, tmp_path: Path) -> None:
    dataset = Shouted(tmp_path / "site", csmith_bin=tool, csmith_includes=tool.parent)
    program = dataset["7"]
    assert isinstance(program, CsmithBenchmark)
    assert str(program) == "generator://csmith-v0/7"
    assert program.source == "--seed 7\n"
    assert program.contents == b"--SEED 7\n"


def test_a_program_ends_within_ten_seconds_and_repeats_itself(tool: Path, tmp_path: Path) -> None:
    dataset = Shouted(tmp_path / "site", csmith_bin=tool, csmith_includes=tool.parent)
    run = dataset["7"].run
    assert run is not None
    assert (run.time_limit, len(run.cases)) == (10.0, 1)
    assert run.cases[0].expected is None  # compared with a reference build


def test_csmith_is_not_there_without_its_headers(tool: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    dataset = Shouted(tmp_path / "site", csmith_bin=tool, csmith_includes=tmp_path / "empty")
    assert not dataset.installed
    with pytest.raises(DatasetInitError, match="apt install csmith libcsmith-dev"):
        dataset["7"]
