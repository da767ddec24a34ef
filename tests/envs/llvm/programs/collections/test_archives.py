# SPDX-License-Identifier: MIT
"""The facts of the published archives of bitcode."""

import re
from pathlib import Path

import pytest

from compiler_gym.datasets import PUBLISHED_AT, Archive, PublishedDataset
from compiler_gym.envs.llvm.programs.collections import archives
from compiler_gym.envs.llvm.programs.collections.published import PUBLISHED


@pytest.mark.parametrize("cls", PUBLISHED, ids=lambda cls: cls.archive.name)
def test_the_facts_of_every_archive_are_complete(
    cls: type[PublishedDataset], tmp_path: Path
) -> None:
    dataset = cls(tmp_path)
    sha256 = dataset.tar_sha256 or ""
    assert re.fullmatch("[0-9a-f]{64}", sha256)
    assert dataset.manifest_sha256 is None or re.fullmatch("[0-9a-f]{64}", dataset.manifest_sha256)
    assert all(url.startswith("https://") for url in (*dataset.tar_urls, *dataset.manifest_urls))
    assert dataset.tar_urls
    assert dataset.size == cls.archive.count > 0
    assert dataset.license
    assert dataset.description
    assert dataset.references
    assert not dataset.installed
    is_bitcode = cls.archive.suffix == ".bc"
    assert is_bitcode == ("-llvm10-v" in dataset.name)


def test_archives_have_the_names_and_counts_that_were_published() -> None:
    counts = {cls.archive.name: cls.archive.count for cls in PUBLISHED}
    assert counts == {
        "anghabench-v1": 1_041_333,
        "blas-llvm10-v0": 300,
        "cbench-llvm10-v1": 23,
        "chstone-v0": 12,
        "clgen-v0": 996,
        "github-llvm10-v0": 49_738,
        "jotaibench-v0": 18_761,
        "linux-llvm10-v0": 13_894,
        "mibench-llvm10-v1": 40,
        "npb-llvm10-v0": 122,
        "opencv-llvm10-v0": 442,
        "poj104-v1": 49_816,
        "tensorflow-llvm10-v0": 1_985,
    }


def test_bitcode_of_llvm_10_comes_from_one_place_and_names_its_paper_or_home() -> None:
    found = {name: value for name, value in vars(archives).items() if isinstance(value, Archive)}
    assert sorted(found) == archives.__all__
    for archive in found.values():
        assert all(url.startswith(f"{PUBLISHED_AT}/llvm_bitcodes-10.0.0-") for url in archive.urls)
        assert (archive.suffix, "-llvm10-v" in archive.name) == (".bc", True)
        assert set(archive.references) <= {"Homepage", "Paper"}
    assert len({archive.sha256 for archive in found.values()}) == len(found)
