# SPDX-License-Identifier: MIT
"""The peak performance of one thread of this machine, measured instead of read from a table.

MLIR compiles the measured code like every payload, because this library may be built without
another just-in-time compiler.
"""

from functools import cache

import numpy as np

from compiler_gym_mlir.toolchain.lowering import compile_module
from compiler_gym_mlir.toolchain.running import measure_times

__all__ = ["peak_gflops"]

_KERNEL_ROUNDS = 20_000
_WIDTHS = ((64, 24), (32, 12))
"""Vector size in bytes and number of independent sums: as many registers as AVX-512 and AVX2 have
left next to the operands."""


@cache
def peak_gflops(element: str = "f32") -> float:
    """Return the peak of one thread, from registers, in 10^9 operations per second: the best of
    several widths; measured once per process, in about 0.05 s."""
    bits = int(element[1:])
    return max(_measure_reached(8 * width // bits, chains, element) for width, chains in _WIDTHS)


def _measure_reached(lanes: int, chains: int, element: str) -> float:
    kernel = compile_module(_products(lanes, chains, element))
    ones = [np.full((chains, lanes), 0.5, f"float{element[1:]}") for _ in kernel.inputs]
    seconds = min(measure_times(kernel.bind(ones), 15, 2))
    return 2 * lanes * chains * _KERNEL_ROUNDS / seconds / 1e9


def _products(lanes: int, chains: int, element: str) -> str:
    """Return a loop of independent chains of fused multiply-adds."""
    tensor, vector = f"tensor<{chains}x{lanes}x{element}>", f"vector<{lanes}x{element}>"
    read = "".join(
        f"  %c{n} = arith.constant {n} : index\n"
        f"  %v{n} = vector.transfer_read %a[%c{n}, %c0], %zero {{in_bounds = [true]}} "
        f": {tensor}, {vector}\n"
        for n in range(chains)
    )
    carried = ", ".join(f"%x{n} = %v{n}" for n in range(chains))
    fused = "".join(f"    %y{n} = vector.fma %x{n}, %v0, %v0 : {vector}\n" for n in range(chains))
    write = "".join(
        f"  %t{n + 1} = vector.transfer_write %s#{n}, %t{n}[%c{n}, %c0] {{in_bounds = [true]}} "
        f": {vector}, {tensor}\n"
        for n in range(chains)
    )
    kinds = ", ".join([vector] * chains)
    return (
        f"module {{\nfunc.func @main(%a: {tensor}) -> {tensor} {{\n"
        f"  %zero = arith.constant 0.0 : {element}\n  %one = arith.constant 1 : index\n"
        f"  %rounds = arith.constant {_KERNEL_ROUNDS} : index\n{read}"
        f"  %s:{chains} = scf.for %i = %c0 to %rounds step %one iter_args({carried}) -> ({kinds}) "
        f"{{\n{fused}    scf.yield {', '.join(f'%y{n}' for n in range(chains))} : {kinds}\n  }}\n"
        f"  %t0 = tensor.empty() : {tensor}\n{write}  return %t{chains} : {tensor}\n}}\n}}\n"
    )
