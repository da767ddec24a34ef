# SPDX-License-Identifier: MIT
"""Random sequences of actions against opt, byte for byte."""

import random
import subprocess
from pathlib import Path

import pytest

from compiler_gym import _llvm

from .actions import LEGACY, SAFE_PIPELINES
from .conftest import need

LEGACY_PIPELINES = [row["pipeline"] for row in LEGACY if row["pipeline"]]


def run_opt(data: bytes, pipelines: list[str], folder: Path) -> bytes:
    source, target = folder / "in.bc", folder / "out.bc"
    source.write_bytes(data)
    passes = ",invalidate<all>,".join(pipelines)
    # Value names are no part of the state, so opt drops them too.
    command = [need("opt-22"), "-discard-value-names", f"-passes={passes}", str(source)]
    subprocess.run([*command, "-o", str(target)], check=True, timeout=120)
    return target.read_bytes()


def compare(seed: int, corpus: dict[str, bytes], folder: Path) -> None:
    rng = random.Random(seed)
    module = _llvm.Module(corpus[rng.choice(sorted(corpus))])
    if rng.random() < 0.5:
        module.set_goal("size")
    start = module.bitcode()
    sequence = rng.choices(SAFE_PIPELINES + LEGACY_PIPELINES, k=rng.randint(1, 30))
    for pipeline in sequence:
        module.run(pipeline)
    assert module.bitcode() == run_opt(start, sequence, folder), sequence


@pytest.mark.parametrize("seed", range(25))
def test_a_sequence_of_actions_equals_opt(seed: int, corpus: dict[str, bytes], tmp_path: Path):
    compare(seed, corpus, tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_three_hundred_sequences_equal_opt(corpus: dict[str, bytes], tmp_path: Path):
    for seed in range(100, 400):
        compare(seed, corpus, tmp_path)


@pytest.mark.parametrize("level", ["O0", "O1", "O2", "O3", "Os", "Oz"])
def test_a_standard_pipeline_as_an_action_equals_opt(
    level: str, corpus: dict[str, bytes], tmp_path: Path
):
    for name, data in corpus.items():
        module = _llvm.Module(data)
        module.run(f"default<{level}>")
        assert module.bitcode() == run_opt(data, [f"default<{level}>"], tmp_path), name
