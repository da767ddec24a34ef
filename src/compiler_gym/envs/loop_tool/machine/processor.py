# SPDX-License-Identifier: MIT
"""Nests as machine code of this processor: compiled, called and timed. Runs in a worker.

Memory of a nest is its own and stays where it is, so that one timing is like another.
"""

import contextlib
import ctypes
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from compiler_gym.envs.loop_tool.code.cpu import ENTRY, lower
from compiler_gym.envs.loop_tool.machine.timing import Timing, timing_of
from compiler_gym.envs.loop_tool.nests import changes
from compiler_gym.envs.loop_tool.nests.descriptions import describe
from compiler_gym.envs.loop_tool.nests.reading import parse_program
from compiler_gym.envs.loop_tool.nests.tree import Tree, initial_tree
from compiler_gym.errors import EnvironmentNotSupported

if TYPE_CHECKING:
    import compiler_gym._jit as jit

__all__ = ["Peak", "ProcessorNest", "nest_ir", "processor_peak", "time_nests"]

_LEVEL = 1
"""How much LLVM does to what is written out already."""
_ALIGNMENT = 64
_ROUNDS = 5
_MOST_REPEATS = 1 << 20
_STREAM = 1 << 24
"""The elements of each array for which memory is measured: 64 MiB, beyond any cache."""

Arrays = Mapping[str, NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class Peak:
    """What a machine reaches at most."""

    gflops: float
    """With one thread."""
    bandwidth: float
    """GB/s from and to memory, with one thread."""


class ProcessorNest:
    """A tree as machine code, and the memory of its tensors."""

    def __init__(self, tree: Tree) -> None:
        engine = _engine()
        self.program = tree.program
        is_parallel = any(loop.parallel for _, loop in tree.loops())
        self.threads = engine.thread_count() if is_parallel else 1
        """How many threads a run uses."""
        self.code = engine.compile_cached(nest_ir(tree), _LEVEL)
        self.memory = {t.name: _aligned(t.shape) for t in tree.program.tensors.values()}
        addresses = [array.ctypes.data for array in self.memory.values()]
        self.call = engine.Call(self.code.address(ENTRY), addresses)

    def run(self, inputs: Arrays) -> dict[str, NDArray[np.float32]]:
        """Return the outputs of one run."""
        for name, array in inputs.items():
            self.memory[name][...] = array
        for tensor in self.program.outputs:
            self.memory[tensor.name].fill(np.nan)
        self.call.run()
        return {tensor.name: self.memory[tensor.name].copy() for tensor in self.program.outputs}


def nest_ir(tree: Tree) -> str:
    """Return the LLVM IR of `tree` for this processor."""
    return lower(tree, _engine().vector_bits() // 32)


def time_nests(nests: Sequence[ProcessorNest], seconds: float) -> list[Timing]:
    """Return the timings of `nests`, run in turns for about `seconds` each.

    One run of each warms up, and says how often it is run in a round. Threads are timed by the
    clock on the wall; one thread by what it used of a processor, which others disturb less.
    """
    engine = _engine()
    alone = all(nest.threads == 1 for nest in nests)
    clock = engine.Clock.processor if alone else engine.Clock.wall
    calls = [nest.call for nest in nests]
    with _pinned(alone) as pinned:
        first = engine.time_in_turns(calls, 2, [1] * len(calls), clock)
        share = seconds / _ROUNDS
        repeats = [
            max(1, min(_MOST_REPEATS, int(share / max(min(times), 1e-9)))) for times in first
        ]
        rounds = _ROUNDS if max(map(min, first)) < seconds else 3
        found = engine.time_in_turns(calls, rounds, repeats, clock)
    return [
        timing_of(
            times,
            nest.program.flops,
            runs=rounds * repeat,
            threads=nest.threads,
            pinned=pinned,
        )
        for nest, times, repeat in zip(nests, found, repeats, strict=True)
    ]


@cache
def processor_peak() -> Peak:
    """Return what this machine reaches at most, measured once in a process."""
    return Peak(_arithmetic(), _bandwidth())


def _arithmetic() -> float:
    """Return the GFLOPS of nothing but multiply-adds in registers."""
    engine = _engine()
    width, chains, rounds = engine.vector_bits() // 32, 12, 1 << 15
    vector = f"<{width} x float>"
    code = engine.compile_cached(_peak_ir(vector, width, chains, rounds), 1)
    data = _aligned((2 * width,))
    call = engine.Call(code.address("peak"), [data.ctypes.data])
    with _pinned(True):
        (times,) = engine.time_in_turns([call], 15, [2], engine.Clock.processor)
    return 2 * width * chains * rounds / min(times) / 1e9


def _peak_ir(vector: str, width: int, chains: int, rounds: int) -> str:
    numbers = range(chains)
    phis = "\n".join(
        f"  %a{i} = phi {vector} [ %start, %entry ], [ %n{i}, %loop ]" for i in numbers
    )
    steps = "\n".join(
        f"  %n{i} = call {vector} @llvm.fma.v{width}f32({vector} %a{i}, {vector} %by, "
        f"{vector} %start)"
        for i in numbers
    )
    sums = "\n".join(
        f"  %s{i} = fadd {vector} %n{i}, {f'%s{i - 1}' if i else '%start'}" for i in numbers
    )
    return f"""declare {vector} @llvm.fma.v{width}f32({vector}, {vector}, {vector})
define void @peak(ptr %buffers) {{
entry:
  %data = load ptr, ptr %buffers
  %start = load {vector}, ptr %data
  %next = getelementptr float, ptr %data, i64 {width}
  %by = load {vector}, ptr %next
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %more, %loop ]
{phis}
{steps}
  %more = add i64 %i, 1
  %done = icmp eq i64 %more, {rounds}
  br i1 %done, label %end, label %loop
end:
{sums}
  store {vector} %s{chains - 1}, ptr %data
  ret void
}}
"""


def _bandwidth() -> float:
    """Return the GB/s of an addition of arrays that no cache holds."""
    tree = changes.split(initial_tree(parse_program(describe("add", f"a={_STREAM}"))), (0,), 64)
    nest = ProcessorNest(changes.toggle_vectorise(tree, (0, 0)))
    (timing,) = time_nests([nest], 0.05)
    return nest.program.bytes / timing.seconds / 1e9


def _aligned(shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Return an array of zeros that begins at a line of the cache."""
    count = int(np.prod(shape, dtype=np.int64))
    space = np.zeros(4 * count + _ALIGNMENT, np.uint8)
    begin = -space.ctypes.data % _ALIGNMENT
    return space[begin : begin + 4 * count].view(np.float32).reshape(shape)


@contextlib.contextmanager
def _pinned(wanted: bool) -> Iterator[bool]:
    """Hold this thread on the core where it is, where that is `wanted` and allowed."""
    try:
        before = os.sched_getaffinity(0)
        if wanted:
            os.sched_setaffinity(0, {ctypes.CDLL(None).sched_getcpu()})
    except (OSError, AttributeError):
        yield False
        return
    try:
        yield wanted
    finally:
        os.sched_setaffinity(0, before)


def _engine() -> "type[jit]":  # pyright: ignore[reportGeneralTypeIssues]  # a module
    try:
        import compiler_gym._jit as jit
    except ImportError as error:
        raise EnvironmentNotSupported(
            "this build has no just-in-time compiler (compiler_gym._jit): nothing can be timed. "
            "Build with COMPILER_GYM_JIT=ON"
        ) from error
    return jit
