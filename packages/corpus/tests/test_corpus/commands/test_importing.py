# SPDX-License-Identifier: MIT
"""What is imported is found, compiled first where it must be, and tried in a worker."""

from pathlib import Path
from typing import Any

import pytest

from compiler_gym.errors import DatasetInitError
from compiler_gym_corpus.commands import importing as _importing
from compiler_gym_corpus.commands.importing import programs_at, starter
from tests.stand_ins import always

IR = b"define i32 @f() {\n  ret i32 1\n}\n"


def test_a_folder_is_imported_as_it_is(tmp_path: Path) -> None:
    with programs_at(tmp_path, "llvm-v0", linked=False) as (found, failed):
        assert (found, failed) == (tmp_path, [])
    with (
        pytest.raises(DatasetInitError, match=r"--linked needs a compile_commands\.json \(got"),
        programs_at(tmp_path, "llvm-v0", linked=True),
    ):
        pass


def test_a_compilation_database_is_compiled_into_a_folder_that_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    def read(path: Path, linked: bool) -> tuple[dict[str, bytes], list[tuple[str, str]]]:
        asked.append((path, linked))
        return {"/abs/a.c": IR, "../../b.c": IR, "c/d.c": b"BC\xc0\xde"}, [("e.c", "no such file")]

    monkeypatch.setattr(_importing, "_database_reader", always(read))
    path = tmp_path / "compile_commands.json"
    with programs_at(path, "llvm-v0", linked=True) as (folder, failed):
        assert failed == [("e.c", "no such file")]
        found = {
            file.relative_to(folder).as_posix() for file in folder.rglob("*.*") if file.is_file()
        }
        assert found == {"abs/a.c.ll", "b.c.ll", "c/d.c.bc"}
    assert asked == [(path, True)]
    assert not folder.exists()


def test_a_compiler_that_reads_no_database_is_named() -> None:
    with pytest.raises(DatasetInitError, match=r"nothing-v0 cannot read a compile_commands\.json"):
        _importing._database_reader("nothing-v0")  # pyright: ignore[reportPrivateUsage]  # tested on its own


def test_a_program_is_tried_in_a_worker() -> None:
    with starter("llvm-v0") as problem:
        assert problem(IR, ".ll") is None
        said = problem(b"define what", ".ll")
        assert said
        assert "/tmp" not in said
        assert problem(IR, ".ll") is None
