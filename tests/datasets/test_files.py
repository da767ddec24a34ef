# SPDX-License-Identifier: MIT
import os
from pathlib import Path

import numpy as np
import pytest

from compiler_gym.datasets import FilesDataset
from compiler_gym.errors import BenchmarkInitError, DatasetInitError, UnknownNameError
from tests.stand_ins import always


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    for name in ("b.bc", "a/z.bc", "a/a.bc", "a.bc", "c.txt", ".hidden.bc", ".git/x.bc"):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(name.encode())
    (tmp_path / "outside.bc").write_bytes(b"secret")
    return root


@pytest.mark.parametrize("memoize", [True, False])
def test_files_with_the_suffix_are_programs_in_a_fixed_order(root: Path, memoize: bool) -> None:
    dataset = FilesDataset(root, ".bc", memoize, name="files-v0")
    names = ["a", "b", "a/a", "a/z"]
    assert [uri.removeprefix("benchmark://files-v0/") for uri in dataset.benchmark_uris()] == names
    assert dataset.size == 4
    assert dataset[2].contents == b"a/a.bc"
    assert dataset["a/z"].contents == b"a/z.bc"
    assert [p.contents.decode().removesuffix(".bc") for p in dataset] == names


def test_without_a_suffix_every_file_is_a_program(root: Path) -> None:
    dataset = FilesDataset(root, name="files-v0")
    assert dataset.size == 5
    assert dataset["c.txt"].contents == b"c.txt"


@pytest.mark.parametrize(
    "path", ["../outside", "a/../../outside", "a//../../outside", "%2E%2E/outside", "."]
)
def test_an_address_never_leaves_the_directory(root: Path, path: str) -> None:
    dataset = FilesDataset(root, ".bc", name="files-v0")
    with pytest.raises(UnknownNameError, match="no program"):
        dataset.benchmark(f"files-v0/{path}")


def test_a_missing_program_suggests_close_names(root: Path) -> None:
    dataset = FilesDataset(root, ".bc", name="files-v0")
    assert dataset.size
    with pytest.raises(UnknownNameError, match=r"did you mean a/z\?"):
        dataset.benchmark("files-v0/a/zz")
    with pytest.raises(UnknownNameError, match=r"no program benchmark://files-v0$"):
        dataset.benchmark("files-v0")


def test_names_that_are_not_plain_round_trip(tmp_path: Path) -> None:
    names = [b"sp ace.c", b"qu?ery.c", b"ha#sh.c", b"per%20cent.c", b"caf\xe9.c", "été.c".encode()]
    for name in names:
        (tmp_path / os.fsdecode(name)).write_bytes(name)
    dataset = FilesDataset(tmp_path, name="files-v0")
    assert sorted(program.contents for program in dataset) == sorted(names)
    for uri in dataset.benchmark_uris():
        assert uri.isascii()


def test_a_missing_directory_is_a_typed_error(tmp_path: Path) -> None:
    dataset = FilesDataset(tmp_path / "nothing", name="files-v0")
    assert not dataset.installed
    with pytest.raises(DatasetInitError, match="needs the directory"):
        list(dataset.benchmark_uris())
    (tmp_path / "nothing").mkdir()
    with pytest.raises(UnknownNameError, match="is empty"):
        dataset.random_benchmark(np.random.default_rng(0))


def test_a_file_that_vanishes_is_a_typed_error(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = FilesDataset(root, ".bc", name="files-v0")
    monkeypatch.setattr(Path, "is_file", always(True))
    with pytest.raises(BenchmarkInitError, match="No such file"):
        dataset.benchmark("files-v0/gone")


def test_files_are_not_removed_with_the_dataset(root: Path) -> None:
    FilesDataset(root, name="files-v0").uninstall()
    assert (root / "a.bc").exists()
