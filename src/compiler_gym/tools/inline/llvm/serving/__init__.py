# SPDX-License-Identifier: MIT
"""A policy answers stock ``clang`` and ``opt``: they ask about each call over two pipes.

``answering`` is one conversation after the other over a pair of pipes; ``server`` gives each of
many compilers a pair of its own, and the words that make it ask; ``launcher`` is the script that
stands for a compiler on PATH meanwhile.
"""

from compiler_gym.tools.inline.llvm.serving.answering import answer_compilers, words_to_ask
from compiler_gym.tools.inline.llvm.serving.server import PolicyServer, serve

__all__ = ["PolicyServer", "answer_compilers", "serve", "words_to_ask"]
