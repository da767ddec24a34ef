"""Python lists from columns of numbers."""

from typing import Annotated

import numpy
from numpy.typing import NDArray


def taken(values: list, places: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> list:
    """
    The values at the places int32[n], as a list. Raises `IndexError` for other places.
    """

def texts(data: bytes, ends: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> list:
    """
    The texts that end before `ends` int32[n] in data in UTF-8; other bytes are escaped. Raises `IndexError` for ends that are not in the data, or not in order.
    """
