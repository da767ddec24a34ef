# SPDX-License-Identifier: MIT
"""Objects that are compiled once a session, because most tests only link them."""

import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.native.driver.trees import SOURCES, Tree

Make = Callable[[str], Tree]


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    @cache
    def compile_all(name: str) -> Path:
        tree = Tree(tmp_path_factory.mktemp(name))
        tree.write(SOURCES[name])
        tree.cc("-c " + " ".join(SOURCES[name]))
        return tree.path

    return compile_all


@pytest.fixture
def make(compiled: Callable[[str], Path], tmp_path: Path) -> Make:
    """Return a function that copies sources and their objects."""

    def copy(name: str) -> Tree:
        shutil.copytree(compiled(name), tmp_path, dirs_exist_ok=True)
        return Tree(tmp_path)

    return copy
