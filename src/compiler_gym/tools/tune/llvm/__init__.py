# SPDX-License-Identifier: MIT
"""LLVM's part of ``compiler-gym tune``: make one linked file smaller or faster.

``linking`` compiles and links the sources of a binary, and ``whole`` joins them into one module.
``size`` searches for decisions that make the binary small. ``choices`` lists flags that may make it
faster, ``profiling`` and ``bolt`` collect profiles, and ``fast`` tunes for speed with timed runs.
``script`` writes plans as commands for LLVM's own tools, and ``llvm_tuner`` is the entry point for
`compiler_gym.tools.tune`.
"""
