# SPDX-License-Identifier: MIT
"""How a program comes to be: its files, a user's own, and what a GCC preprocesses them to.

``source`` is a program as GCC reads it, packed into the bytes of a benchmark; ``own``
makes one of a user's files; ``preprocessed`` is one under some options, which ``macros``
tells apart; ``memo`` keeps what is known of programs that were compiled before.
"""
