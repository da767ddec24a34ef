# SPDX-License-Identifier: MIT
"""Compile textual LLVM IR to machine code in this process, call it on arrays, and time it.

``compiling`` compiles and calls code, ``clocks`` times calls, and ``peak`` measures the machine's
limits. This package does not depend on what the code computes. Code that writes out of bounds can
end the process: call it in a worker.
"""

from compiler_gym_loop_tool.jit.clocks import (
    Estimate,
    estimate_in_turns,
    first_run,
    pin_thread,
)
from compiler_gym_loop_tool.jit.compiling import (
    Call,
    Compiled,
    assembly,
    compile_ir,
    set_threads,
    threads,
    vector_lanes,
)
from compiler_gym_loop_tool.jit.peak import Peak, measure_peak

__all__ = [
    "Call",
    "Compiled",
    "Estimate",
    "Peak",
    "assembly",
    "compile_ir",
    "estimate_in_turns",
    "first_run",
    "measure_peak",
    "pin_thread",
    "set_threads",
    "threads",
    "vector_lanes",
]
