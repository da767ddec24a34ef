# SPDX-License-Identifier: MIT
"""GCC starts from bundled, generated, published and own programs, all of them source."""

from collections.abc import Callable
from pathlib import Path

import pytest

from compiler_gym.datasets import Benchmark
from compiler_gym.errors import DatasetInitError
from compiler_gym_gcc import GccEnv, make_benchmark
from compiler_gym_gcc.datasets import (
    AnghaBenchDataset,
    CBenchDataset,
    CsmithBenchmark,
    CsmithDataset,
    get_gcc_datasets,
)

Make = Callable[..., GccEnv]


def test_every_bundled_program_is_source_with_its_runs(make_env: Make) -> None:
    programs = list(CBenchDataset().benchmarks())
    assert len(programs) >= 8
    env = make_env()
    for program in programs:
        assert program.run is not None
        assert program.encode_run() == b""  # a worker knows it by name
        assert b"BC\xc0\xde" not in program.contents
    env.reset(benchmark=programs[0])
    assert env.asm_size > 0


@pytest.mark.slow
def test_every_bundled_program_compiles_and_does_its_job(make_env: Make) -> None:
    env = make_env(reward_space="obj_size_os")
    for program in CBenchDataset().benchmarks():
        env.reset(benchmark=program)
        env.step(env.action_space["-Os"])
        result = env.validate()
        assert result.okay(), f"{program}: {result.error_details}"
        assert result.benchmark_semantics_validated


def test_a_seed_gives_the_same_program_in_every_place(tmp_path: Path, make_env: Make) -> None:
    datasets = [CsmithDataset("gcc-12", tmp_path / name) for name in "ab"]
    if not datasets[0].installed:
        pytest.skip(f"needs csmith: {datasets[0].install_command}")
    one, other = (dataset.benchmark_from_seed(7) for dataset in datasets)
    assert isinstance(one, CsmithBenchmark)
    assert one.contents == other.contents
    assert "csmith.h" in one.source
    env = make_env(benchmark=one)
    env.reset()
    env.step(env.action_space["-O2"])
    assert env.obj_size > 0
    assert env.validate().benchmark_semantics_validated


def test_a_generator_that_is_not_there_names_the_package_to_install(tmp_path: Path) -> None:
    dataset = CsmithDataset("gcc-12", tmp_path, csmith_bin="no-such-csmith")
    assert not dataset.installed
    with pytest.raises(DatasetInitError, match="apt install csmith"):
        dataset.benchmark_from_seed(1)


def test_a_file_is_a_program_with_its_headers(tmp_path: Path, make_env: Make) -> None:
    (tmp_path / "size.h").write_text("#define SIZE 42\n")
    (tmp_path / "main.c").write_text('#include "size.h"\nint main(void) { return SIZE; }\n')
    env = make_env()
    env.reset(benchmark=f"file://{tmp_path}/main.c")
    assert "return 42;" in env.source
    here = env.obj_hash
    moved = tmp_path / "moved"
    moved.mkdir()
    for name in ("size.h", "main.c"):
        (tmp_path / name).rename(moved / name)
    env.reset(benchmark=f"file://{moved}/main.c")
    assert env.obj_hash == here


def test_several_files_are_one_program(tmp_path: Path, make_env: Make) -> None:
    (tmp_path / "a.c").write_text("int f(void);\nint main(void) { return f(); }\n")
    (tmp_path / "b.c").write_text("int f(void) { return X; }\n")
    env = make_env()
    env.reset(benchmark=make_benchmark([tmp_path / "a.c", tmp_path / "b.c"], ["-DX=3"]))
    assert env.asm.count(".globl") == 2
    assert env.make_benchmark(tmp_path / "a.c").contents == (tmp_path / "a.c").read_bytes()


def test_source_text_is_a_program_as_it_is(make_env: Make) -> None:
    env = make_env()
    env.reset(benchmark=Benchmark("benchmark://mine-v0/1", b"int x = 7;\n"))
    assert "x:" in env.asm


def test_every_dataset_has_the_name_it_had(tmp_path: Path) -> None:
    names = [dataset.name for dataset in get_gcc_datasets("gcc-12", tmp_path)]
    assert {
        "benchmark://cbench-v1",
        "benchmark://chstone-v0",
        "benchmark://anghabench-v1",
        "generator://csmith-v0",
        "file://",
    } == set(names)
    assert not AnghaBenchDataset(tmp_path).installed
