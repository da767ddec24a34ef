# SPDX-License-Identifier: MIT
"""Nests for a card: bounds and samples need none, and a driver that counts plays one."""

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from compiler_gym_loop_tool.actions import changes
from compiler_gym_loop_tool.state.descriptions import describe
from compiler_gym_loop_tool.state.reading import parse_program
from compiler_gym_loop_tool.state.reference import compare, random_inputs, reference_outputs
from compiler_gym_loop_tool.state.tree import Tree, initial_tree
from compiler_gym_loop_tool.toolchain.code import carded
from compiler_gym_loop_tool.toolchain.code.carded import card_nest, card_seconds, time_carded
from compiler_gym_loop_tool.toolchain.code.driver import Card
from tests.stand_ins import always


class Fake:
    """A driver whose memory is this process's and whose every kernel adds two arrays."""

    def __init__(self) -> None:
        self.held: dict[int, Any] = {}
        self.modules = 0
        self.launches = 0

    def __getattr__(self, name: str) -> Any:
        return always(0)

    def cuModuleLoadData(self, module: Any, text: bytes) -> int:  # noqa: N802
        assert b".entry nest" in text
        self.modules += 1
        return 0

    def cuModuleUnload(self, module: Any) -> int:  # noqa: N802
        self.modules -= 1
        return 0

    def cuMemAlloc_v2(self, address: Any, size: Any) -> int:  # noqa: N802
        block = ctypes.create_string_buffer(size.value)
        address._obj.value = ctypes.addressof(block)
        self.held[address._obj.value] = block
        return 0

    def cuMemFree_v2(self, address: Any) -> int:  # noqa: N802
        del self.held[address.value]
        return 0

    def cuMemcpyHtoD_v2(self, address: Any, source: Any, size: Any) -> int:  # noqa: N802
        ctypes.memmove(address.value, source.value, size.value)
        return 0

    def cuMemcpyDtoH_v2(self, target: Any, address: Any, size: Any) -> int:  # noqa: N802
        ctypes.memmove(target.value, address.value, size.value)
        return 0

    def cuLaunchKernel(self, *arguments: Any) -> int:  # noqa: N802
        self.launches += 1
        table = ctypes.c_uint64.from_address(arguments[9][0]).value
        size = len(self.held[ctypes.c_uint64.from_address(table).value]) // 4
        a, b, c = (
            np.ctypeslib.as_array(
                (ctypes.c_float * size).from_address(
                    ctypes.c_uint64.from_address(table + 8 * at).value
                )
            )
            for at in range(3)
        )
        c[:] = a + b
        return 0

    def cuEventElapsedTime(self, milliseconds: Any, *events: Any) -> int:  # noqa: N802
        milliseconds._obj.value = 0.5
        return 0


def tree_of(kind: str, words: str) -> Tree:
    return initial_tree(parse_program("target cuda\n" + describe(kind, words)))


def call(function: Callable[..., Any], *arguments: Any) -> Any:
    return function(*arguments)


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Fake:
    fake = Fake()
    card = Card(fake)
    card.architecture = "sm_70"
    monkeypatch.setattr(carded, "open_card", lambda: card)
    monkeypatch.setattr(carded, "call_on_card", call)
    return fake


def test_a_nest_runs_on_copies_and_frees_them(driver: Fake) -> None:
    tree = tree_of("add", "a=100")
    inputs = random_inputs(tree.program)
    found = card_nest(tree).run(inputs)
    assert not compare(tree.program, reference_outputs(tree.program, inputs), found)
    assert driver.launches == 1
    assert not driver.held
    assert driver.modules == 0


def test_nests_are_timed_alternately(driver: Fake) -> None:
    tree = tree_of("add", "a=64")
    estimates = time_carded([card_nest(tree), card_nest(changes.toggle_parallel(tree, (0,)))])
    assert all(estimate.low <= estimate.seconds <= estimate.high for estimate in estimates)
    assert len({len(estimate.samples) for estimate in estimates}) == 1
    assert not driver.held


def test_threads_shorten_the_bound() -> None:
    tree = tree_of("matmul", "m=512,n=512,k=512")
    alone, shared = card_seconds(tree), card_seconds(changes.toggle_parallel(tree, (0,)))
    assert alone == pytest.approx(512 * shared)
