"""What a build leaves is read as it was written, and nothing else is taken for it."""

import dataclasses
from pathlib import Path

import pytest

from compiler_gym.errors import DatasetInitError
from compiler_gym_corpus.packages import (
    BuildOutcome,
    BuiltModule,
    LinkedProgram,
    OwnTests,
    PackageResult,
    read_result,
    read_results,
    write_result,
)

MODULE = BuiltModule("ab", 10, "src/a.c", ("gcc", "-c", "src/a.c"), "c", "MIT", 3, 1, ("a",))
PROGRAM = LinkedProgram("a", "cd", 20, 3, 1, ("ab",), ("-lz",), tests=OwnTests.PASSED)
RESULT = PackageResult(
    "hello", "2.10-3", "ef", "GPL-3+", BuildOutcome.BUILT, modules=(MODULE,), programs=(PROGRAM,)
)


def test_a_result_is_read_as_it_was_written(tmp_path: Path) -> None:
    write_result(tmp_path, RESULT)

    assert read_result(tmp_path) == RESULT


def test_only_packages_that_are_done_are_read(tmp_path: Path) -> None:
    packages = tmp_path / "packages"
    (packages / "begun_1" / "modules").mkdir(parents=True)
    for name in ("b_1", "a_1"):
        (packages / name).mkdir()
        write_result(packages / name, dataclasses.replace(RESULT, package=name))

    found = [(folder.name, result.package) for folder, result in read_results(tmp_path)]

    assert found == [("a_1", "a_1"), ("b_1", "b_1")]


def test_a_damaged_result_gives_the_fix(tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text('{"package": 1}')

    with pytest.raises(DatasetInitError, match=r"cannot read the build result .*--resume"):
        read_result(tmp_path)
