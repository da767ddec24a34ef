# SPDX-License-Identifier: MIT
"""Loop trees as machine code.

``plan`` decides how each loop is written, ``cpu`` writes LLVM IR for processors (with ``text`` and
``arithmetic``) and ``gpu`` for graphics cards; ``compiled`` runs it, on the card through
``driver``.
"""
