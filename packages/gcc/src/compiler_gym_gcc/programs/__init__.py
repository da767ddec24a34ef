# SPDX-License-Identifier: MIT
"""Programs: made from a user's files, and preprocessed with GCC.

``source`` is a program as GCC reads it, packed into the bytes of a benchmark; ``own`` makes one
from a user's files; ``preprocessed`` is one under given options, distinguished by their ``macros``;
``memo`` caches the facts of programs that were compiled before.
"""
