# SPDX-License-Identifier: MIT
"""Find what a compiler's own level misses in real code.

``llvm`` hunts with LLVM, and ``commands`` has the command."""
