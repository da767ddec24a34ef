# SPDX-License-Identifier: MIT
"""How near machine code of loop trees comes to numpy, how fast it is made, and steps a second.

One thread; processor time, our code and numpy's in turns, the median of the ratios. numpy's
library has to be told before it starts: run with ``OPENBLAS_NUM_THREADS=1``. Steps are random
actions, by the clock on the wall, the median of several episodes; about half of them leave the
tree as it was. Sessions are in this process, where nothing else is said.
"""

import os
import random
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

import compiler_gym
from benchmarks import loop_parts
from benchmarks.measure import Figure, NotSetUpError
from compiler_gym_loop_tool.jit import measure_peak, vector_lanes
from compiler_gym_loop_tool.state.descriptions import describe
from compiler_gym_loop_tool.state.program import Program
from compiler_gym_loop_tool.state.reading import parse_program
from compiler_gym_loop_tool.state.reference import random_inputs
from compiler_gym_loop_tool.state.tree import Loop, Tree, initial_tree, settle_nodes
from compiler_gym_loop_tool.toolchain.code.compiled import CompiledNest, compile_nest

ROUNDS = 15
EPISODES, ACTIONS = 6, 60


def measure() -> list[Figure]:
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":
        raise NotSetUpError("numpy may use threads: set OPENBLAS_NUM_THREADS=1")
    peak = measure_peak()
    return [
        Figure("peak of one thread, float32", peak.gflops, "GFLOPS"),
        Figure("bandwidth of one thread, a + b", peak.bandwidth, "GB/s"),
        *_matmuls(),
        *_additions(),
        *loop_parts.figures(),
        *_compiling(),
        *_stepping(),
    ]


def tile(program: Program, rows: int, vectors: int) -> Tree:
    """Sums of `rows` times `vectors` vectors in registers, the second operand packed."""
    lanes = vector_lanes()
    loops = (
        Loop("n", 0, vectors * lanes, (), packs=("B",)),
        Loop("m", 0, rows, ()),
        Loop("k", 0, 1, ()),
        Loop("m", 0, 1, (), unroll=True),
        Loop("n", 0, 1, (), vectorise=True),
    )
    node: Loop | int = 0
    for loop in reversed(loops):
        node = Loop(
            loop.dim, 0, loop.step, (node,),
            unroll=loop.unroll, vectorise=loop.vectorise, packs=loop.packs,
        )  # fmt: skip
    return Tree(program, settle_nodes((node,), program.dims))


def _program(kind: str, words: str) -> Program:
    return parse_program(describe(kind, words))


def _tiles(program: Program) -> list[CompiledNest]:
    shapes = ((8, 2), (12, 2), (8, 3)) if vector_lanes() >= 16 else ((4, 2), (6, 2), (4, 3))
    return [compile_nest(tile(program, *shape)) for shape in shapes]


def _matmuls() -> list[Figure]:
    figures = []
    for size in (128, 512):
        program = _program("matmul", f"m={size},n={size},k={size}")
        a, b = random_inputs(program).values()
        out = np.empty((size, size), np.float32)
        ratio, seconds = max(
            _against(nest, lambda a=a, b=b, out=out: np.matmul(a, b, out=out))
            for nest in _tiles(program)
        )
        name = f"matmul {size}^3"
        figures += [
            Figure(f"{name}, the best tile", 2 * size**3 / seconds / 1e9, "GFLOPS"),
            Figure(f"{name}, against numpy", ratio, "x", 0.95, "at least"),
        ]
    return figures


def _additions() -> list[Figure]:
    figures = []
    for size in (2**12, 2**16, 2**20, 2**23):
        program = _program("add", f"a={size}")
        a, b = random_inputs(program).values()
        out = np.empty(size, np.float32)
        ratio, _ = _against(
            compile_nest(initial_tree(program)),
            lambda a=a, b=b, out=out: np.add(a, b, out=out),
        )
        figures.append(Figure(f"a + b, {size} numbers, against numpy", ratio, "x", 0.9, "at least"))
    return figures


def _against(nest: CompiledNest, theirs: Callable[[], object]) -> tuple[float, float]:
    """Return how many times as fast as numpy a nest is, and the seconds of its fastest run."""
    once = max(_seconds(theirs, 2), 1e-7)
    repeats = max(1, int(0.004 / once))
    ours: list[float] = []
    numpy: list[float] = []
    for _ in range(ROUNDS):
        ours.append(_seconds(nest.call.run, repeats))
        numpy.append(_seconds(theirs, repeats))
    return median(b / a for a, b in zip(ours, numpy, strict=True)), min(ours)


def _seconds(work: Callable[[], object], repeats: int) -> float:
    work()
    began = time.thread_time()
    for _ in range(repeats):
        work()
    return (time.thread_time() - began) / repeats


def _compiling() -> list[Figure]:
    """Compile another tree each time, since equal ones are compiled once."""
    tiles: list[float] = []
    naive: list[float] = []
    for size in range(128, 136):
        program = _program("matmul", f"m={size},n=128,k=128")
        inputs = random_inputs(program)
        for tree, found in ((tile(program, 8, 2), tiles), (initial_tree(program), naive)):
            began = time.process_time()
            compile_nest(tree).run(inputs)
            found.append(time.process_time() - began)
    return [
        Figure("compile and run a matmul of 128^3 once: a tile", median(tiles) * 1e3, "ms", 10),
        Figure("... and the nest that it begins with", median(naive) * 1e3, "ms", 10),
    ]


def _stepping() -> list[Figure]:
    """Take random actions, others in each episode, since nests that were seen are kept."""
    asked: tuple[tuple[int, str, Any, str, int | None], ...] = (
        (16, "loop_tree", "in-process", "the tree as text, nothing timed", 2000),
        (16, "loop_tree", "process", "the same of a session in another process", None),
        (16, "flops", "in-process", "timed", 100),
        (128, "flops", "in-process", "timed", 100),
        (128, "flops_gain", "in-process", "timed in turns with the nest before", None),
    )
    figures: list[Figure] = []
    for size, observation, isolation, words, promise in asked:
        uri = f"loop_tool://matmul/m={size},n={size},k={size}"
        with compiler_gym.make(
            "loop_tool-v0",
            action_space="loops",
            observation_space=observation,
            reward_space=None if observation == "loop_tree" else observation,
            benchmark=uri,
            isolation=isolation,
        ) as env:
            rate = median(_rate(env, seed) for seed in range(EPISODES))
        name = f"steps a second, matmul {size}^3, {words}"
        figures.append(Figure(name, rate, "/s", promise, "at least"))
    return figures


def _rate(env: compiler_gym.CompilerEnv, seed: int) -> float:
    env.reset()
    draw = random.Random(seed)
    actions = [draw.randrange(len(env.action_space.names)) for _ in range(ACTIONS)]
    began = time.perf_counter()
    for action in actions:
        env.step(action)
    return ACTIONS / (time.perf_counter() - began)
