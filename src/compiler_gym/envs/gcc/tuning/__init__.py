# SPDX-License-Identifier: MIT
"""GCC's part of tuning somebody's project: which of its options make a binary smaller.

``flags`` are the options that never change what a program means, ``making`` compiles and links a
binary with them, ``size`` searches among them, ``script`` writes them as commands and ``gcc_tuner``
is what `compiler_gym.tuning` asks.
"""
