# SPDX-License-Identifier: MIT
"""The leaderboards of LLVM."""
