# SPDX-License-Identifier: MIT
"""Make datasets: build the packages of a distribution, import and export programs.

``packages`` builds packages with a compiler that it is given, ``llvm`` is LLVM's part, and
``commands`` has the commands.
"""

from compiler_gym.lazy import door

__all__: list[str] = []

__getattr__ = door(__name__)
