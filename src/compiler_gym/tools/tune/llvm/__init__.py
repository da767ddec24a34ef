# SPDX-License-Identifier: MIT
"""LLVM's part of ``compiler-gym tune``: make one linked file smaller or faster.

``linking`` compiles and links the sources of a binary, and ``whole`` joins them into one module.
``size`` searches for decisions that make the binary small. ``profiling`` collects profiles, and
``speed`` keeps a build with one if it is faster.
``script`` writes plans as commands for LLVM's own tools, and ``llvm_tuner`` is the entry point for
`compiler_gym.tools.tune`.
"""
