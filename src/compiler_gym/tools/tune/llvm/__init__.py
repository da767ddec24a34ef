# SPDX-License-Identifier: MIT
"""LLVM's part of ``compiler-gym tune``: make one linked file smaller or faster.

``linking`` compiles the sources of a binary and links it, and ``whole`` makes one module of it.
``size`` looks for decisions that make it small. ``choices`` are what may make it faster,
``profiling`` and ``bolt`` learn from runs, and ``fast`` is LLVM's part of a tuning by runs.
``script`` writes plans as commands of LLVM's own tools, and ``llvm_tuner`` is what
`compiler_gym.tools.tune` asks.
"""
