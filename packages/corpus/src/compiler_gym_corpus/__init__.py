# SPDX-License-Identifier: MIT
"""Create datasets: build the packages of a distribution, import and export programs.

``packages`` builds packages with any compiler plug-in, ``llvm`` is LLVM's plug-in, and
``commands`` contains the commands.
"""

from compiler_gym.lazy import door

__all__: list[str] = []

__getattr__ = door(__name__)
