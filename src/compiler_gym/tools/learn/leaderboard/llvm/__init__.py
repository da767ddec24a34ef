# SPDX-License-Identifier: MIT
"""What leaderboards fix for LLVM: ``tasks``, and ``instcount``, that of CompilerGym 0.2.5."""
