# SPDX-License-Identifier: MIT
"""Finding what a compiler's own level misses in real code."""
