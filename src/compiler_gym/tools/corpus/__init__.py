# SPDX-License-Identifier: MIT
"""Make datasets: build the packages of a distribution, import and export programs.

``packages`` builds packages with any compiler, ``llvm`` is LLVM's part, and ``commands`` has the
commands."""
