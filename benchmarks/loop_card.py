# SPDX-License-Identifier: MIT
"""Loop trees on an NVIDIA card: results compared with numpy, and speed beside the card's peak.

Every kind of program is changed by random actions and run on the card; a result that numpy does
not confirm is an error. Speed is the card's own, between two of its events, for the fastest of a
few schedules; copies to the card and back do not count. The peak follows from the card's clocks, so
a card that lowers its clock under load cannot reach it. The processor's figure is numpy's.
"""

import ctypes
import random
from collections.abc import Sequence

import numpy as np

from benchmarks.measure import Figure, NotSetUpError, median_seconds
from compiler_gym.errors import WrongResultError
from compiler_gym_loop_tool.actions import LOOPS, TABLE
from compiler_gym_loop_tool.state.cursor import Cursor
from compiler_gym_loop_tool.state.descriptions import KINDS, describe
from compiler_gym_loop_tool.state.program import Program
from compiler_gym_loop_tool.state.reading import parse_program
from compiler_gym_loop_tool.state.reference import compare, random_inputs, reference_outputs
from compiler_gym_loop_tool.state.tree import Loop, Tree, initial_tree, settle_nodes
from compiler_gym_loop_tool.toolchain.code.carded import card_nest, card_seconds, time_carded
from compiler_gym_loop_tool.toolchain.code.compiled import tensor_memory
from compiler_gym_loop_tool.toolchain.code.driver import Card, is_available, open_card

TREES, ACTIONS = 40, 12
SECONDS = 0.05
_LONGEST_CHECK = 2.0
_CLOCK, _PROCESSORS, _MEMORY_CLOCK, _BUS = 13, 16, 36, 37
_LANES = {70: 64, 75: 64, 80: 64}
"""The float32 lanes of a multiprocessor; 128 on all others since compute capability 8.6."""


def measure() -> list[Figure]:
    if not is_available():
        raise NotSetUpError("it needs an NVIDIA card and its driver")
    card = open_card()
    checked = sum(_check(kind) for kind in KINDS)
    return [
        Figure(f"{_name(card)}: peak, float32", _peak_gflops(card), "GFLOPS"),
        Figure("its memory, by its clock", _bandwidth(card), "GB/s"),
        Figure("trees of random actions, same results as numpy", checked, ""),
        *_additions(card),
        *_matmuls(card),
    ]


def _check(kind: str) -> int:
    """Compare the results of random trees of a kind with numpy; return how many ran."""
    rng = random.Random(kind)
    start = _program(kind, ",".join(f"{dim}={rng.randint(1, 40)}" for dim in KINDS[kind].sizes))
    inputs = random_inputs(start)
    expected = reference_outputs(start, inputs)
    count = 0
    for _ in range(TREES):
        cursor = Cursor(initial_tree(start))
        for action in rng.choices(TABLE[LOOPS], k=ACTIONS):
            cursor = action.apply(cursor)
        if card_seconds(cursor.tree) > _LONGEST_CHECK:
            continue
        wrong = compare(start, expected, card_nest(cursor.tree).run(inputs))
        if wrong:
            raise WrongResultError(f"{kind}: {wrong[0]}; the nest is\n{cursor.tree}")
        count += 1
    return count


def _additions(card: Card) -> list[Figure]:
    figures = []
    for size in (2**20, 2**25):
        program = _program("add", f"a={size}")
        seconds = _fastest([
            _nest(program, *outer, ("a", 1, "parallel"))
            for outer in ((), (("a", 256, "parallel"),), (("a", 1024, "parallel"),))
        ])  # fmt: skip
        rate = program.bytes / seconds / 1e9
        a, b, c = tensor_memory(program, random_inputs(program)).values()
        by_numpy = median_seconds(lambda a=a, b=b, c=c: np.add(a, b, out=c), repeats=9)
        figures += [
            Figure(f"a + b, {size} numbers", rate, "GB/s"),
            Figure("  share of its memory's rate", rate / _bandwidth(card), ""),
            Figure("  times as fast as numpy", by_numpy / seconds, ""),
        ]
    return figures


def _matmuls(card: Card) -> list[Figure]:
    figures = []
    for size in (128, 512, 2048):
        program = _program("matmul", f"m={size},n={size},k={size}")
        seconds = _fastest([
            _nest(program, ("m", rows, "parallel"), ("n", 1, "parallel"), ("k", 1, ""), *inner)
            for rows, inner in ((1, ()), *((rows, (("m", 1, "unroll"),)) for rows in (2, 4, 8, 16)))
        ])  # fmt: skip
        rate = program.flops / seconds / 1e9
        a, b, c = tensor_memory(program, random_inputs(program)).values()
        by_numpy = median_seconds(lambda a=a, b=b, c=c: np.matmul(a, b, out=c), repeats=9)
        figures += [
            Figure(f"matmul, {size} cubed", rate, "GFLOPS"),
            Figure("  share of its peak", rate / _peak_gflops(card), ""),
            Figure("  times as fast as numpy", by_numpy / seconds, ""),
        ]
    return figures


def _program(kind: str, sizes: str) -> Program:
    return parse_program("target cuda\n" + describe(kind, sizes))


def _nest(program: Program, *loops: tuple[str, int, str]) -> Tree:
    node: Loop | int = 0
    for dim, step, note in reversed(loops):
        node = Loop(dim, 0, step, (node,), unroll=note == "unroll", parallel=note == "parallel")
    return Tree(program, settle_nodes((node,), program.dims))


def _fastest(trees: Sequence[Tree]) -> float:
    nests = [card_nest(tree) for tree in trees]
    return min(estimate.seconds for estimate in time_carded(nests, seconds=SECONDS))


def _peak_gflops(card: Card) -> float:
    capability = 10 * card.attribute(_device(card), 75) + card.attribute(_device(card), 76)
    lanes = _LANES.get(capability, 128) * card.attribute(_device(card), _PROCESSORS)
    return 2 * lanes * card.attribute(_device(card), _CLOCK) / 1e6


def _bandwidth(card: Card) -> float:
    bits = 2 * card.attribute(_device(card), _MEMORY_CLOCK) * card.attribute(_device(card), _BUS)
    return bits * 1e3 / 8 / 1e9


def _device(card: Card) -> ctypes.c_int:
    device = ctypes.c_int()
    card.call("cuDeviceGet", ctypes.byref(device), 0)
    return device


def _name(card: Card) -> str:
    text = ctypes.create_string_buffer(128)
    card.call("cuDeviceGetName", text, len(text), _device(card))
    return text.value.decode()
