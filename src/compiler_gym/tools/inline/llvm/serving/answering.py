# SPDX-License-Identifier: MIT
"""Answer what LLVM's inliner asks over pipes, one compilation after the other."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from compiler_gym.errors import CompilerGymError, ServiceTransportError
from compiler_gym.plugins.interactive import CompilerQuestion, EndedConversation, Header, Pipes
from compiler_gym.tools.inline.llvm.observations import INLINE_FEATURES
from compiler_gym.tools.inline.llvm.policies import llvms_own

__all__ = ["answer_compilers", "words_to_ask"]

Begin = Callable[[], AbstractContextManager[Callable[[NDArray[np.int64]], bool]]]


def words_to_ask(base: Path, *, is_driver: bool) -> list[str]:
    """Return what makes LLVM's inliner ask at the pipes of `base`.

    `is_driver` is for ``clang``, otherwise it is for ``opt``. LLVM would ask no more once a module
    has grown to twice its size: that limit is raised, because an environment has none.
    """
    words = [
        "-enable-ml-inliner=release",
        f"-inliner-interactive-channel-base={base}",
        "-inliner-interactive-include-default",
        "-ml-advisor-size-increase-threshold=1000000",
    ]
    if not is_driver:
        return words
    spelt = [part for word in words for part in ("-mllvm", word)]
    return ["--start-no-unused-arguments", *spelt, "--end-no-unused-arguments"]


def answer_compilers(
    pipes: Pipes,
    begin: Begin,
    *,
    wakes: int | None = None,
    refuse: Callable[[CompilerGymError], float],
) -> None:
    """Answer every compiler that asks at `pipes`, until `wakes` can be read and none is asking.

    Args:
        pipes: Where they ask.
        begin: Begins a compilation; its value decides about each call.
        wakes: A descriptor that ends the answering; None for none.
        refuse: Told why the policy failed; returns for how many seconds the compiler is to get no
            answer, in which it may be ended. What asks on gets LLVM's own answers, because a
            compiler without an answer would wait for ever.
    """
    while (message := pipes.receive(wakes=wakes)) is not None:
        if isinstance(message, Header):
            _answer_one(pipes, message, begin, refuse)


def _answer_one(
    pipes: Pipes, header: Header, begin: Begin, refuse: Callable[[CompilerGymError], float]
) -> None:
    try:
        _require_features(header)
        with begin() as decide:
            _answer_questions(pipes, header, decide)
    except CompilerGymError as error:
        if not _ends_within(pipes, refuse(error)):
            _answer_questions(pipes, header, llvms_own)
    except BaseException:  # Ctrl-C: what it still asks is answered, so that it comes to its end
        _answer_questions(pipes, header, llvms_own)
        raise


def _ends_within(pipes: Pipes, seconds: float) -> bool:
    """Return whether the compiler ends in this time, while it gets no answer."""
    while (message := pipes.receive(seconds)) is not None:
        if isinstance(message, EndedConversation):
            return True
    return False


def _require_features(header: Header) -> None:
    if header.names == INLINE_FEATURES and {one.dtype.str for one in header.features} == {"<i8"}:
        return
    missing = [name for name in INLINE_FEATURES if name not in header.names]
    raise ServiceTransportError(
        f"a policy of the inliner is given {len(INLINE_FEATURES)} numbers: found a compiler that "
        f"sends {len(header.names)}"
        + (f", without {missing[0]}: expected clang or opt, told to ask as" if missing else ", as")
        + f" {' '.join(words_to_ask(Path('BASE'), is_driver=False))}"
    )


def _answer_questions(
    pipes: Pipes, header: Header, decide: Callable[[NDArray[np.int64]], bool]
) -> None:
    """Answer all questions of one compiler, from where it is, until it ends."""
    waits_for_answer = pipes.unanswered
    while True:
        question = waits_for_answer or pipes.receive()
        waits_for_answer = None
        if isinstance(question, EndedConversation):
            return
        if isinstance(question, CompilerQuestion):
            features = np.concatenate([tensor.ravel() for tensor in question.tensors])
            pipes.answer(header.advice.pack(decide(features)))
