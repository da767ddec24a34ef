# SPDX-License-Identifier: MIT
"""Leaderboards of LLVM: ``tasks``, and ``instcount``, the one of CompilerGym 0.2.5."""
