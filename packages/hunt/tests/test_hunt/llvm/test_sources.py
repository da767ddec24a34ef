# SPDX-License-Identifier: MIT
"""Programs come from folders, built corpora, databases and datasets, packages in turns."""

import json
from pathlib import Path

import pytest

from compiler_gym.errors import BenchmarkInitError, BenchmarkNotFoundError
from compiler_gym_hunt.llvm.sources import programs_in

from .conftest import ADDS


def test_each_folder_below_is_a_package_and_they_take_turns(corpus: Path) -> None:
    (corpus / "two" / "second.c").write_text("int second(void) { return 2; }\n")
    found = programs_in(str(corpus))
    assert sorted(one.package for one in found) == ["one", "one", "three", "two", "two"]
    assert len({one.package for one in found[:3]}) == 3
    (broken,) = [one for one in found if one.name.endswith("broken.c")]
    with pytest.raises(BenchmarkInitError, match="nothing"):
        broken.read()


def test_a_built_corpus_says_which_package_a_module_is_of(tmp_path: Path) -> None:
    folder = tmp_path / "packages" / "jq_1.6-2" / "modules"
    folder.mkdir(parents=True)
    (folder / "a.bc").write_bytes(ADDS.encode())
    (program,) = programs_in(str(tmp_path))
    assert (program.package, program.read()) == ("jq", ADDS.encode())


def test_a_project_is_compiled_as_its_database_says(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int f(void) { return VALUE; }\n")
    (tmp_path / "b.c").write_text("int g(void) { return nothing; }\n")
    entries = [
        {"directory": str(tmp_path), "file": name, "command": f"cc -DVALUE=3 -c {name}"}
        for name in ("a.c", "b.c")
    ]
    (tmp_path / "compile_commands.json").write_text(json.dumps(entries))
    found = {one.name: one for one in programs_in(str(tmp_path))}
    assert len(found) == 2
    assert found["a.c"].read()[:2] == b"BC"
    with pytest.raises(BenchmarkInitError, match="nothing"):
        found["b.c"].read()


def test_a_dataset_is_read_by_its_name() -> None:
    found = programs_in("cbench-v1")
    assert len(found) > 20
    assert found[0].read()


def test_a_path_that_is_not_there_is_reported(tmp_path: Path) -> None:
    with pytest.raises(BenchmarkNotFoundError, match="no such file"):
        programs_in(str(tmp_path / "missing"))
