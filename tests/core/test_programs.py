# SPDX-License-Identifier: MIT
"""Which program an environment's next episode runs on."""

import pytest

from compiler_gym.core.programs import Programs
from compiler_gym.datasets import Benchmark, Datasets
from compiler_gym.errors import BenchmarkTypeError, UnknownNameError
from compiler_gym.testing.fake_environment import NumbersDataset

SEVEN = "benchmark://fake-v0/7"


def programs(upcoming: str | Benchmark | None = None) -> Programs:
    return Programs(Datasets([NumbersDataset()]), upcoming)


def test_the_benchmark_of_a_reset_overrides_the_set_one_and_that_the_last_one() -> None:
    chosen, last = programs(SEVEN), Benchmark("benchmark://fake-v0/1", b"1")
    assert chosen.take("fake-v0/3", last).contents == b"3"
    assert chosen.take(None, last) is last
    chosen.upcoming = SEVEN
    assert chosen.take(None, last).contents == b"7"
    assert chosen.upcoming is None


def test_a_program_that_cannot_be_found_leaves_the_choice() -> None:
    chosen = programs(SEVEN)
    with pytest.raises(UnknownNameError, match="number"):
        chosen.take("fake-v0/none", None)
    assert chosen.upcoming == SEVEN


def test_without_a_valid_program_it_names_the_expected_form() -> None:
    with pytest.raises(BenchmarkTypeError, match=r"reset\(benchmark=...\)"):
        programs().take(None, None)
    with pytest.raises(BenchmarkTypeError, match="got int"):
        programs().find(3)


def test_a_program_that_was_given_is_found_again_by_its_address() -> None:
    mine = Benchmark(SEVEN, b"7")
    assert programs(mine).find_given(SEVEN, None) is mine
    assert programs().find_given(SEVEN, mine) is mine
    assert programs(SEVEN).find_given(SEVEN, None) is None


def test_a_copy_has_its_own_datasets_and_the_same_choice() -> None:
    chosen = programs(SEVEN)
    twin = chosen.copy()
    twin.datasets.remove("benchmark://fake-v0")
    assert twin.upcoming == SEVEN
    assert len(list(chosen.datasets)) == 1
