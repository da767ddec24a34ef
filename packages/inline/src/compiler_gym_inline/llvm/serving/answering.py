# SPDX-License-Identifier: MIT
"""Answer the requests of LLVM's inliner over pipes, one compilation after another."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from compiler_gym.errors import CompilerGymError, ServiceTransportError
from compiler_gym_foreign.interactive import CompilerQuestion, EndedConversation, Header, Pipes
from compiler_gym_inline.llvm.observations import INLINE_FEATURES
from compiler_gym_inline.llvm.policies import llvms_own

__all__ = ["answer_compilers", "words_to_ask"]

Begin = Callable[[], AbstractContextManager[Callable[[NDArray[np.int64]], bool]]]


def words_to_ask(base: Path, *, is_driver: bool) -> list[str]:
    """Return the flags that make LLVM's inliner use the pipes of `base`.

    The flags are for ``clang`` if `is_driver`, otherwise for ``opt``. LLVM normally stops asking
    when a module has doubled in size; this limit is raised, because environments have none.
    """
    flags = [
        "-enable-ml-inliner=release",
        f"-inliner-interactive-channel-base={base}",
        "-inliner-interactive-include-default",
        "-ml-advisor-size-increase-threshold=1000000",
    ]
    if not is_driver:
        return flags
    arguments = [part for flag in flags for part in ("-mllvm", flag)]
    return ["--start-no-unused-arguments", *arguments, "--end-no-unused-arguments"]


def answer_compilers(
    pipes: Pipes,
    begin: Begin,
    *,
    wakes: int | None = None,
    refuse: Callable[[CompilerGymError], float],
) -> None:
    """Answer compilers on `pipes` until `wakes` becomes readable and none is active.

    Args:
        pipes: The pipes that compilers use.
        begin: Begins a compilation; its value decides each call.
        wakes: A file descriptor that ends the answering; None for none.
        refuse: Called with the error if the policy fails; returns the time in seconds to withhold
            answers, so that the compiler can be killed. After that LLVM's own answers are used,
            because a compiler without an answer would wait forever.
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
    except BaseException:  # Ctrl-C: keep answering, so that the compiler can finish
        _answer_questions(pipes, header, llvms_own)
        raise


def _ends_within(pipes: Pipes, seconds: float) -> bool:
    """Return whether the compiler ends within `seconds` without an answer."""
    while (message := pipes.receive(seconds)) is not None:
        if isinstance(message, EndedConversation):
            return True
    return False


def _require_features(header: Header) -> None:
    if header.names == INLINE_FEATURES and {spec.dtype.str for spec in header.features} == {"<i8"}:
        return
    missing = [name for name in INLINE_FEATURES if name not in header.names]
    raise ServiceTransportError(
        f"an inlining policy needs {len(INLINE_FEATURES)} features, but the compiler sends "
        f"{len(header.names)}"
        + (f", without {missing[0]}" if missing else "")
        + f"; run clang or opt with {' '.join(words_to_ask(Path('BASE'), is_driver=False))}"
    )


def _answer_questions(
    pipes: Pipes, header: Header, decide: Callable[[NDArray[np.int64]], bool]
) -> None:
    """Answer all remaining questions of one compiler until it ends."""
    pending = pipes.unanswered
    while True:
        question = pending or pipes.receive()
        pending = None
        if isinstance(question, EndedConversation):
            return
        if isinstance(question, CompilerQuestion):
            features = np.concatenate([tensor.ravel() for tensor in question.tensors])
            pipes.answer(header.advice.pack(decide(features)))
