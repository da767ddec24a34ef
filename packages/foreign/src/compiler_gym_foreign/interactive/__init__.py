# SPDX-License-Identifier: MIT
"""The protocol in which a stock compiler requests decisions from another process over two pipes.

LLVM's ``InteractiveModelRunner`` uses it: ``opt`` and ``clang`` for inlining, ``llc`` for register
allocation, and any program whose decisions are made elsewhere. ``messages`` reads and writes the
bytes without any files; ``pipes`` owns the two FIFOs and waits::

    with Pipes(folder / "channel") as pipes:  # makes channel.in and channel.out
        ...                                   # start the compiler with that base name
        while (message := pipes.receive(seconds=60)) is not None:
            match message:
                case Header():                # once for each compilation: the list of tensors
                    header = message
                case Question():              # the tensors of one decision
                    pipes.answer(header.advice.packed(1))
                case Ended():                 # the compiler closed its end; another may follow
                    break

This package is independent of the policy and of the kind of decision.
"""

from compiler_gym_foreign.interactive.messages import (
    CompilerQuestion,
    FeatureTensor,
    Header,
    Reader,
)
from compiler_gym_foreign.interactive.pipes import EndedConversation, Pipes

__all__ = ["CompilerQuestion", "EndedConversation", "FeatureTensor", "Header", "Pipes", "Reader"]
