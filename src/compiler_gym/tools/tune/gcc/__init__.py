# SPDX-License-Identifier: MIT
"""GCC's part of tuning somebody's project: which of its options make a binary smaller or faster.

``flags`` are the options that never change what a program means, ``making`` compiles and links a
binary with them, and ``size`` searches among them. ``choices`` are what may make a program faster,
``profiling`` keeps what a run of it counted, and ``fast`` is GCC's part of a tuning by runs.
``script`` writes plans as commands, and ``gcc_tuner`` is what `compiler_gym.tools.tune` asks.
"""
