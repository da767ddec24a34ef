# SPDX-License-Identifier: MIT
import itertools
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from compiler_gym.datasets import Dataset
from compiler_gym.envs.llvm import LlvmEnv
from compiler_gym.envs.llvm.programs.collections.generators import (
    CsmithBenchmark,
    CsmithDataset,
    LlvmStressDataset,
)
from compiler_gym.errors import BenchmarkInitError, DatasetInitError, UnknownNameError
from tests.stand_ins import never

needs_csmith = pytest.mark.skipif(
    not CsmithDataset().installed, reason="needs csmith and libcsmith-dev"
)
needs_stress = pytest.mark.skipif(not LlvmStressDataset().installed, reason="needs llvm-22")
SAMPLE = [0, 7, 2**32 - 2]
"""Both ends of the seeds, and one between."""


@pytest.fixture
def fake_tool(tmp_path: Path) -> Callable[[str], Path]:
    """Make a generator that is a line of shell script."""

    def make(line: str) -> Path:
        path = tmp_path / "tool"
        path.write_text(f"#!/bin/sh\n{line}\n")
        path.chmod(0o755)
        return path

    return make


def headers(tmp_path: Path) -> Path:
    (tmp_path / "csmith.h").touch()
    return tmp_path


@needs_csmith
@pytest.mark.parametrize("seed", SAMPLE)
def test_a_seed_is_the_program_that_csmith_writes_for_it(seed: int, tmp_path: Path) -> None:
    dataset = CsmithDataset(tmp_path / "site")
    program = dataset.benchmark(f"generator://csmith-v0/{seed}")
    command = ["csmith", "--seed", str(seed)]
    said = subprocess.run(command, capture_output=True, check=True, cwd=tmp_path).stdout
    assert isinstance(program, CsmithBenchmark)
    assert program.source == said.decode()
    assert program.contents[:4] == b"BC\xc0\xde"
    again = CsmithDataset(tmp_path / "other").benchmark(f"generator://csmith-v0/{seed}")
    assert again.contents == program.contents


@needs_csmith
def test_a_csmith_program_prints_a_checksum_that_its_run_can_be_judged_by(tmp_path: Path) -> None:
    program = CsmithDataset(tmp_path)["3"]
    assert program.run is not None
    assert program.run.time_limit == 10
    (case,) = program.run.cases
    assert (case.argv, case.expected) == ((), None)
    (tmp_path / "p.bc").write_bytes(program.contents)
    clang = shutil.which("clang-22") or pytest.skip("needs clang-22")
    outputs: list[bytes] = []
    for level in ("-O0", "-O2"):
        command = [clang, level, "-w", str(tmp_path / "p.bc"), "-o", str(tmp_path / "p")]
        subprocess.run(command, check=True)
        done = subprocess.run([tmp_path / "p"], capture_output=True, check=True, timeout=120)
        outputs.append(done.stdout)
    assert outputs[0].startswith(b"checksum = ")
    assert outputs[0] == outputs[1]


@needs_csmith
def test_sources_are_kept_and_not_generated_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = CsmithDataset(tmp_path)
    first = dataset["12"]
    kept = list(tmp_path.rglob("12.c"))
    assert [path.read_text() for path in kept] == [first.source]  # type: ignore[attr-defined]
    monkeypatch.setattr(CsmithDataset, "_generate", never("called"))
    assert dataset["12"].contents == first.contents
    dataset.uninstall()
    assert not list(tmp_path.rglob("12.c"))


@needs_stress
def test_a_seed_is_the_module_that_llvm_stress_writes_for_it(
    tmp_path: Path, make_env: Callable[..., LlvmEnv]
) -> None:
    dataset = LlvmStressDataset(tmp_path)
    with make_env(observation_space="IrInstructionCount") as env:
        for seed in SAMPLE:
            program = dataset[str(seed)]
            command = ["llvm-stress-22", f"--seed={seed}", "-o", "-"]
            assert program.contents == subprocess.check_output(command)
            observation, _ = env.reset(benchmark=program)
            assert observation > 0
            assert program.run is None
    assert "robustness tests only" in dataset.description
    assert dataset.validatable == "No"


@pytest.mark.parametrize("make", [CsmithDataset, LlvmStressDataset])
def test_generators_have_no_end_and_are_listed_lazily(
    make: Callable[[Path], Dataset], tmp_path: Path
) -> None:
    dataset = make(tmp_path)
    assert dataset.size == 0
    first = list(itertools.islice(dataset.benchmark_uris(), 3))
    assert first == [f"{dataset.name}/{seed}" for seed in range(3)]
    assert dataset.benchmark_uri_at(2**32 - 2) == f"{dataset.name}/4294967294"
    with pytest.raises(UnknownNameError, match="no program number"):
        dataset.benchmark_uri_at(2**32 - 1)


@needs_stress
@pytest.mark.parametrize("name", ["-1", "4294967295", "007", "1.5", "x", "", "1/2", "²"])
def test_an_invalid_seed_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="use a seed from 0 to 4294967294"):
        LlvmStressDataset(tmp_path).benchmark(f"generator://llvm-stress-v0/{name}")


def test_a_missing_generator_is_named_with_its_install_command(tmp_path: Path) -> None:
    stress = LlvmStressDataset(tmp_path, llvm_stress_bin=tmp_path / "missing")
    csmith = CsmithDataset(tmp_path, csmith_includes=tmp_path / "missing")
    assert not stress.installed
    assert not csmith.installed
    with pytest.raises(DatasetInitError, match="apt install llvm-22"):
        stress.benchmark("generator://llvm-stress-v0/1")
    with pytest.raises(DatasetInitError, match="apt install csmith libcsmith-dev"):
        csmith.install()


def test_a_seed_that_does_not_build_says_what_the_tool_said(
    tmp_path: Path, fake_tool: Callable[[str], Path]
) -> None:
    tool = fake_tool("echo 'out of luck' >&2; exit 3")
    dataset = CsmithDataset(tmp_path / "site", 0, tool, headers(tmp_path))
    with pytest.raises(BenchmarkInitError, match=r"(?s)seed 5.*out of luck"):
        dataset.benchmark("generator://csmith-v0/5")
    tool = fake_tool("echo 'int main( {'")
    with pytest.raises(BenchmarkInitError, match="error: expected"):
        CsmithDataset(tmp_path / "site", 0, tool, headers(tmp_path))["5"]


def test_a_site_that_cannot_be_written_is_a_typed_error(
    tmp_path: Path, fake_tool: Callable[[str], Path]
) -> None:
    (tmp_path / "site").write_text("a file where a directory should be")
    tool = fake_tool("echo 'int x;'")
    with pytest.raises(DatasetInitError, match="set COMPILER_GYM_SITE_DATA"):
        CsmithDataset(tmp_path / "site", 0, tool, headers(tmp_path))["5"]


@needs_csmith
def test_an_environment_knows_the_generators(make_env: Callable[..., LlvmEnv]) -> None:
    env = make_env(observation_space="IrInstructionCount")
    observation, _ = env.reset(benchmark="generator://csmith-v0/1")
    assert observation > 100
    assert str(env.benchmark) == "generator://csmith-v0/1"
    assert "generator://llvm-stress-v0" in env.datasets
