# SPDX-License-Identifier: MIT
"""What the engine says of the functions of files, and that it is asked once."""

from itertools import islice
from pathlib import Path

import pytest

from compiler_gym.datasets import FunctionShape, SampleDataset
from compiler_gym.datasets.splits import cluster_digest
from compiler_gym.envs.llvm.programs import shapes
from compiler_gym.errors import BenchmarkInitError

MODULE = """
define void @mine(ptr %p, i32 %n) {{
  store i32 {number}, ptr %p
  ret void
}}
define linkonce_odr void @_ZNSt6vectorIiE4sizeEv() {{ ret void }}
define linkonce_odr void @_ZN4Mine4sizeEv() {{ ret void }}
"""


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / f"{number}.ll" for number in range(3)]
    for number, path in enumerate(paths):
        path.write_text(MODULE.format(number=number))
    return paths


def test_files_have_the_functions_of_their_near_duplicates(
    files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, third = shapes.find_shapes(files)
    assert first == second == third
    assert [(one.instructions, one.is_library) for one in first] == [
        (2, False), (1, True), (1, False),
    ]  # fmt: skip
    assert isinstance(first[0], FunctionShape)

    def fail(*_: object) -> None:
        raise AssertionError("asked again")

    monkeypatch.setattr(shapes, "run_engine", fail)
    assert shapes.find_shapes(files) == [first] * 3


def test_many_files_are_read_in_batches(files: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    run = shapes.run_engine

    def count(operation: str, modules: list[bytes]) -> list[bytes]:
        asked.append(len(modules))
        return run(operation, modules)

    monkeypatch.setattr(shapes, "run_engine", count)
    monkeypatch.setattr(shapes, "_MOST_BYTES", 2 * files[0].stat().st_size)
    files[0].write_text(MODULE.format(number=17))
    assert len(shapes.find_shapes(files)) == 3
    assert asked == [2, 1]


def test_an_invalid_or_missing_file_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "a.bc"
    with pytest.raises(BenchmarkInitError, match=r"a\.bc"):
        shapes.find_shapes([path])
    path.write_bytes(b"nothing")
    with pytest.raises(BenchmarkInitError):
        shapes.find_shapes([path])


def test_the_engine_says_of_the_sample_what_is_recorded_in_it(tmp_path: Path) -> None:
    sample = SampleDataset()
    programs = [*islice(sample.programs(), 0, None, 12)]
    paths: list[Path] = []
    for number, program in enumerate(programs):
        paths.append(tmp_path / f"{number}.bc")
        paths[-1].write_bytes(program.contents)
    for program, found in zip(programs, shapes.find_shapes(paths), strict=True):
        facts = sample.read_facts(program)
        assert found == sample.functions(f"debian-sample-v0/{program.key}")
        assert cluster_digest(found, b"").hex() == facts.cluster or not found
        assert len(found) == facts.functions
