# SPDX-License-Identifier: MIT
"""How programs are made: from a user's files, and preprocessed by GCC.

``source`` is a program as GCC reads it, packed into the bytes of a benchmark; ``own``
makes one of a user's files; ``preprocessed`` is one under some options, which ``macros``
tells apart; ``memo`` caches the facts of programs that were compiled before.
"""
