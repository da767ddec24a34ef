# SPDX-License-Identifier: MIT
"""The protocol in which a stock compiler asks another process for decisions, over two pipes.

LLVM's ``InteractiveModelRunner`` speaks it: ``opt`` and ``clang`` about inlining, ``llc`` about
register allocation, and any program that wants its decisions made elsewhere. ``messages`` reads
and writes the bytes and touches no file; ``pipes`` owns the two FIFOs and waits::

    with Pipes(folder / "channel") as pipes:  # makes channel.in and channel.out
        ...                                   # start the compiler with that base name
        while (message := pipes.receive(seconds=60)) is not None:
            match message:
                case Header():                # one for each compilation: which tensors there are
                    header = message
                case Question():              # the tensors of one decision
                    pipes.answer(header.advice.packed(1))
                case Ended():                 # the compiler closed its end; the next one may come
                    break

Who decides, and what about, is not known here.
"""

from compiler_gym.plugins.interactive.messages import (
    CompilerQuestion,
    FeatureTensor,
    Header,
    Reader,
)
from compiler_gym.plugins.interactive.pipes import EndedConversation, Pipes

__all__ = ["CompilerQuestion", "EndedConversation", "FeatureTensor", "Header", "Pipes", "Reader"]
