# SPDX-License-Identifier: MIT
"""Serve a policy to stock ``clang`` and ``opt``, which ask about each call over two pipes.

``answering`` handles one compilation after another on a pair of pipes; ``server`` gives each
compiler its own pair of pipes and the flags to use it; ``launcher`` is the script that replaces a
compiler on PATH.
"""

from compiler_gym_inline.llvm.serving.answering import answer_compilers, words_to_ask
from compiler_gym_inline.llvm.serving.server import PolicyServer, serve

__all__ = ["PolicyServer", "answer_compilers", "serve", "words_to_ask"]
