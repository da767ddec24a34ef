# SPDX-License-Identifier: MIT
"""LLVM's part of ``compiler-gym tune``: make one linked file smaller or faster.

``linking`` compiles the sources of a binary and links it, ``whole`` makes one module of it,
``size`` and ``speed`` look for decisions, ``script`` writes them as commands of LLVM's own
tools, and ``job`` is what the command asks for.
"""
