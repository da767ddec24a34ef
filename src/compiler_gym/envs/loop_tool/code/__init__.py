# SPDX-License-Identifier: MIT
"""What a loop tree becomes: ``cpu`` writes it as LLVM IR for processors.

``plan`` says what is written out, ``arithmetic`` and ``text`` are how.
"""
