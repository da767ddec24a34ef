# SPDX-License-Identifier: MIT
"""Textual LLVM IR as machine code of this process: compiled, called on arrays, and timed.

``compiling`` makes and calls code, ``clocks`` says how long calls take, ``peak`` what the machine
reaches at most. What the code computes is not known here. Code that writes where it may not ends
the process: call it in a worker.
"""

from compiler_gym.envs.loop_tool.jit.clocks import (
    Estimate,
    estimate_in_turns,
    first_run,
    pin_thread,
)
from compiler_gym.envs.loop_tool.jit.compiling import (
    Call,
    Compiled,
    assembly,
    compile_ir,
    set_threads,
    threads,
    vector_lanes,
)
from compiler_gym.envs.loop_tool.jit.peak import Peak, measure_peak

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
