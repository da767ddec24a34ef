# SPDX-License-Identifier: MIT
"""Switch the cyclic garbage collector off while large values are built.

The collector runs whenever a number of new objects are alive. While a graph of a hundred thousand
dictionaries is built none of it is garbage, and the collector takes longer than the building.
"""

import gc
from collections.abc import Generator
from contextlib import contextmanager

__all__ = ["pause_collection"]


@contextmanager
def pause_collection() -> Generator[None]:
    """Switch the collector off in the ``with`` block, and restore it afterwards."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
