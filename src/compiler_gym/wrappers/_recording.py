# SPDX-License-Identifier: MIT
"""What the wrappers that write to files have in common: JSON, and appends that leave no halves."""

import copy
import fcntl
import json
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import gymnasium
import numpy as np
from numpy.typing import NDArray

from compiler_gym.errors import RecordingError

__all__ = ["append", "json_of", "lock", "opened", "require_json"]


def json_of(value: Any) -> str:
    """Return `value` as JSON text, or raise `RecordingError` if a part of it has no such form."""
    try:
        return json.dumps(value, default=_plain)
    except (RecursionError, TypeError, ValueError) as error:
        raise RecordingError(f"cannot record what has no JSON form: {error}") from error


def require_json(space: gymnasium.Space[Any] | None) -> None:
    """Raise `RecordingError` if the values of `space` have no JSON form."""
    if space is not None:
        # A copy: the random numbers of the user's own space stay as they are.
        json_of(space.to_jsonable([copy.deepcopy(space).sample()]))


def opened(path: Path) -> int:
    """Open the file `path` to append to it, and make it and its folder where there is none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)


def lock(file: int, operation: int) -> None:
    """Lock `file` as `operation` of `fcntl.flock` says, if it is of a kind that has locks."""
    if not stat.S_ISREG(os.fstat(file).st_mode):
        return
    try:
        fcntl.flock(file, operation)
    except BlockingIOError:
        raise
    except OSError:
        pass  # a file system without locks


def append(file: int, data: bytes) -> None:
    """Write `data` at the end of `file`: all of it, or nothing where that can be undone."""
    end = os.fstat(file).st_size
    rest = memoryview(data)
    try:
        while rest:
            rest = rest[os.write(file, rest) :]
    except BaseException:
        with suppress(OSError):  # a pipe or a device
            os.ftruncate(file, end)
        raise


def _plain(value: Any) -> Any:
    """Return what JSON has no form for as lists and numbers."""
    if isinstance(value, (np.ndarray, np.generic)):
        return cast(NDArray[Any], value).tolist()
    if isinstance(value, bytes):
        return value.hex()
    raise RecordingError(
        f"a {type(value).__name__} has no JSON form: expected an observation of numbers, text, "
        "arrays, lists or dictionaries; choose another observation space"
    )
