# SPDX-License-Identifier: MIT
"""Tests of the compilers. A package, so that no folder of it hides a library of its name."""
