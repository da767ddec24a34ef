"""Python lists from columns of numbers."""

from typing import Annotated, Any

import numpy
from numpy.typing import NDArray


def taken(values: list[Any], places: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> list[Any]:
    """
    The values at the places int32[n], as a list. Raises `IndexError` for other places.
    """

def keep_large_blocks() -> None:
    """
    Have the C library keep blocks of up to 31 MB that are freed, in all of this process: the next large list takes a fraction of the time. For programs to ask for, not for libraries.
    """

def texts(data: bytes, ends: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> list[str]:
    """
    The texts that end before `ends` int32[n] in data in UTF-8; other bytes are escaped. Raises `IndexError` for ends that are not in the data, or not in order.
    """
