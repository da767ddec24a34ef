# SPDX-License-Identifier: MIT
"""Tools: each uses environments for one purpose.

A tool imports the kernel, which is the rest of the package; the kernel imports no tool. Entry
points name the commands of a tool and the parts that compilers have for it.
"""

from compiler_gym.lazy import door

__all__: list[str] = []

__getattr__ = door(__name__)
