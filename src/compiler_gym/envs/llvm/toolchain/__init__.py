# SPDX-License-Identifier: MIT
"""LLVM's tools, versions and targets: everything that a change of LLVM's version touches.

``clang`` and ``engine`` are tools, ``build`` links, ``running`` measures, and ``executable`` is
all of it for one episode; ``target`` is the machine that code is made for, ``baselines`` keeps
what the compiler's own levels cost, ``plugins`` loads passes of others.
Nothing here knows where a program came from (``programs``) or judges it (``validation``).
"""
