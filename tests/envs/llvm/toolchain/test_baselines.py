# SPDX-License-Identifier: MIT
"""A baseline is computed once for each program, and a damaged cache costs time alone."""

import hashlib
from pathlib import Path

import pytest

from compiler_gym.envs.llvm.toolchain import baselines
from compiler_gym.envs.llvm.toolchain.baselines import Baselines
from compiler_gym.errors import CacheWarning


class Sized:
    """A module whose cost is its length, less what its level takes off."""

    loaded = 0

    def __init__(self, contents: bytes) -> None:
        type(self).loaded += 1
        self.cost = float(len(contents))

    def apply_level(self, level: str) -> None:
        self.cost -= {"O0": 0.0, "Oz": 2.0, "O3": 0.5}[level]


@pytest.fixture(autouse=True)
def nothing_is_remembered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COMPILER_GYM_CACHE", str(tmp_path))
    monkeypatch.setattr(baselines, "_memory", {})
    Sized.loaded = 0


def cost_of(contents: bytes, level: str = "Oz", cost: str = "Size", version: str = "22") -> float:
    return Baselines(Sized, version).cost(contents, level, cost, lambda module: module.cost)


def kept_file(tmp_path: Path, contents: bytes, name: str) -> Path:
    digest = hashlib.sha256(contents).hexdigest()
    return tmp_path / "llvm-22" / "baselines" / digest[:2] / f"{digest}-{name}"


def test_a_baseline_is_measured_once_and_then_remembered() -> None:
    assert cost_of(b"12345") == cost_of(b"12345") == 3
    assert Sized.loaded == 1


def test_it_is_found_on_disk_by_the_next_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cost_of(b"12345", "O3") == 4.5
    assert kept_file(tmp_path, b"12345", "Size-O3").read_text() == "4.5 ok\n"
    monkeypatch.setattr(baselines, "_memory", {})
    assert cost_of(b"12345", "O3") == 4.5
    assert Sized.loaded == 1


def test_programs_levels_costs_and_versions_are_distinguished() -> None:
    assert [cost_of(b"12345"), cost_of(b"123"), cost_of(b"12345", "O0")] == [3, 1, 5]
    cost_of(b"12345", cost="Other")
    assert Sized.loaded == 4
    baselines._memory.clear()  # pyright: ignore[reportPrivateUsage]  # no public name tells
    cost_of(b"12345", version="23")
    assert Sized.loaded == 5


@pytest.mark.parametrize("damage", ["", "3.0", "3.0 ok", "3.0 o", "x ok\n", "nothing at all ok\n"])
def test_a_file_that_was_cut_short_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    cost_of(b"12345")
    path = kept_file(tmp_path, b"12345", "Size-Oz")
    path.write_text(damage)
    monkeypatch.setattr(baselines, "_memory", {})
    assert cost_of(b"12345") == 3
    assert Sized.loaded == 2
    assert path.read_text() == "3.0 ok\n"


def test_whole_numbers_stay_whole(tmp_path: Path) -> None:
    path = kept_file(tmp_path, b"12345", "Size-Oz")
    path.parent.mkdir(parents=True)
    path.write_text("9007199254740993 ok\n")
    assert cost_of(b"12345") == 9007199254740993


def test_a_cache_that_cannot_be_written_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("COMPILER_GYM_CACHE", str(tmp_path / "file"))
    with pytest.warns(CacheWarning, match="cannot write"):
        assert cost_of(b"12345") == 3


def test_no_more_than_a_few_thousand_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(baselines, "_REMEMBERED", 3)
    for length in range(1, 7):
        cost_of(b"x" * length)
    assert len(baselines._memory) == 3  # pyright: ignore[reportPrivateUsage]  # no public name tells
