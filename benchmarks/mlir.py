# SPDX-License-Identifier: MIT
"""How fast schedules of tensor programs are made, and how near they come to numpy.

One thread. Steps and evaluations are wall times of a worker, medians: measure them on a machine
that does nothing else. Products are timed in turns with numpy, whose library has to be told before
it starts: run with ``OPENBLAS_NUM_THREADS=1``.
"""

import os
import time
from statistics import median

import compiler_gym
from benchmarks.measure import Figure, NotSetUpError
from compiler_gym.core import CompilerEnv
from compiler_gym_mlir.actions.moves import parse_move
from compiler_gym_mlir.programs.builders import build
from compiler_gym_mlir.state.program import Program
from compiler_gym_mlir.toolchain.measuring import Bench
from compiler_gym_mlir.toolchain.peak import peak_gflops

STEPS = ("tile-0-64", "block-8x32x4", "promote-1-2", "vectorize-operation", "outerproduct-all")
SCHEDULES = (
    ("tile matmul0 8 32 4", "vectorize matmul0"),
    ("tile matmul0 0 64 0", "tile matmul0 8 32 4", "vectorize matmul0"),
    ("tile matmul0 0 64 0", "tile matmul0 8 32 4", "promote matmul0 1 3", "vectorize matmul0"),
    ("tile matmul0 8 32 4", "promote matmul0 1 2", "vectorize matmul0"),
)
ROUNDS = 5


def measure() -> list[Figure]:
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":
        raise NotSetUpError("numpy may use threads: set OPENBLAS_NUM_THREADS=1")
    began = time.perf_counter()
    with compiler_gym.make("mlir-v0", benchmark="linalg-v0/matmul/128x128x128") as env:
        env.reset()
        start = time.perf_counter() - began
        figures = [
            Figure("make() and the first reset of a process", start, "s"),
            *_steps(env),
            *_evaluations(env),
        ]
    figures.append(Figure("peak of one thread, float32", peak_gflops(), "GFLOPS"))
    for size, least in ((128, 1.0), (512, 1.0), (1024, 0.9)):
        figures += _product(size, least)
    return figures


def _steps(env: CompilerEnv) -> list[Figure]:
    found: dict[str, list[float]] = {name: [] for name in STEPS}
    for _ in range(4 * ROUNDS):
        env.reset()
        for name in STEPS:
            action = env.action_space[name]
            began = time.perf_counter()
            env.step(action, reward_spaces=[])
            found[name].append(time.perf_counter() - began)
    times = {name: median(those) * 1e3 for name, those in found.items()}
    return [
        Figure("step() without a time, median of the kinds", median(times.values()), "ms", 2),
        *(Figure(f"step() {name}", value, "ms") for name, value in times.items()),
    ]


def _evaluations(env: CompilerEnv) -> list[Figure]:
    """Another block each time, since equal modules are compiled once."""
    found: list[float] = []
    for block in ("4x16x4", "8x32x4", "4x32x4", "8x16x4", "4x64x4", "8x32x8", "4x32x8", "8x16x8"):
        env.reset()
        began = time.perf_counter()
        env.multistep(
            [env.action_space[f"block-{block}"], env.action_space["vectorize-operation"]],
            observation_spaces=["RuntimeMedian"],
            reward_spaces=[],
        )
        found.append(time.perf_counter() - began)
    return [
        Figure("a schedule of 128^3, from reset to its time", median(found[1:]) * 1e3, "ms", 60)
    ]


def _product(size: int, least: float) -> list[Figure]:
    """The best of a few schedules, and numpy, in turns."""
    source = build("matmul", (size, size, size))
    programs = [_scheduled(source, moves) for moves in SCHEDULES]
    bench = Bench(source)
    best = min(programs, key=bench.median)
    naive = bench.naive()
    ratios: list[float] = []
    times: list[float] = []
    for _ in range(ROUNDS):
        bench = Bench(source)
        times.append(bench.median(best))
        ratios.append(bench.numpy() / times[-1])
    name = f"matmul {size}^3"
    return [
        Figure(f"{name}, the best schedule", 2 * size**3 / (1e3 * median(times)), "GFLOPS"),
        Figure(f"{name}, against numpy", median(ratios), "x", least, "at least"),
        Figure(f"{name}, against naive code", naive / median(times), "x", 20, "at least"),
    ]


def _scheduled(source: str, moves: tuple[str, ...]) -> str:
    program = Program(source, "benchmark")
    for move in moves:
        program.apply(parse_move(move), "")
    return program.text
