# SPDX-License-Identifier: MIT
"""What a user is told of a place that cannot be written."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from compiler_gym.errors import CompilerGymError

__all__ = ["writing"]


@contextmanager
def writing(path: str | Path, kind: type[CompilerGymError]) -> Generator[None]:
    """Raise an error of the class `kind` where the system refuses what the block does at `path`.

    Errors of our own pass as they are.
    """
    try:
        yield
    except CompilerGymError:
        raise
    except OSError as error:
        why = error.strerror or error
        raise kind(f"cannot write {path}: {why}: name another place") from error
