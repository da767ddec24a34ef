# SPDX-License-Identifier: MIT
"""Compile loop trees to machine code.

``plan`` decides how each loop is lowered, ``cpu`` writes LLVM IR for processors (with ``text`` and
``arithmetic``) and ``gpu`` for graphics cards; ``compiled`` runs it, and on a card ``carded``,
through ``driver``.
"""
