# SPDX-License-Identifier: MIT
"""A seed always gives the same program."""

from pathlib import Path

import pytest

from compiler_gym.datasets import Benchmark, CsmithBenchmark, CsmithPrograms, SeededDataset
from compiler_gym.errors import BenchmarkInitError, DatasetInitError, UnknownNameError


class Written(SeededDataset):
    """Programs of a tool that is a line of shell script."""

    tool = "scribe"
    install_command = "apt install scribe"
    _suffix = ".txt"

    def __init__(self, path: Path, site: Path | None = None) -> None:
        super().__init__("generator://written-v0", "Texts", "MIT", site_data_base=site)
        self.path = path

    def _find(self) -> str | None:
        return str(self.path) if self.path.is_file() else None

    def _arguments(self, seed: int) -> list[str]:
        return [str(seed)]

    def _benchmark(self, seed: int, source: bytes) -> Benchmark:
        return Benchmark(f"{self.name}/{seed}", source)


def scribe(folder: Path, line: str) -> Path:
    path = folder / "scribe"
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)
    return path


def test_a_program_is_written_once_for_a_seed_and_a_tool(tmp_path: Path) -> None:
    tool = scribe(tmp_path, f'echo "$1"; echo run >> {tmp_path / "log"}')
    dataset = Written(tool, tmp_path / "site")
    assert [dataset["3"].contents for _ in range(2)] == [b"3\n"] * 2
    assert (tmp_path / "log").read_text().split() == ["run"]
    scribe(tmp_path, 'echo "another $1"')
    assert Written(tool, tmp_path / "site")["3"].contents == b"another 3\n"


def test_there_is_no_end_of_seeds(tmp_path: Path) -> None:
    dataset = Written(scribe(tmp_path, 'echo "$1"'))
    assert dataset.size == 0
    uris = dataset.benchmark_uris()
    assert [next(uris) for _ in range(2)] == [f"generator://written-v0/{seed}" for seed in (0, 1)]
    assert dataset[2**32 - 2].contents == b"4294967294\n"


@pytest.mark.parametrize("name", ["-1", "01", "x", "4294967295", "٣"])
def test_an_invalid_seed_names_no_program(name: str, tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="use a seed from 0 to"):
        Written(scribe(tmp_path, "echo"))[name]


@pytest.mark.parametrize(
    ("line", "reason"),
    [("exit 0", "status 0"), ("echo why >&2; exit 2", "why"), ("kill -9 $$", "status -9")],
)
def test_a_tool_that_writes_nothing_gives_the_reason(
    line: str, reason: str, tmp_path: Path
) -> None:
    with pytest.raises(BenchmarkInitError, match=rf"generated no program for seed 1:\n{reason}"):
        Written(scribe(tmp_path, line))["1"]


def test_a_tool_that_is_not_there_names_the_package_to_install(tmp_path: Path) -> None:
    dataset = Written(tmp_path / "missing")
    assert (dataset.installed, dataset.needs) == (False, "apt install scribe")
    with pytest.raises(DatasetInitError, match="install it with `apt install scribe`"):
        dataset["1"]


def test_a_place_that_cannot_be_written_says_what_to_set(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    dataset = Written(scribe(tmp_path, "echo 1"), tmp_path / "file")
    with pytest.raises(DatasetInitError, match="set COMPILER_GYM_SITE_DATA"):
        dataset["1"]


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
