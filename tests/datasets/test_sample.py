# SPDX-License-Identifier: MIT
"""The sample is small, free, in splits that share no function, and never removed."""

from collections import Counter
from pathlib import Path

import pytest

from compiler_gym.datasets import NO_SPLIT, SPLITS, SampleDataset, split_of_package
from compiler_gym.datasets.sample import sample_folder
from scripts.corpus_sample import MOST_BYTES, is_permissive


@pytest.fixture(scope="module")
def sample() -> SampleDataset:
    return SampleDataset()


def test_it_has_two_hundred_modules_and_ten_linked_programs(sample: SampleDataset) -> None:
    assert sample.name == "benchmark://debian-sample-v0"
    assert sample.of_kind("module").size == 200
    assert sample.of_kind("program").size >= 10
    assert all(sample.split(name).size >= 10 for name in SPLITS)
    assert sum(sample.split(name).size for name in (*SPLITS, NO_SPLIT)) == sample.size
    assert sample.verify() == []


def test_it_is_small_and_free(sample: SampleDataset) -> None:
    size = sum(path.stat().st_size for path in sample_folder().iterdir())
    assert size <= MOST_BYTES
    licences = Counter(program.license for program in sample.programs())
    mixed = [name for name in licences if not is_permissive(name)]
    # A package as a whole, of which the linked program has the parts with known licences only.
    assert all("GPL" not in name and licences[name] == 1 for name in mixed)
    for package in sample.packages():
        assert f"{package.name} {package.version}\n====" in sample.notices


def test_no_function_of_a_test_package_has_a_near_duplicate_in_train(
    sample: SampleDataset,
) -> None:
    judged: set[int] = set()
    for uri in sample.benchmark_uris():
        packages = {place.package for place in sample.facts(uri).places}
        if any(split_of_package(name) == "test" for name in packages):
            judged |= {one.shape for one in sample.functions(uri) if one.counts}
    assert len(judged) > 50
    for name in ("train", "validation"):
        for uri in sample.split(name).benchmark_uris():
            assert not judged & {one.shape for one in sample.functions(uri) if one.counts}, uri


def test_it_is_part_of_the_library(sample: SampleDataset) -> None:
    assert sample.installed
    assert not sample.has_site_data
    assert sample.validatable == "No"
    assert sample.path.parent == Path(sample_folder())
