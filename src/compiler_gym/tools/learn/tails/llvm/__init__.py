# SPDX-License-Identifier: MIT
"""Tails of LLVM: from a corpus to a model, and its use.

``corpus`` samples modules of packages, ``learning`` searches for tails and labels functions, and
``using`` improves a module. ``passes`` lists the passes of tails; ``engine`` and ``mining`` have
the functions that run in worker processes.
"""
