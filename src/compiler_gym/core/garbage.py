# SPDX-License-Identifier: MIT
"""Building large values without the cyclic garbage collector looking on.

It looks at everything each time so many objects more are alive. While a graph of a
hundred thousand dictionaries is made nothing of it is garbage, and the looks take
longer than the making.
"""

import gc
from collections.abc import Generator
from contextlib import contextmanager

__all__ = ["uncollected"]


@contextmanager
def uncollected() -> Generator[None]:
    """Leave the collector off inside, and as it was found after."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
