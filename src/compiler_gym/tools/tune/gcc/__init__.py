# SPDX-License-Identifier: MIT
"""GCC's part of ``compiler-gym tune``: find options that make a binary smaller or faster.

``flags`` lists the options that preserve a program's semantics, ``making`` compiles and links a
binary with them, and ``size`` searches them. ``choices`` lists options that may make a program
faster, ``profiling`` stores profiles, and ``fast`` tunes for speed with timed runs. ``script``
writes plans as commands, and ``gcc_tuner`` is the entry point for `compiler_gym.tools.tune`.
"""
