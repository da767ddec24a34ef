# SPDX-License-Identifier: MIT
"""What the wrappers that write to files have in common: the JSON form of what is seen."""

import copy
import json
from typing import Any, cast

import gymnasium
import numpy as np
from numpy.typing import NDArray

from compiler_gym.errors import RecordingError

__all__ = ["json_of", "require_json"]


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
