# SPDX-License-Identifier: MIT
"""Which programs LLVM can start from, and files among them."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from compiler_gym.envs.llvm import LlvmEnv
from compiler_gym.envs.llvm.datasets import FileDataset, get_llvm_datasets, make_datasets
from compiler_gym.errors import (
    BenchmarkInitError,
)
from tests.loading import needs_packages

pytestmark = pytest.mark.skipif(shutil.which("clang-22") is None, reason="needs clang-22")
Env = Callable[..., LlvmEnv]


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("file://part.c", "does not have an absolute path; write the address as file://.*/part.c"),
        (
            "file://sub/part.c",
            "does not have an absolute path; write the address as file://.*/sub/part.c",
        ),
        ("file://", "does not have an absolute path"),
        ("file:///a%00b.c", "null byte"),
        ("file:///dev/null", "a pipe or a device"),
    ],
)
def test_an_address_without_a_file_names_the_expected_form(
    address: str, message: str, project: Path, make_env: Env
) -> None:
    with pytest.raises(BenchmarkInitError, match=message):
        make_env().reset(benchmark=address)


def test_files_with_odd_names_are_found(project: Path, make_env: Env) -> None:
    env = make_env()
    for name in ("sp ace.c", "per%20cent.c", "hash#mark?.c", "\udcff.c"):
        path = project / name
        path.write_text("int f(void) { return 1; }\n")
        _, info = env.reset(benchmark=path.as_uri())
        assert info["benchmark"] == path.as_uri()
    env.reset(benchmark=f"file://{project}/sp ace.c")
    assert str(env.benchmark).endswith("/sp%20ace.c")


def test_a_file_of_source_brings_its_source_and_one_of_ir_does_not(project: Path) -> None:
    dataset = FileDataset()
    (project / "f.ll").write_text("define i32 @f() {\n  ret i32 1\n}\n")
    (project / "f.c").write_text("int f(void) { return 1; }\n")
    source = dataset.benchmark((project / "f.c").as_uri())
    assert [(s.filename, s.contents) for s in source.sources] == [
        ("f.c", b"int f(void) { return 1; }\n")
    ]
    ir = dataset.benchmark((project / "f.ll").as_uri())
    assert list(ir.sources) == []
    assert ir.contents == (project / "f.ll").read_bytes()
    assert list(dataset.benchmark_uris()) == []


@needs_packages
def test_datasets_have_unique_names_and_an_imported_one_gives_way(
    tmp_path: Path,
) -> None:
    names = [dataset.name for dataset in make_datasets(tmp_path)]
    assert len(set(names)) == len(names) > 10
    assert [dataset.name for dataset in get_llvm_datasets(tmp_path)] == names
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.ll").write_text("define i32 @f() {\n  ret i32 1\n}\n")
    from compiler_gym.datasets import import_corpus

    import_corpus("mine-v0", tmp_path / "in", site_data_base=tmp_path)
    assert [d.name for d in make_datasets(tmp_path)] == [*names, "benchmark://mine-v0"]
    import_corpus("clgen-v0", tmp_path / "in", site_data_base=tmp_path)
    with pytest.warns(
        UserWarning, match=r"is ignored: another dataset is already called benchmark://clgen-v0"
    ):
        assert len(make_datasets(tmp_path)) == len(names) + 1
