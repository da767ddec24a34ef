# SPDX-License-Identifier: MIT
"""Payloads are found by address, file and description."""

from pathlib import Path

import pytest

from compiler_gym.errors import BenchmarkInitError, BenchmarkNotFoundError, UnknownNameError
from compiler_gym_mlir import MatmulBenchmark, MatmulDataset, make_benchmark
from compiler_gym_mlir.datasets import KernelDataset, LayerDataset, RandomDataset
from test_mlir.schedules import MATMUL


def test_every_listed_program_exists() -> None:
    for dataset in (KernelDataset(), LayerDataset(), MatmulDataset()):
        uris = list(dataset.benchmark_uris())
        assert len(uris) == dataset.size
        assert all(b"func.func" in dataset.benchmark(uri).contents for uri in uris)
    assert RandomDataset().benchmark("generator://linalg-v0/7").contents


def test_the_names_of_the_old_dataset_are_sizes() -> None:
    made = MatmulDataset().benchmark_from_size((8, 4, 2))
    assert str(made.uri) == "generator://matmul-v0/8_4_2"
    assert b"tensor<8x2xf32>" in made.contents


def test_files_and_descriptions(tmp_path: Path) -> None:
    path = tmp_path / "a.mlir"
    path.write_text(MATMUL)
    assert (
        make_benchmark(path).contents.decode() == MATMUL == make_benchmark(MATMUL).contents.decode()
    )
    with pytest.raises(BenchmarkNotFoundError, match="no file"):
        make_benchmark(tmp_path / "b.mlir")


def test_a_missing_benchmark_is_reported() -> None:
    with pytest.raises(UnknownNameError, match="no layer"):
        LayerDataset().benchmark("benchmark://layers-v0/resnet18/conv9")
    with pytest.raises(BenchmarkInitError, match="write sizes"):
        KernelDataset().benchmark("benchmark://linalg-v0/matmul/axb")


def test_a_matrix_product_has_its_source_and_the_old_arguments(tmp_path: Path) -> None:
    dataset = MatmulDataset()
    program = dataset.benchmark_from_size((8, 4, 2), max_retries=3, retry_count=2)
    assert isinstance(program, MatmulBenchmark)
    assert program == "generator://matmul-v0/8_4_2"
    assert program.source == program.contents.decode()
    assert program.write_sources_to_directory(tmp_path) == 1
    assert (tmp_path / "source.mlir").read_text() == program.source
    with pytest.raises(OSError, match=r"matmul failed after 5 attempts with size \(4, 4, 4\)"):
        dataset.benchmark_from_size(mnk=(4, 4, 4), max_retries=3, retry_count=5)
