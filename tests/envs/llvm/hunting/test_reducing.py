# SPDX-License-Identifier: MIT
"""A reduction keeps what the test asks for, and ends when its time is over."""

import time

import pytest

from compiler_gym.envs.llvm.hunting import reducing
from compiler_gym.envs.llvm.hunting.reducing import reduce_ir
from compiler_gym.errors import BenchmarkInitError

from .conftest import ADDS


def test_what_the_test_does_not_need_goes() -> None:
    found = reduce_ir(ADDS, lambda data: b"mul i32" in data, seconds=60)
    assert found.is_finished
    assert "mul i32" in found.texts[-1]
    assert len(found.texts[-1]) < len(ADDS)
    assert "icmp" not in found.texts[-1]


def test_a_reduction_that_hangs_is_ended_and_keeps_the_best_so_far() -> None:
    def slow(data: bytes) -> bool:
        time.sleep(0.2)
        return b"icmp sgt" in data and len(data) >= len(ADDS) - 100

    found = reduce_ir(ADDS, slow, seconds=0.5)
    assert not found.is_finished
    assert "icmp sgt" in found.texts[-1]


def test_without_the_tool_it_says_what_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(BenchmarkInitError, match="apt install llvm"):
        reduce_ir(ADDS, lambda data: True, seconds=1)
    assert reducing.reduce_ir is reduce_ir
