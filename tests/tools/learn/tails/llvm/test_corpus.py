# SPDX-License-Identifier: MIT
"""Samples of a corpus, by package."""

from pathlib import Path

import pytest

from compiler_gym.errors import InvalidParameterError
from compiler_gym.tools.learn.tails.llvm.corpus import list_modules


def test_a_package_is_in_one_split_and_gives_few_small_modules(corpus: Path):
    modules = list_modules(corpus, per_package=2, most_bytes=10_000_000)
    assert [module.package for module in modules] == ["grep", "grep", "m4", "m4", "zlib", "zlib"]
    assert {m.package: m.split for m in modules} == {
        "grep": "test",
        "m4": "validation",
        "zlib": "train",
    }
    largest = max(module.path.stat().st_size for module in modules)
    small = list_modules(corpus, per_package=2, most_bytes=largest - 1)
    assert all(module.path.stat().st_size < largest for module in small)


def test_a_folder_without_packages_is_refused(tmp_path: Path):
    with pytest.raises(InvalidParameterError, match="datasets build"):
        list_modules(tmp_path, per_package=1, most_bytes=1)
