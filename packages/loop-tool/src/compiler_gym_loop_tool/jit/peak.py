# SPDX-License-Identifier: MIT
"""The peak performance of one thread of this machine, measured instead of read from a table."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from compiler_gym_loop_tool.jit.clocks import estimate_in_turns
from compiler_gym_loop_tool.jit.compiling import Call, compile_ir, vector_lanes

__all__ = ["Peak", "measure_peak"]

_CHAINS = 24
"""Number of independent sums: enough to cover the latency of any processor's units, and few
enough to fit in its registers together with their operands."""
_CHAINS_OF_FEW_REGISTERS = 12
_LOOP_ROUNDS = 20_000
_ELEMENTS = 2**23
"""Elements of each streamed array: 32 MiB, more than a core's share of any cache."""


@dataclass(frozen=True, slots=True)
class Peak:
    """The peak performance of one thread."""

    gflops: float
    """Multiplications and additions of float32 in registers, in 10^9 per second."""
    bandwidth: float
    """Bytes read and written by a sum of two large arrays into a third, in 10^9 per second."""


@cache
def measure_peak() -> Peak:
    """Return this machine's peak; the first call measures for about a third of a second."""
    lanes = vector_lanes()
    chains = _CHAINS if lanes >= 16 else _CHAINS_OF_FEW_REGISTERS
    sink = np.zeros(lanes * chains, np.float32)
    products = compile_ir(_products_per_second(lanes, chains), level=None).on("peak", [sink])
    seconds = _best_seconds(products)
    gflops = 2 * lanes * chains * _LOOP_ROUNDS / seconds / 1e9
    arrays = [np.ones(_ELEMENTS, np.float32) for _ in range(3)]
    seconds = _best_seconds(compile_ir(_sums(lanes), level=None).on("peak", arrays))
    return Peak(gflops, 12 * _ELEMENTS / seconds / 1e9)


def _best_seconds(call: Call) -> float:
    (result,) = estimate_in_turns([call], seconds=0.15, noise=0.001)
    return min(result.samples)


def _products_per_second(lanes: int, chains: int) -> str:
    """Return a loop of fused multiply-adds on registers, as LLVM IR."""
    kind = f"<{lanes} x float>"
    numbers = range(chains)
    phis = "".join(f"  %a{n} = phi {kind} [%s, %entry], [%b{n}, %loop]\n" for n in numbers)
    fused = "".join(
        f"  %b{n} = call {kind} @llvm.fma.v{lanes}f32({kind} %a{n}, {kind} %s, {kind} %s)\n"
        for n in numbers
    )
    stores = "".join(
        f"  %p{n} = getelementptr float, ptr %sink, i64 {n * lanes}\n"
        f"  store {kind} %b{n}, ptr %p{n}, align 4\n"
        for n in numbers
    )
    return f"""declare {kind} @llvm.fma.v{lanes}f32({kind}, {kind}, {kind})
define void @peak(ptr %buffers) {{
entry:
  %sink = load ptr, ptr %buffers
  %s = load {kind}, ptr %sink, align 4
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%next, %loop]
{phis}{fused}  %next = add i64 %i, 1
  %more = icmp ult i64 %next, {_LOOP_ROUNDS}
  br i1 %more, label %loop, label %done
done:
{stores}  ret void
}}
"""


def _sums(lanes: int) -> str:
    """Return a loop that adds two arrays into a third, as LLVM IR."""
    kind = f"<{lanes} x float>"
    return f"""define void @peak(ptr %buffers) {{
entry:
  %a = load ptr, ptr %buffers
  %b.at = getelementptr ptr, ptr %buffers, i64 1
  %b = load ptr, ptr %b.at
  %c.at = getelementptr ptr, ptr %buffers, i64 2
  %c = load ptr, ptr %c.at
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%next, %loop]
  %x.at = getelementptr float, ptr %a, i64 %i
  %x = load {kind}, ptr %x.at, align 4
  %y.at = getelementptr float, ptr %b, i64 %i
  %y = load {kind}, ptr %y.at, align 4
  %z = fadd {kind} %x, %y
  %z.at = getelementptr float, ptr %c, i64 %i
  store {kind} %z, ptr %z.at, align 4
  %next = add i64 %i, {lanes}
  %more = icmp ult i64 %next, {_ELEMENTS}
  br i1 %more, label %loop, label %done
done:
  ret void
}}
"""
