# SPDX-License-Identifier: MIT
"""Run a command of a build so that a Ctrl-C is not for it, and nothing of it outlives us."""

import os
import signal
import subprocess
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

__all__ = ["in_own_session"]


@contextmanager
def in_own_session(words: Sequence[str], **options: Any) -> Generator[subprocess.Popen[Any]]:
    """Start `words` without input, in a session of its own; `options` are those of `Popen`.

    Where the block raises, the command and all that it started in its group are killed.
    """
    with subprocess.Popen(
        words, stdin=subprocess.DEVNULL, start_new_session=True, **options
    ) as command:
        try:
            yield command
        except BaseException:
            os.killpg(command.pid, signal.SIGKILL)
            raise
