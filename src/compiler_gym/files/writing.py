# SPDX-License-Identifier: MIT
"""A typed error for paths that cannot be written."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from compiler_gym.errors import CompilerGymError

__all__ = ["writing"]


@contextmanager
def writing(path: str | Path, kind: type[CompilerGymError]) -> Generator[None]:
    """Raise an error of the class `kind` if the block cannot write to `path`.

    Errors of this library pass through.
    """
    try:
        yield
    except CompilerGymError:
        raise
    except OSError as error:
        reason = error.strerror or error
        raise kind(f"cannot write {path}: {reason}: choose another path") from error
