# SPDX-License-Identifier: MIT
"""Switch the cyclic garbage collector off while large values are built.

The collector runs after every so many allocations. While a graph of a hundred thousand
dictionaries is built, none of it is garbage, and collecting takes longer than building.
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
