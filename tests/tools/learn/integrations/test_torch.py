# SPDX-License-Identifier: MIT
"""A DataLoader reads every transition once, with and without workers."""

import pickle
from pathlib import Path
from typing import Any

import pytest

from compiler_gym.tools.learn.collection import Collection, collect
from compiler_gym.tools.learn.integrations.torch import torch_transitions


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("workers", [0, 2])
def test_a_loader_reads_every_transition_once(tmp_path: Path, workers: int) -> None:
    torch: Any = pytest.importorskip("torch", reason="torch is missing")
    collect(
        tmp_path, env="llvm-v0", benchmarks=["cbench-v1/crc32"], steps=60, length=5,
        shard_steps=15, observe=["Autophase"], jobs=1,
    )  # fmt: skip
    collection = Collection(tmp_path)
    dataset = torch_transitions(
        collection, ["run", "step", "Autophase", "action"], batch_size=8, seed=1
    )
    dataset.set_epoch(2)
    loader = torch.utils.data.DataLoader(dataset, batch_size=None, num_workers=workers)
    batches = list(loader)
    assert batches[0]["Autophase"].dtype == torch.int64
    assert isinstance(batches[0]["action"][0], str)
    found = [pair for one in batches for pair in zip(*_lists(one), strict=True)]
    assert sorted(found) == [(run, step) for run in range(12) for step in range(5)]
    again = pickle.loads(pickle.dumps(dataset))
    assert [one["run"].tolist() for one in again] == [one["run"].tolist() for one in dataset]


def _lists(batch: dict[str, Any]) -> tuple[list[int], list[int]]:
    return batch["run"].tolist(), batch["step"].tolist()
