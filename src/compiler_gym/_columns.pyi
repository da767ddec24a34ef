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
    Make the C library keep freed blocks of up to 31 MB, in the whole process: the next large list takes a fraction of the time. Programs may call this, libraries should not.
    """

def texts(data: bytes, ends: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> list[str]:
    """
    The UTF-8 texts in data that end before `ends` int32[n]; other bytes are escaped. Raises `IndexError` for ends that are not in the data, or not in order.
    """
