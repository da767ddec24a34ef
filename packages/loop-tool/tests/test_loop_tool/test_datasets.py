# SPDX-License-Identifier: MIT
"""Every dataset lists programs, serves them, and refuses what is none."""

import pickle
from itertools import islice
from pathlib import Path

import pytest

from compiler_gym.datasets import Dataset
from compiler_gym.errors import BenchmarkInitError, UnknownNameError
from compiler_gym_loop_tool.datasets import (
    DescribedNests,
    LoopToolCPUDataset,
    make_benchmark,
    make_datasets,
)
from compiler_gym_loop_tool.state.reading import parse_program

DATASETS = {dataset.name: dataset for dataset in make_datasets()}


@pytest.mark.parametrize("dataset", DATASETS.values(), ids=str)
def test_listed_names_are_programs(dataset: Dataset) -> None:
    listed = list(islice(dataset.benchmark_uris(), 50))
    for uri in listed:
        program = dataset.benchmark(uri)
        assert str(program.uri) == uri
        assert parse_program(program.contents.decode()).flops > 0
    assert len(set(listed)) == len(listed)
    assert pickle.loads(pickle.dumps(dataset)) == dataset


@pytest.mark.parametrize(
    "name", ["benchmark://looptune-matmul-v0", "benchmark://network-layers-v0"]
)
def test_a_dataset_that_ends_says_its_size(name: str) -> None:
    assert DATASETS[name].size == len(list(DATASETS[name].benchmark_uris()))


def test_no_matmul_to_train_on_is_held_out() -> None:
    train = {
        u.rpartition("/")[2] for u in DATASETS["benchmark://looptune-matmul-v0"].benchmark_uris()
    }
    test = {
        u.rpartition("/")[2]
        for u in DATASETS["benchmark://looptune-matmul-test-v0"].benchmark_uris()
    }
    assert len(train) == 13**3 - 25
    assert len(test) == 25
    assert not train & test


def test_programs_of_0_2_5_are_named_by_their_size() -> None:
    dataset = LoopToolCPUDataset()
    assert dataset.size == 8 * 1024 * 1024 - 1
    program = parse_program(dataset["1000"].contents.decode())
    assert (program.dims, program.splits, program.target) == ({"a": 1000}, 3, "cpu")
    assert dataset.benchmark_uri_at(7) == "benchmark://loop_tool-cpu-v0/8"


@pytest.mark.parametrize(
    "uri",
    [
        *("loop_tool-cpu-v0/0", "loop_tool-cpu-v0/8388609", "loop_tool-cpu-v0/x"),
        *("loop_tool-cuda-v0/-1", "loop_tool-cpu-v0/07"),
        *("looptune-matmul-v0/64x64", "looptune-matmul-v0/65x64x64"),
        *("looptune-matmul-v0/64x240x64", "looptune-matmul-test-v0/64x64x64"),
        *("network-layers-v0/vgg", "generator://loop_nests-v0/-3"),
        *("loop_tool://nothing/m=3", "loop_tool:///m=3"),
    ],
)
def test_an_invalid_program_is_refused(uri: str) -> None:
    name = uri if "://" in uri else f"benchmark://{uri}"
    dataset = next(
        (d for known, d in DATASETS.items() if name.startswith((f"{known}/", "loop_tool://"))),
        DescribedNests(),
    )
    if name.startswith("loop_tool://"):
        dataset = DescribedNests()
    with pytest.raises((UnknownNameError, BenchmarkInitError), match=r"\w"):
        dataset.benchmark(name)


def test_a_file_is_a_program(tmp_path: Path) -> None:
    path = tmp_path / "sum.nest"
    path.write_text("dim m 4\na = read A[m]\ns = sum a [m]\nwrite s S[]\n")
    assert b"sum a" in DATASETS["file://"].benchmark(f"file://{path}").contents
    with pytest.raises(BenchmarkInitError, match=r"missing\.nest"):
        DATASETS["file://"].benchmark(f"file://{tmp_path}/missing.nest")
    path.write_bytes(b"#" * (1 << 20 | 1))
    with pytest.raises(BenchmarkInitError, match="not a program"):
        DATASETS["file://"].benchmark(f"file://{path}")


def test_one_makes_programs_of_lines_and_of_a_line() -> None:
    assert make_benchmark("matmul/m=4,n=4,k=4").contents.startswith(b"dim m 4")
    assert make_benchmark("matmul/m=4", target="cuda").contents.startswith(b"target cuda")
    lines = "dim m 4\na = read A[m]\nwrite a B[m]"
    assert make_benchmark(lines, "copy") == "benchmark://user-v0/copy"
    with pytest.raises(BenchmarkInitError, match="there is no write"):
        make_benchmark("dim m 4\na = read A[m]")
