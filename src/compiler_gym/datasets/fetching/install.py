# SPDX-License-Identifier: MIT
"""Locking and error messages for datasets that write to the disk."""

import errno
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from compiler_gym.errors import DatasetInitError
from compiler_gym.files import lock_path, make_folder


@contextmanager
def hold(path: Path) -> Generator[None]:
    """Lock `path` against other processes and threads; create its folder if necessary."""
    with ExitStack() as stack:
        with as_dataset_errors(f"cannot write to {path.parent}"):
            stack.enter_context(make_folder(path.parent))
            stack.enter_context(lock_path(path))
        yield


@contextmanager
def as_dataset_errors(what: str) -> Generator[None]:
    """Convert operating system errors to `DatasetInitError`, with advice."""
    try:
        yield
    except DatasetInitError:
        raise
    except OSError as error:
        if type(error).__module__.startswith("compiler_gym"):
            raise
        advice = _ADVICE.get(error.errno or 0, "")
        raise DatasetInitError(f"{what}: {error.strerror or error}{advice}") from error


_ELSEWHERE = "; set COMPILER_GYM_SITE_DATA to a writable directory"
_ADVICE = {
    errno.EACCES: _ELSEWHERE,
    errno.EPERM: _ELSEWHERE,
    errno.EROFS: _ELSEWHERE,
    errno.ENOSPC: f"; free some space, or{_ELSEWHERE[1:]}",
    errno.EDQUOT: f"; free some space, or{_ELSEWHERE[1:]}",
}
