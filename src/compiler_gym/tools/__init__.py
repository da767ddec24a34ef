# SPDX-License-Identifier: MIT
"""Tools: each uses environments for one purpose.

A tool imports the kernel, which is the rest of the package; the kernel imports no tool. Entry
points name the commands of a tool and the parts that compilers have for it."""
