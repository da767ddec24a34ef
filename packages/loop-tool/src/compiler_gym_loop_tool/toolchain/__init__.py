# SPDX-License-Identifier: MIT
"""The toolchain of loop nests: ``code`` compiles trees, ``measuring`` stores, checks and times the
nests of a session, and ``timing`` holds a time with its confidence interval.
"""
